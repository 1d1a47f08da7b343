"""How much settings explain: beside what noise alone would give."""

import numpy as np
import pytest

from ensemble.figures.comparison import importances
from ensemble.figures.comparison.importances import estimate_noise_shares
from ensemble.sweeps import SweepConfig, Trial

CONFIG = SweepConfig(space="learning_rate=0.01..0.5 momentum=0.5..0.9 weight_decay=0..0.01")


def trials(effect: float, seed: int = 0, count: int = 20) -> list[Trial]:
    """Of which the learning rate matters so much, beside noise."""
    draw = np.random.default_rng(seed)
    rows = draw.uniform([0.01, 0.5, 0.0], [0.5, 0.9, 0.01], (count, 3)).tolist()
    names = ("learning_rate", "momentum", "weight_decay")
    return [
        Trial(place, "complete", dict(zip(names, row, strict=True)), (effect * row[0] + float(draw.normal()),))
        for place, row in enumerate(rows)
    ]


def test_a_setting_that_matters_exceeds_what_noise_gives() -> None:
    noise = estimate_noise_shares(CONFIG, trials(effect=100.0), "nll")
    assert noise is not None
    assert noise.is_exceeded
    assert 1 / 3 < noise.low < noise.high < 1


@pytest.mark.long
def test_of_pure_noise_a_setting_is_seldom_said_to_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importances, "NOISE_FOREST_SIZE", 4)  # of few trees: quick, as honest
    found = [estimate_noise_shares(CONFIG, trials(0.0, seed, 12), "nll") for seed in range(12)]
    assert sum(noise is not None and noise.is_exceeded for noise in found) <= 3


def test_of_few_trials_or_equal_values_nothing_is_told() -> None:
    assert estimate_noise_shares(CONFIG, trials(1.0, count=9), "nll") is None
    equal = [Trial(one.number, "complete", one.params, (1.0,)) for one in trials(1.0)]
    assert estimate_noise_shares(CONFIG, equal, "nll") is None
