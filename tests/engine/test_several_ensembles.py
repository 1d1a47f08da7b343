"""Several ensembles in one program: each has the figures that it has alone."""

import numpy as np
import pytest

from ensemble.datasets import Dataset
from ensemble.engine import Trainer
from tests.conftest import variant
from tests.engine.conftest import devices, small_config

TRIALS = ({"learning_rate": 0.02, "momentum": 0.0}, {"learning_rate": 0.2, "momentum": 0.8})


def together(few: Dataset, form: str) -> Trainer:
    """Two ensembles of three members on one device."""
    config = small_config(network="logistic")
    values = {name: np.repeat([one[name] for one in TRIALS], 3) for name in TRIALS[0]}
    return Trainer(config, few, devices(1), form, numbers=[0, 1, 2] * 2, values=values, ensembles=2)


@pytest.mark.long
@pytest.mark.parametrize("form", ["scan", variant("stepwise")])
def test_each_ensembles_averages_are_those_of_its_own_members(few, form):
    trainer = together(few, form)
    state, figures = trainer.train(trainer.start(), 1, 0, 3)
    judged = trainer.evaluate(state)
    assert figures.ensemble_nll is None
    for trial, steps, found in zip(TRIALS, figures.by_ensemble, judged.by_ensemble, strict=True):
        alone = Trainer(small_config(network="logistic", **trial), few, devices(1), form)
        moved, wanted = alone.train(alone.start(), 1, 0, 3)
        right = alone.evaluate(moved)
        for name in ("loss", "accuracy", "ensemble_nll", "ensemble_accuracy"):
            for one, other in ((steps, wanted), (found, right)):
                np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-5)
        np.testing.assert_allclose(found.probabilities, right.probabilities, atol=1e-6)


@pytest.mark.parametrize("form", ["scan", variant("stepwise")])
def test_an_ensemble_that_is_set_aside_leaves_the_others_figures_as_they_are(few, form):
    whole, some = together(few, form), together(few, form)
    some.freeze_members([3, 4, 5])
    state, wanted = whole.train(whole.start(), 1, 0, 2)
    left, figures = some.train(some.start(), 1, 0, 2)
    judged, right = some.evaluate(left), whole.evaluate(state)
    for name in ("loss", "accuracy", "ensemble_nll", "ensemble_accuracy"):
        for one, other in ((figures, wanted), (judged, right)):
            np.testing.assert_array_equal(getattr(one.by_ensemble[0], name), getattr(other.by_ensemble[0], name))
            assert np.isnan(getattr(one.by_ensemble[1], name)).all()
