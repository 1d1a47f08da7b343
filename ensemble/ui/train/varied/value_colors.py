"""Learning curves of members that differ in a setting: each coloured by its value."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from ensemble.analysis.predictions import MAX_SHOWN_MEMBERS
from ensemble.figures import palette
from ensemble.wording import formats
from ensemble.wording.runs import member_settings

_OPACITY = 0.9
_LOSS_PANELS = ("loss", "diversity")  # pictures of them, by their names
_LOSS_LIMIT_FACTOR = 4  # times the first loss
_COLOR_BAR_SAMPLES = 16  # colours of the legend's bar
_MEMBERS_GROUP = "members"
_LINE_WIDTH = 1.6  # of a line whose colour says a value


def color_curves_by_value(
    chart: dict[str, Any], values_by_setting: Mapping[str, Sequence[float]], members: int
) -> dict[str, Any]:
    """A chart of `show_learning_curves` whose members are told apart by their values.

    Args:
      values_by_setting: the values (M,) of each setting that differs.
    """
    main = member_settings.select_main_setting(values_by_setting)
    if not main or not 2 <= members <= MAX_SHOWN_MEMBERS:
        return chart
    styles = {**chart["styles"], **_build_member_styles(values_by_setting, main, members)}
    most = _compute_loss_limit(chart["places"])
    places = [[_clip_loss_axis(_group_member_lines(panel), most) for panel in place] for place in chart["places"]]
    return {
        **chart,
        "styles": styles,
        "places": places,
        "legend": _build_value_legend(chart["legend"], values_by_setting[main], main),
    }


def _build_member_styles(
    values_by_setting: Mapping[str, Sequence[float]], main: str, members: int
) -> dict[str, dict[str, Any]]:
    """The look of each member: the colour of its value, which stands at its curve's end."""
    colours = palette.assign_ramp_colors(
        values_by_setting[main], member_settings.is_log_scaled(values_by_setting[main])
    )
    names, values = (
        member_settings.list_member_names(values_by_setting, members),
        member_settings.format_distinct_values(values_by_setting[main]),
    )
    few = members <= len(palette.MEMBER_HUES)
    return {
        f"member {m + 1}": {
            "color": colours[m],
            "width": _LINE_WIDTH,
            "opacity": _OPACITY,
            "label": names[m],
            "own": True,
            "end": values[m] if few else "members",
            **({"apart": f"member {m + 1}"} if few else {}),
        }
        for m in range(members)
    }


def _build_value_legend(entries: list[dict[str, Any]], values: Sequence[float], main: str) -> list[dict[str, Any]]:
    """The legend with one entry for all members: the bar of colours and what it spans."""
    log = ", log" if member_settings.is_log_scaled(values) else ""
    bar = {
        "group": _MEMBERS_GROUP,
        "color": palette.MUTED_COLOR,
        "width": _LINE_WIDTH,
        "label": f"{len(values)} members · {member_settings.SETTING_SHORT_NAMES[main]} "
        f"{member_settings.format_value_range(values)}{log}",
        "ramp": [
            palette.interpolate_ramp_color(place / (_COLOR_BAR_SAMPLES - 1)) for place in range(_COLOR_BAR_SAMPLES)
        ],
    }
    each = [place for place, entry in enumerate(entries) if entry["group"].startswith("member")]
    rest = [entry for place, entry in enumerate(entries) if place not in each]
    return [*rest[: each[0]], bar, *rest[each[0] :]]


def _compute_loss_limit(places: list[list[dict[str, Any]]]) -> float | None:
    """Where the axes of losses end at first: losses that run away would flatten all others.

    Some times the loss before anything is learnt, which is about ln C; None before it is known.
    """
    lines = [
        line
        for place in places
        for panel in place
        for line in panel["lines"]
        if panel["name"] == "loss" and line["also"]
    ]
    first = [next((y for y in line["y"] if y is not None), None) for line in lines]
    first_losses = [value for value in first if value is not None]
    return _LOSS_LIMIT_FACTOR * median(first_losses) if first_losses else None


def _clip_loss_axis(panel: dict[str, Any], most: float | None) -> dict[str, Any]:
    """A picture of losses whose axis ends at `most`, where any goes beyond."""
    if panel["name"] not in _LOSS_PANELS or most is None:
        return panel
    values = [y for line in panel["lines"] for y in line["y"] if y is not None]
    if not values or max(values) <= most or min(values) > most:
        return panel
    text = f"{panel['axis']}; cut off above {formats.format_significant(most, 2)}"
    return {**panel, "most": most, "axis": text}


def _group_member_lines(panel: dict[str, Any]) -> dict[str, Any]:
    """A picture whose members hide together: what tells them apart is the bar of colours."""
    lines = [{**line, "group": _MEMBERS_GROUP} if line["who"].startswith("member") else line for line in panel["lines"]]
    return {**panel, "lines": lines}
