"""A row for each run: which settings and figures there are, and of what kind."""

from ensemble.comparison.comparison_table import build_comparison_table
from ensemble.comparison.run_groups import group_runs
from ensemble.comparison.run_points import build_run_points
from tests.comparison.drawn import finished, imported


def axes(found):
    return {axis.name: axis for axis in found.axes}


def test_every_run_has_its_settings_and_the_figures_of_the_table():
    made = [finished({"learning_rate": rate}) for rate in (0.01, 0.1)]
    found = build_run_points(made)
    for row, run in zip(found.rows, made, strict=True):
        figures = build_comparison_table(group_runs([run])).columns[0].metrics
        assert row.run.id == run.id
        assert row.cells["learning_rate"] == run.config.learning_rate
        assert {name: row.cells[name] for name in figures} == {name: figure.value for name, figure in figures.items()}


def test_axes_know_numbers_from_categories_and_which_suit_powers_of_ten():
    found = axes(
        build_run_points(
            [
                finished({"learning_rate": 0.1, "members": 2, "schedule": "cosine", "flip": True}),
                finished({"learning_rate": 0.2, "members": 40, "batch_size": 500}),
            ]
        )
    )
    assert {name for name, axis in found.items() if axis.kind == "category" and axis.varies} == {"schedule", "flip"}
    assert found["learning_rate"].log
    assert found["members"].log
    assert not found["batch_size"].log
    assert not found["momentum"].varies
    assert (found["nll"].better, found["accuracy"].better, found["members"].better) == (-1, 1, 0)
    assert [axis.setting for axis in found.values()] == sorted((axis.setting for axis in found.values()), reverse=True)


def test_what_is_not_known_of_a_run_is_missing():
    made = [imported(), finished({"vary": "learning_rate=0.01..1:log"})]
    theirs, varied = (row.cells for row in build_run_points(made).rows)
    assert (theirs["momentum"], theirs["seconds"], theirs["members"]) == (None, None, 2)
    assert varied["learning_rate"] is None
    assert varied["vary"] == "learning_rate=0.01..1:log"
    assert axes(build_run_points(made))["vary"].kind == "category"
    assert "vary" not in axes(build_run_points([finished()]))


def test_no_runs_are_no_points():
    assert build_run_points([]).rows == ()
