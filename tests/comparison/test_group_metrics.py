"""Figures of groups where there is little to go by: members set aside, seconds that vary."""

from dataclasses import replace

import numpy as np
import pytest

from ensemble import runs
from ensemble.comparison.comparison_table import build_comparison_table
from ensemble.comparison.run_groups import group_runs
from ensemble.jobs.status import write_status
from ensemble.runs.history import write_predictions
from tests.comparison.drawn import finished, labels


def with_aside(members, aside):
    """A finished run some of whose members were set aside in its second epoch."""
    run = finished({"members": members})
    made = runs.read_run_predictions(run.id, 2).copy()
    made[list(aside)] = np.nan
    write_predictions(run.path, 2, made)
    lost = {"epochs": 2, "steps": 20, "set_aside": dict.fromkeys(aside, 15)}
    write_status(run.path, replace(run.status, **lost))
    return runs.find_run(run.id), made


def test_intervals_of_seconds_speed_and_ece_hold_nothing_below_0():
    made = [finished({"seed": seed}, draw=seed) for seed in (0, 1)]
    slow = replace(made[1].status, seconds=400.0, img_member_per_s=9000.0)
    write_status(made[1].path, slow)
    figures = build_comparison_table(group_runs([runs.find_run(run.id) for run in made])).columns[0].metrics
    assert (figures["seconds"].value, figures["seconds"].runs) == (210.0, 2)
    for name in ("seconds", "img_member_per_s", "ece"):
        assert 0 <= figures[name].low < figures[name].value < figures[name].high
    assert figures["ece"].high <= 1


def test_an_ensemble_without_a_member_that_was_set_aside_says_so():
    run, made = with_aside(3, (1,))
    found = build_comparison_table(group_runs([run, finished({"momentum": 0.3})]))
    assert found.warnings == (
        f"“{run.name}”: diverged (the loss is no longer a number): member 2 at step 15; the other 2 continued.",
    )
    (column,) = (one for one in found.columns if one.run_ids == (run.id,))
    rest = made[[0, 2]].astype(float).mean(axis=0)
    assert column.metrics["accuracy"].value == pytest.approx((rest.argmax(axis=1) == labels()).mean())


def test_one_member_left_is_no_ensemble_with_a_gain():
    run, _ = with_aside(2, (0,))
    figure = build_comparison_table(group_runs([run])).columns[0].metrics["gain"]
    assert (figure.value, figure.low, figure.high) == (None, None, None)


def test_the_gain_of_a_group_is_of_the_runs_with_several_members_left():
    first, _ = with_aside(2, (0,))
    second = finished({"seed": 1}, draw=3)
    (column,) = build_comparison_table(group_runs([first, second])).columns
    (alone,) = build_comparison_table(group_runs([second])).columns
    assert len(column.run_ids) == 2
    figure = column.metrics["gain"]
    assert (figure.value, figure.runs) == (alone.metrics["gain"].value, 1)
