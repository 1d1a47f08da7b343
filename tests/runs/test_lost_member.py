"""The second of four members diverges in the second epoch: what is said of the others stays theirs."""

from pathlib import Path

import jax
import numpy as np
import pytest

import ensemble
from ensemble import exchange, runs
from ensemble.errors import RunError
from ensemble.runs import Run
from ensemble.runs.history import write_predictions
from ensemble.runs.members import open_members, select_members
from ensemble.runs.parameters import read_parameters, write_parameters
from ensemble.views.evaluated_epoch import evaluate_epoch
from tests.exchange.capsule.pages import there_and_back
from tests.pages.ensembles import held_out, probabilities
from tests.pages.members import askable

REMAINING = [0, 2, 3]
SURE = [1.0, 2.0, 3.0, 4.0]  # so that no two members are as good


@pytest.fixture
def run() -> Run:
    made = askable(members=4, epochs=2, network="logistic", sure=2.0, validation=0.1, set_aside={1: 15})
    for epoch in (1, 2):
        for split, members in (
            ("predictions", probabilities("digits", 4, epoch, SURE)),
            ("validation", held_out(made, epoch, 2.0)[0]),
        ):
            if epoch == 2:
                members[1] = np.nan
            write_predictions(made.path, epoch, members, split)
    return runs.find_run(made.id)


def test_predictions_and_parameters_are_those_of_the_members_that_remain(run: Run) -> None:
    assert run.remaining_members(1) == (0, 1, 2, 3)
    assert list(run.remaining_members(2)) == REMAINING
    whole = probabilities("digits", 4, 2, SURE)
    np.testing.assert_array_equal(runs.read_run_predictions(run.id, 2), whole[REMAINING])
    np.testing.assert_array_equal(runs.read_validation_predictions(run.id, 2), held_out(run, 2, 2.0)[0][REMAINING])
    every = read_parameters(run.id, 1)
    write_parameters(run.path, 2, every, None)
    expected = jax.tree.map(lambda leaf: leaf[REMAINING], every)
    assert jax.tree.all(jax.tree.map(np.array_equal, read_parameters(run.id, 2), expected))
    chosen = select_members(run, open_members(run.id, 2), [2, 0])
    expected = jax.tree.map(lambda leaf: leaf[[2, 0]], every)
    assert jax.tree.all(jax.tree.map(np.array_equal, chosen.params, expected))
    with pytest.raises(RunError, match="Member 2 of the run"):
        select_members(run, open_members(run.id, 2), [0, 1])


def test_exports_name_the_members_that_remain_and_have_their_own_predictions(run: Run, tmp_path: Path) -> None:
    exchange.export_run(run.id, tmp_path / "all.npz", all_epochs=True)
    exchange.export_run(run.id, tmp_path / "first.npz", epoch=1)
    names = ("member 1", "member 3", "member 4")
    outputs = exchange.read_prediction_files([tmp_path / "all.npz"])
    assert outputs.member_names == names
    for place, epoch in enumerate((1, 2)):
        expected = probabilities("digits", 4, epoch, SURE)[REMAINING]
        np.testing.assert_allclose(outputs.probabilities[place], expected, atol=1e-6)
    assert exchange.read_prediction_files([tmp_path / "first.npz"]).members == 4
    assert tuple(ensemble.open_run(run.id).predictions().member_names) == names
    again = there_and_back(tmp_path, run, with_members=True)
    assert list(again.remaining_members(2)) == REMAINING
    np.testing.assert_array_equal(runs.read_run_predictions(again.id, 2), runs.read_run_predictions(run.id, 2))
    for own, other in zip(*(jax.tree.leaves(read_parameters(each.id, 2)) for each in (run, again)), strict=True):
        np.testing.assert_array_equal(own, other)


def test_the_map_of_members_has_each_where_it_was_in_both_epochs(run: Run) -> None:
    found = evaluate_epoch(run, 2).locate_members()
    labels = runs.load_test_set(run).labels
    for place, epoch in enumerate(found.epochs):
        votes = probabilities("digits", 4, epoch, SURE)[REMAINING].argmax(axis=-1)
        np.testing.assert_allclose(found.accuracy[place], (votes == labels).mean(axis=1))
