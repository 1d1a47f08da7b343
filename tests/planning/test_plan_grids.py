"""The map of a run: what its own files say, read once, with what is missing said."""

import os
from itertools import combinations

import numpy as np
import pytest

from ensemble import datasets, runs
from ensemble.analysis.planning.plan_grid import EnsemblePlan
from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.errors import RunError
from ensemble.planning import plan_grids as planning
from ensemble.planning.plan_cautions import list_plan_cautions
from ensemble.planning.plan_grids import load_plan_grids, select_grid_epochs
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.runs.history import write_predictions
from ensemble.storage.folders import data_folder
from tests.pages.ensembles import held_out, probabilities, trained


def test_a_runs_map_is_what_its_predictions_say_of_all_committees() -> None:
    run = trained(members=3, epochs=2, sure=1.0)
    found = load_plan_grids(run)
    assert (found.validation, found.kept_epochs, found.left_out) == (None, 2, ())
    assert found.selection_split == "test"
    labels = datasets.load_dataset("digits").test_labels
    for epoch in (1, 2):
        made = runs.read_run_predictions(run.id, epoch)
        for size in (1, 2, 3):
            right = [
                average_probabilities(made[list(who)]).argmax(axis=1) == labels for who in combinations(range(3), size)
            ]
            assert found.test.mean(EnsemblePlan(size, epoch), "accuracy") == pytest.approx(np.mean(right))


def test_where_images_are_held_out_plans_are_chosen_on_them() -> None:
    run = trained(members=2, epochs=2, validation=0.2)
    found = load_plan_grids(run)
    assert found.validation
    assert found.selection_split == "validation"
    said, labels = held_out(run, 2, 3.0)
    assert found.validation.mean(EnsemblePlan(2, 2), "accuracy") == pytest.approx(
        (average_probabilities(said).argmax(axis=1) == labels).mean()
    )
    assert list(found.validation.epochs) == list(found.test.epochs) == [1, 2]


def test_what_was_reckoned_is_read_from_the_disk_until_the_file_changes() -> None:
    run = trained(members=2, epochs=1)
    first = load_plan_grids(run).test.mean(EnsemblePlan(2, 1), "nll")
    files = set((data_folder() / "kept").glob("plan-*.npz"))
    assert files
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "score_committees", None)  # who reckoned again would fail
        assert load_plan_grids(run).test.mean(EnsemblePlan(2, 1), "nll") == first
    write_predictions(run.path, 1, probabilities("digits", 2, 9, 1.0))
    os.utime(locate_epoch_file(run.path, "predictions", 1), ns=(0, 0))
    assert load_plan_grids(run).test.mean(EnsemblePlan(2, 1), "nll") > first


def test_an_epoch_that_cannot_be_read_is_left_out_and_named() -> None:
    run = trained(members=2, epochs=3, validation=0.2)
    locate_epoch_file(run.path, "predictions", 2).write_bytes(b"no archive")
    locate_epoch_file(run.path, "validation", 3).unlink()
    found = load_plan_grids(run)
    assert list(found.test.epochs) == [1]
    damaged, gone = found.left_out
    assert damaged.startswith("The predictions of epoch 2 of ")
    assert "has no validation predictions of epoch 3" in gone


def test_without_any_predictions_it_says_what_to_wait_for() -> None:
    run = trained(members=2, epochs=1, done=0)
    with pytest.raises(RunError, match="wait for the end of its first epoch"):
        load_plan_grids(run)
    run = trained(members=2, epochs=1)
    locate_epoch_file(run.path, "predictions", 1).write_bytes(b"no archive")
    with pytest.raises(RunError, match="damaged"):
        load_plan_grids(run)


def test_of_many_epochs_evenly_spread_ones_are_looked_at() -> None:
    assert select_grid_epochs([1, 2, 3], 10) == (1, 2, 3)
    many = select_grid_epochs(range(1, 1001), 80_000)
    assert len(many) == planning.MOST_EPOCHS
    assert (many[0], many[-1]) == (1, 1000)
    assert len(select_grid_epochs(range(1, 1001), 4_000_000)) == 2


def test_members_set_aside_are_in_no_plan_of_any_epoch_and_it_is_said() -> None:
    run = trained(members=3, epochs=2, validation=0.2, set_aside={1: 15})
    made = runs.read_run_predictions(run.id, 2)
    assert len(made) == 2
    whole = np.insert(made, 1, np.nan, axis=0)
    write_predictions(run.path, 2, whole)
    found = load_plan_grids(run)
    assert (found.test.members, found.test.plans[-1]) == (2, EnsemblePlan(2, 2))
    labels = datasets.load_dataset("digits").test_labels
    others = average_probabilities(runs.read_run_predictions(run.id, 1)[[0, 2]])
    assert found.test.mean(EnsemblePlan(2, 1), "accuracy") == pytest.approx((others.argmax(axis=1) == labels).mean())
    assert list_plan_cautions(run, found, EnsemblePlan(1, 1)) == ("set aside",)


def test_one_member_left_of_two_says_as_little_of_members_as_one_alone() -> None:
    run = trained(members=2, epochs=2, set_aside={1: 15})
    found = load_plan_grids(run)
    assert found.test.plans == [EnsemblePlan(1, 1), EnsemblePlan(1, 2)]
    assert list_plan_cautions(run, found, EnsemblePlan(1, 1)) == ("set aside", "one member")
