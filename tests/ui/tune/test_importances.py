"""The sentence on which setting matters: no more than noise leaves."""

import pytest

from ensemble import sweeps
from ensemble.figures.comparison.importances import NoiseShares
from ensemble.sweeps import Sweep, Trial
from ensemble.ui.tune import loader, sweep_views
from ensemble.ui.tune.sweep_views import describe_importances
from tests.sweeps.light import light_config


def test_the_sentence_claims_no_more_than_noise_leaves() -> None:
    shares = {"learning_rate": 0.63, "momentum": 0.37}
    made = [
        *(Trial(place, "complete", {}, (1.0,)) for place in range(12)),
        Trial(12, "pruned", {}),
        Trial(13, "pruned", {}),
    ]
    shown = describe_importances(shares, NoiseShares(0.41, 0.6, True), made)
    assert shown.replace("\N{NO-BREAK SPACE}", " ") == (
        "**Learning rate** explains 63 % of what 12 trials differ in; noise alone would give "
        "the first of 2 settings 41 % to 60 %. 2 pruned trials are left out."
    )
    hidden = describe_importances(shares, NoiseShares(0.5, 0.78, False), made[:12])
    assert hidden.startswith("No setting is shown to matter: learning rate explains 63")
    assert "pruned" not in hidden
    assert "noise" not in describe_importances(shares, None, made)


@pytest.mark.parametrize(("complete", "weighed"), [(10, 10), (20, 20), (25, 24), (39, 39), (59, 55)])
def test_setting_importances_are_computed_again_after_each_tenth_of_the_trials(
    complete: int, weighed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def load_nothing(sweep: Sweep, trials: list[Trial], goal: str) -> dict[str, float]:
        seen.append(len(trials))
        return {}

    monkeypatch.setattr(loader, "load_setting_importances", load_nothing)
    sweep = sweeps.create_sweep(light_config())
    assert sweep.active
    trials = [Trial(number, "complete", {}, (1.0,)) for number in range(complete)]
    sweep_views._show_setting_importances(sweep, trials, "nll")
    assert seen == [weighed]
