"""The sentence on how the trials of a sweep stand."""

import pytest

from ensemble import sweeps
from ensemble.sweeps import Trial
from ensemble.ui.tune import answer
from tests.sweeps.light import light_config

STATES = ("complete", "complete", "running", "pruned", "failed")


@pytest.mark.parametrize(
    ("trials", "expected"),
    [
        ([], "Of 8 trials: 8 to come."),
        (
            [
                *(Trial(number, state, {}, run_id="run") for number, state in enumerate(STATES)),
                Trial(5, "waiting", {}, run_id="run"),
                Trial(6, "waiting", {}),
            ],
            "Of 8 trials: 2 complete, 1 running, 1 pruned (ended early), 1 failed, "
            "1 interrupted, will resume, 2 to come.",
        ),
        ([Trial(number, "complete", {}, run_id="run") for number in range(8)], "All 8 trials are complete."),
    ],
)
def test_trials_are_counted_by_state_and_those_that_were_cut_off_apart_from_those_to_come(
    trials: list[Trial], expected: str
) -> None:
    sweep = sweeps.create_sweep(light_config(trials=8))
    found = answer._describe_trial_counts(sweep, trials)
    assert found.replace("\N{NO-BREAK SPACE}", " ") == expected
