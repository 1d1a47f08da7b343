"""The answer of Tune: how the trials of a sweep stand, and the verdict on their settings."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import sweeps
from ensemble.cli.sweep import summarize_sweep
from ensemble.comparison.trial_verdict import judge_trials
from ensemble.sweeps import Sweep, Trial
from ensemble.sweeps.best_trials import judge_best_trial
from ensemble.ui.tune import answer
from ensemble.wording.verdicts.settings_verdict import describe_settings_verdict, list_settings_evidence
from tests.sweeps.drawn_trials import repeated, trial
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


def show_answer(sweep: "Sweep", trials: "Sequence[Trial]") -> None:
    from ensemble.ui.tune.answer import show_sweep_answer

    show_sweep_answer(sweep, trials)


@pytest.mark.parametrize("repeats", [1, 2])
def test_tune_and_the_command_show_the_verdict_on_the_validation_images(repeats: int) -> None:
    skills = (2.0, 2.02, 0.5)
    every = [repeated(n, skill, skill) if repeats > 1 else trial(n, skill) for n, skill in enumerate(skills)]
    trials = [replace(one, params={"learning_rate": rate}) for one, rate in zip(every, (0.03, 0.1, 0.3), strict=True)]
    sweep = sweeps.create_sweep(light_config(repeats=repeats))
    sweep = replace(sweep, status=replace(sweep.status, state="finished"))
    evidence = judge_best_trial(sweep, trials)
    assert evidence is not None
    verdict = judge_trials(evidence, "nll")
    assert (verdict.split, verdict.is_about_settings) == ("validation", repeats > 1)
    answer = describe_settings_verdict(verdict)
    at = AppTest.from_function(show_answer, kwargs={"sweep": sweep, "trials": trials}).run()
    assert not at.exception
    said = [one.value.replace("\\", "") for one in at.markdown]
    assert said[0] == f"#### {answer}"
    for sentence in list_settings_evidence(verdict, "digit"):
        assert sentence in said[1]
    sent = summarize_sweep(sweep, trials, evidence)["verdict"]
    assert (sent["answer"], sent["best"]) == (answer, str(evidence.best.number))
    assert sorted(sent["remaining"]) == sorted(str(one.number) for one in (evidence.best, *evidence.equivalent))
