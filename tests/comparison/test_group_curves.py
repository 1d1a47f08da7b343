"""Curves of groups of runs, against what the runs wrote."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ensemble import runs
from ensemble.comparison.group_curves import compute_group_curves
from ensemble.comparison.run_groups import group_runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.status import write_status
from ensemble.storage.records.json_lines import append_line
from tests.comparison.drawn import finished, imported

M = 2


def of_losses(seed, losses, seconds=1.0, **settings):
    """A run with these test losses of its ensemble; its members' are 1 and 3 above."""
    asked = {"members": M, "epochs": 9, "batch_size": 100, "seed": seed, **settings}
    run = runs.create_run(EnsembleConfig(**asked))
    for epoch, loss in enumerate(losses, 1):
        append_line(run.path / "history.jsonl", closed(epoch, loss, seconds))
    write_status(run.path, replace(run.status, state="stopped", epoch=len(losses)))
    return runs.find_run(run.id)


def closed(epoch, loss, seconds=1.0):
    each = [None] * M if loss is None else [loss + 1, loss + 3]
    return {
        "kind": "epoch",
        "epoch": epoch,
        "step": 12 * epoch,
        "progress": float(epoch),
        "seconds": seconds * epoch,
        "train_loss": each,
        "test_loss": each,
        "test_accuracy": [0.5] * M,
        "ensemble_test_nll": loss,
    }


def of(*made, **asked):
    (found,) = compute_group_curves(group_runs(made), **asked)
    return found


def test_the_mean_is_of_the_runs_and_the_band_what_it_is_said_to_be():
    losses = [[4.0, 2.0], [6.0, 3.0], [8.0, 7.0]]
    made = [of_losses(seed, each) for seed, each in enumerate(losses)]
    found = of(*made, band="interval")
    assert found.x.tolist() == [1, 2]
    assert found.mean.tolist() == [6, 4]
    ends = stats.ttest_1samp(losses, 0).confidence_interval(0.95)
    np.testing.assert_allclose([found.low, found.high], [ends.low, ends.high])
    least = of(*made, band="range")
    assert (least.low.tolist(), least.high.tolist()) == ([4, 2], [8, 7])
    assert [line.y.tolist() for line in least.lines] == losses


def test_where_a_run_has_ended_the_mean_says_of_how_many_it_is():
    found = of(of_losses(0, [1.0, 1.0, 1.0]), of_losses(1, [3.0]), band="interval")
    assert found.n.tolist() == [2, 1, 1]
    assert found.mean.tolist() == [2, 1, 1]
    assert np.isfinite(found.low).tolist() == [True, False, False]
    assert found.runs == 2


def test_runs_with_points_at_other_seconds_are_met_on_the_straight_line_between_their_own():
    found = of(of_losses(0, [4.0, 0.0]), of_losses(1, [8.0, 6.0], seconds=1.5), x="seconds")
    assert found.x.tolist() == [1, 1.5, 2, 3]
    assert found.n.tolist() == [1, 2, 2, 1]
    np.testing.assert_allclose(found.mean, [4, (2 + 8) / 2, (0 + 8 - 2 / 3) / 2, 6])


@pytest.mark.parametrize(
    ("x", "places"), [("epochs", [1, 2]), ("steps", [12, 24]), ("seconds", [1, 2]), ("img_member", [2400, 4800])]
)
def test_the_axis_counts_what_it_says(x, places):
    assert of(of_losses(0, [4.0, 2.0]), x=x).x.tolist() == places


@pytest.mark.parametrize(("who", "mean", "lines"), [("ensemble", 4, 1), ("mean member", 6, 1), ("members", 6, M)])
def test_the_ensemble_its_mean_member_and_its_members_are_three_things(who, mean, lines):
    found = of(of_losses(0, [4.0]), who=who)
    assert found.mean.tolist() == [mean]
    assert len(found.lines) == lines


def test_the_band_of_members_is_from_the_least_to_the_most_of_all_members():
    found = of(of_losses(0, [4.0]), of_losses(1, [8.0]), who="members")
    assert (found.low.tolist(), found.high.tolist()) == ([5], [11])
    assert {line.who for line in found.lines} == {"member 1", "member 2"}


def test_a_seed_that_was_run_twice_is_drawn_twice_and_counted_once():
    found = of(of_losses(0, [4.0, 4.0]), of_losses(0, [4.0]), of_losses(1, [6.0, 6.0]))
    assert len(found.lines) == 3
    assert found.runs == 2
    assert found.mean.tolist() == [5, 5]


def test_a_loss_that_is_no_number_any_more_ends_a_line_and_no_other():
    found = of(of_losses(0, [2.0, None, None]), of_losses(1, [4.0, 4.0, 4.0]))
    assert found.n.tolist() == [2, 1, 1]
    assert found.mean.tolist() == [3, 4, 4]


def test_a_member_that_was_set_aside_leaves_the_mean_to_the_others():
    run = of_losses(0, [])
    lines = [closed(1, 2.0), {**closed(2, 2.0), "test_loss": [None, 7.0]}]
    for line in lines:
        append_line(run.path / "history.jsonl", line)
    for who in ("mean member", "members"):
        assert of(run, who=who).mean.tolist() == [4, 7]


def test_one_member_alone_is_its_own_ensemble():
    run = finished({"members": 1})
    one, other = (of(run, who=who, figure="accuracy") for who in ("ensemble", "mean member"))
    np.testing.assert_array_equal(one.mean, other.mean)


def test_training_curves_are_those_of_the_steps_and_of_members_with_own_views_no_ensemble():
    shared, own = finished(), finished({"shuffle_per_member": True})
    assert of(shared, split="train").runs == 1
    found = of(own, split="train")
    assert (found.runs, found.missing, len(found.x)) == (0, (own.name,), 0)
    assert of(own, split="train", who="mean member").runs == 1


def test_what_was_imported_has_epochs_and_neither_steps_nor_seconds():
    run = imported()
    assert of(run).x.tolist() == [1]
    for x in ("steps", "seconds", "img_member"):
        assert of(run, x=x).missing == (run.name,)


def test_long_histories_are_thinned_to_some_hundred_places():
    found = of(of_losses(0, np.linspace(2, 1, 3000).tolist()))
    assert len(found.x) == 400
    assert (found.x[0], found.x[-1]) == (1, 3000)
    np.testing.assert_allclose(found.mean, np.interp(found.x, [1, 3000], [2, 1]))


def test_a_history_that_grows_is_read_anew():
    run = of_losses(0, [4.0])
    assert len(of(run).x) == 1
    append_line(run.path / "history.jsonl", closed(2, 4.0))
    assert len(of(run).x) == 2


def test_a_history_that_cannot_be_read_costs_its_own_line_alone():
    torn, whole = of_losses(0, [4.0]), of_losses(1, [2.0])
    (torn.path / "history.jsonl").unlink()
    (torn.path / "history.jsonl").mkdir()
    found = of(torn, whole)
    assert (found.missing, found.mean.tolist()) == ((torn.name,), [2])


def test_a_choice_that_there_is_none_of_is_refused():
    with pytest.raises(ValueError, match="'hours' is none of epochs, steps, seconds, img_member"):
        compute_group_curves([], x="hours")
