"""The sentence on which setting matters: no more than noise leaves."""

from ensemble.figures.comparison.importances import NoiseShares
from ensemble.sweeps import Trial
from ensemble.ui.tune.sweep_views import describe_importances


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
