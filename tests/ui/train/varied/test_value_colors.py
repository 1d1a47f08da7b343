"""Members that differ in a setting: each curve has the colour of its value."""

from typing import Any

import pytest

from ensemble.config import EnsembleConfig
from ensemble.figures import palette
from ensemble.ui.train import curve_panels, learning_curves
from ensemble.ui.train.varied import value_colors
from ensemble.wording.runs import member_settings
from tests.ui.train.test_history import epoch, steps
from tests.ui.train.test_learning_curves import many


def chart(members: int, vary: str, rows: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    rows = rows or many(members)
    made = {
        "styles": {
            name: learning_curves.build_curve_style(name, members) for name in learning_curves.list_curve_names(members)
        },
        "legend": learning_curves.build_curve_legend(members),
        "places": curve_panels.build_curve_panels(rows, members=members, n_test=500, log=True, smoothing=0),
    }
    config = EnsembleConfig(members=members, vary=vary)
    return value_colors.color_curves_by_value(made, member_settings.collect_varied_settings(config), members)


@pytest.mark.parametrize("members", [3, 9])
def test_members_are_coloured_from_the_least_value_to_the_largest(members: int) -> None:
    made = chart(members, "learning_rate=0.01..1:log")
    hues = [made["styles"][f"member {m + 1}"]["color"] for m in range(members)]
    assert hues[0] == palette.RAMP_COLORS[0]
    assert hues[members // 2] == palette.RAMP_COLORS[2]  # on a log axis 0.1 is half-way
    assert hues[-1] == palette.RAMP_COLORS[-1]
    assert made["styles"]["ensemble"]["color"] is None


def test_a_members_name_has_its_value() -> None:
    styles = chart(3, "learning_rate=0.01..1:log momentum=0.8,0.9")["styles"]
    assert styles["member 2"]["label"] == "member 2 · rate 0.1 · momentum 0.8"
    assert [styles[f"member {m}"]["end"] for m in (1, 2, 3)] == ["0.01", "0.1", "1"]
    assert {
        styles[f"member {m}"]["end"] for m in range(1, 10) for styles in [chart(9, "momentum=0.5..0.9")["styles"]]
    } == {"members"}


@pytest.mark.parametrize("members", [3, 9])
def test_the_legend_has_one_bar_for_all_members_which_hide_together(members: int) -> None:
    made = chart(members, "learning_rate=0.01..1:log")
    labels = [entry["label"] for entry in made["legend"]]
    assert labels[:3] == ["ensemble", "mean member", f"{members} members · rate 0.01 to 1, log"]
    assert labels[3:] == ["test", "train", "members' train"]
    assert made["legend"][2]["ramp"][0] == palette.RAMP_COLORS[0]
    lines = [line for place in made["places"] for panel in place for line in panel["lines"]]
    assert {line["group"] for line in lines if line["who"].startswith("member")} == {"members"}


@pytest.mark.parametrize("vary", ["", "learning_rate=0.1"])
def test_members_that_are_alike_keep_their_colours(vary: str) -> None:
    styles = chart(3, vary)["styles"]
    assert [styles[f"member {m + 1}"]["color"] for m in range(3)] == list(palette.MEMBER_HUES[:3])


def test_a_loss_that_runs_away_does_not_flatten_the_others() -> None:
    rows = [steps(0.5, 2.3, 2.3, 2.4), epoch(1.0, [0.9, 0.8, 0.1], 0.9)]
    rows[1]["test_loss"] = [0.3, 0.5, 1e20]
    made = chart(3, "learning_rate=0.01..1:log", rows)
    (loss,), (accuracy,), _ = made["places"]
    assert loss["most"] == pytest.approx(4 * 2.3)
    assert loss["axis"].endswith("cut off above 9.2")
    assert "most" not in accuracy
    rows[1]["test_loss"] = [0.3, 0.5, 2.3]
    (loss,), *_ = chart(3, "learning_rate=0.01..1:log", rows)["places"]
    assert "most" not in loss
