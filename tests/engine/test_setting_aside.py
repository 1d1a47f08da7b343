"""Members that are set aside: the others go on to the same bits, and the ensemble is theirs."""

import jax
import numpy as np
import pytest

from ensemble.datasets import Dataset
from ensemble.engine import Trainer
from tests.engine.conftest import devices, small_config

# One after the other, shared by two devices; side by side; and a step a call.
FORMS = ["scan", "grouped", "stepwise"]


def trainer(few: Dataset, form: str) -> Trainer:
    return Trainer(small_config(network="logistic"), few, devices(2), execution=form)


def with_a_lost_one(made: Trainer, which: int) -> object:
    """Two steps done, then one member's parameters are no numbers any more."""
    state, _ = made.train(made.start(), 1, 0, 2)
    host = jax.tree.map(np.array, made.get(state))
    for leaf in jax.tree.leaves(host):
        leaf[which] = np.nan
    return made.put(host)


@pytest.mark.long_cases
@pytest.mark.parametrize("form", FORMS)
def test_a_member_set_aside_stays_as_it_is_and_the_others_go_on_to_the_same_bits(few, form):
    whole = trainer(few, form)
    wanted, figures = whole.train(whole.train(whole.start(), 1, 0, 2)[0], 1, 2, 4)
    some = trainer(few, form)
    before = some.get(state := some.train(some.start(), 1, 0, 2)[0])
    some.freeze_members([1])
    state, seen = some.train(state, 1, 2, 4)
    assert np.isnan(seen.loss[1]).all()
    assert np.isnan(seen.accuracy[1]).all()
    np.testing.assert_array_equal(seen.loss[[0, 2]], figures.loss[[0, 2]])
    after, rest = some.get(state), whole.get(wanted)
    for one, old, other in zip(*map(jax.tree.leaves, (after, before, rest)), strict=True):
        np.testing.assert_array_equal(one[1], old[1])
        np.testing.assert_array_equal(one[[0, 2]], other[[0, 2]])
    judged, all_ = some.evaluate(state), whole.evaluate(wanted)
    np.testing.assert_array_equal(judged.probabilities[[0, 2]], all_.probabilities[[0, 2]])
    np.testing.assert_array_equal(judged.loss[[0, 2]], all_.loss[[0, 2]])
    assert np.isnan([*judged.probabilities[1].ravel(), judged.loss[1], judged.accuracy[1]]).all()


@pytest.mark.parametrize("form", FORMS)
def test_the_ensemble_is_that_of_the_others_though_the_lost_one_holds_no_numbers(few, form):
    some = trainer(few, form)
    state = with_a_lost_one(some, 1)
    some.freeze_members([1])
    state, figures = some.train(state, 1, 2, 3)
    # The other two, trained by themselves.
    two = Trainer(some.config, few, devices(2), execution=form, numbers=[0, 2])
    _, wanted = two.train(two.train(two.start(), 1, 0, 2)[0], 1, 2, 3)
    np.testing.assert_allclose(figures.ensemble_nll, wanted.ensemble_nll, rtol=1e-5)
    np.testing.assert_allclose(figures.ensemble_accuracy, wanted.ensemble_accuracy, rtol=1e-6)
    judged = some.evaluate(state)
    mean = judged.probabilities[[0, 2]].mean(0, dtype=np.float64)
    nll = -np.log(mean[np.arange(70), few.test_labels]).mean()
    assert judged.ensemble_nll == pytest.approx(nll, rel=1e-5)
    assert judged.ensemble_accuracy == (mean.argmax(-1) == few.test_labels).mean()


def test_where_all_are_set_aside_there_is_no_figure(few):
    none = trainer(few, "scan")
    state = none.start()
    none.freeze_members([0, 2])
    none.freeze_members([1])  # One call after the other: all are.
    assert none.active.tolist() == [False] * 3
    state, figures = none.train(state, 1, 0, 2)
    judged = none.evaluate(state)
    for found in (figures.loss, figures.ensemble_nll, judged.loss, judged.ensemble_nll):
        assert np.isnan(found).all()
