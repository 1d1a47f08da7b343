import json
import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble.figures import palette
from ensemble.ui.train import curve_panels, learning_curves
from tests.ui.train.test_history import ROWS, epoch, steps


def many(members: int) -> list[dict[str, Any]]:
    return [steps(0.5, *[1.0] * members, whole=0.9), epoch(1.0, [0.9] * members, 0.95)]


def test_a_panel_can_be_sent_as_json_and_marks_gaps() -> None:
    panel = curve_panels.build_metric_panel(ROWS, "loss", 500, False, 0.0)
    sent = json.dumps(panel, allow_nan=False)
    assert [y for line in json.loads(sent)["lines"] if line["who"] == "member 2" for y in line["y"] if y is None] == [
        None
    ]


def test_smoothing_leaves_test_curves_as_measured() -> None:
    rows = [steps(0.5, 4.0), steps(1.0, 2.0), epoch(1.0, [0.8], 0.8), epoch(2.0, [0.9], 0.9)]
    made = curve_panels.build_metric_panel(rows, "loss", 500, False, 0.5)["lines"]
    train = next(line for line in made if line["split"] == "train")
    assert train["y"] == [4.0, pytest.approx((2 + 0.5 * 4) / 1.5, rel=1e-4)]
    smoothed = curve_panels.build_metric_panel(rows, "accuracy", 500, False, 0.9)["lines"]
    assert next(line["y"] for line in smoothed if line["split"] == "test") == [0.8, 0.9]


@pytest.mark.parametrize(("members", "groups"), [(2, 2), (7, 7), (8, 1), (32, 1)])
def test_many_members_hide_together_and_share_one_hue(members: int, groups: int) -> None:
    panel = curve_panels.build_metric_panel(many(members), "loss", 500, False, 0.0)
    grouped = {line["group"] for line in panel["lines"] if line["who"].startswith("member")}
    assert len(grouped) == groups
    assert grouped < {entry["group"] for entry in learning_curves.build_curve_legend(members)}
    hues = {learning_curves.build_curve_style(f"member {m + 1}", members)["color"] for m in range(members)}
    assert len(hues) == groups


def test_the_ensemble_is_drawn_last_and_in_the_text_colour() -> None:
    assert learning_curves.list_curve_names(3)[-1] == "ensemble"
    assert learning_curves.build_curve_style("ensemble", 3)["color"] is None
    assert learning_curves.build_curve_style("ensemble", 3)["width"] == palette.ENSEMBLE_WIDTH


def test_every_line_has_a_style_and_stands_in_the_legend() -> None:
    drawn = curve_panels.build_metric_panel(many(4), "loss", 500, False, 0.0)["lines"]
    assert {line["who"] for line in drawn} <= set(learning_curves.list_curve_names(4))
    assert [entry["label"] for entry in learning_curves.build_curve_legend(4)] == [
        "ensemble",
        "mean member",
        "member 1",
        "member 2",
        "member 3",
        "member 4",
        "test",
        "train",
        "members' train",
    ]
    assert [entry["label"] for entry in learning_curves.build_curve_legend(1)] == ["member 1", "test", "train"]


@pytest.mark.parametrize("members", [2, 7, 12])
def test_no_two_entries_of_the_legend_look_alike(members: int) -> None:
    looks = [
        (entry["color"], entry["width"], entry.get("dashes", ""))
        for entry in learning_curves.build_curve_legend(members, validation=True)
        if entry["group"] != "training"  # of the training curves a part
    ]
    assert len(set(looks)) == len(looks)


@pytest.mark.parametrize(("done", "epochs", "end"), [(0.1, 10, 10), (3, 1000, 20), (21, 1000, 40), (900, 1000, 1000)])
def test_the_epoch_axis_moves_seldom_and_ends_with_the_run(done: float, epochs: int, end: float) -> None:
    assert learning_curves.compute_epoch_axis_end([steps(done, 1.0)], epochs) == end


def test_a_large_ensemble_and_a_long_run_stay_small() -> None:
    rows = [steps(i / 100, *[1.0] * 32, whole=1.0) for i in range(1, 3000)]
    sent = json.dumps(curve_panels.build_metric_panel(rows, "loss", 500, False, 0.0))
    assert len(sent) < 400_000


def test_hues_are_those_of_the_theme() -> None:
    config = (Path(__file__).parents[3] / ".streamlit" / "config.toml").read_text("utf-8")
    listed = re.search(r"chartCategoricalColors = \[(.*)\]", config)
    assert listed
    assert re.findall(r"#\w+", listed[1]) == list(palette.MEMBER_HUES)


def draw() -> None:
    from ensemble.ui.train.learning_curves import show_learning_curves
    from tests.ui.train.test_history import ROWS

    show_learning_curves("digits-1", ROWS, caption="Digits", epochs=10, members=2, n_test=500)


def test_the_component_mounts() -> None:
    at = AppTest.from_function(draw, default_timeout=240).run()
    assert not at.exception
    assert at.get("bidi_component")


@pytest.mark.parametrize(("members", "who"), [(1, "member 1"), (3, "ensemble")])
def test_images_held_out_have_one_curve_that_looks_like_no_other(members: int, who: str) -> None:
    held = {
        "validation_loss": [0.3] * members,
        "validation_accuracy": [0.9] * members,
        "ensemble_validation_nll": 0.25,
        "ensemble_validation_accuracy": 0.93,
    }
    rows = [many(members)[0], many(members)[1] | held]
    for figure, value in (("loss", 0.25), ("accuracy", 0.93)):
        panel = curve_panels.build_metric_panel(rows, figure, 500, False, 0.5)
        (line,) = [one for one in panel["lines"] if one["split"] == "validation"]
        alone = held[f"validation_{figure}"][0]
        assert (line["who"], line["y"]) == (who, [value if members > 1 else alone])
        assert "validation images dash-dotted" in panel["alt"]
        assert "validation" not in curve_panels.build_metric_panel(many(members), figure, 500, False, 0.5)["alt"]
    looks = {entry["group"]: entry.get("dashes") for entry in learning_curves.build_curve_legend(members, True)}
    assert list(looks.values()).count(looks["validation"]) == 1
    assert "validation" not in {entry["group"] for entry in learning_curves.build_curve_legend(members)}
