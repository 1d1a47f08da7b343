"""Learning curves of members that differ in a setting: each coloured by its value."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from ensemble.figures import palette
from ensemble.wording import formats
from ensemble.wording.runs import varied

OPACITY = 0.9
LOSSES = ("loss", "diversity")  # pictures of them, by their names
FAR = 4  # times the first loss
SAMPLES = 16  # colours of the legend's bar
GROUP = "members"
WIDTH = 1.6  # of a line whose colour says a value


def by_value(
    chart: dict[str, Any], found: Mapping[str, Sequence[float]], members: int
) -> dict[str, Any]:
    """A chart of `curves.learning_curves` whose members are told apart by their values.

    Args:
      chart: as it is of members that are alike.
      found: the values (M,) of each setting that differs.
      members: M.
    """
    main = varied.main(found)
    if not main or members < 2:
        return chart
    styles = {**chart["styles"], **member_styles(found, main, members)}
    most = highest(chart["places"])
    places = [[cut_off(of_one_group(panel), most) for panel in place] for place in chart["places"]]
    return {
        **chart,
        "styles": styles,
        "places": places,
        "legend": legend(chart["legend"], found[main], main),
    }


def member_styles(
    found: Mapping[str, Sequence[float]], main: str, members: int
) -> dict[str, dict[str, Any]]:
    """The look of each member: the colour of its value, which stands at its curve's end."""
    colours = palette.along(found[main], varied.is_log(found[main]))
    names, values = varied.names(found, members), varied.texts(found[main])
    few = members <= len(palette.MEMBER_HUES)
    return {
        f"member {m + 1}": {
            "color": colours[m],
            "width": WIDTH,
            "opacity": OPACITY,
            "label": names[m],
            "own": True,
            "end": values[m] if few else "members",
            **({"apart": f"member {m + 1}"} if few else {}),
        }
        for m in range(members)
    }


def legend(
    entries: list[dict[str, Any]], values: Sequence[float], main: str
) -> list[dict[str, Any]]:
    """The legend with one entry for all members: the bar of colours and what it spans."""
    log = ", log" if varied.is_log(values) else ""
    bar = {
        "group": GROUP,
        "color": palette.MUTED,
        "width": WIDTH,
        "label": f"{len(values)} members · {varied.SHORT[main]} {varied.spread(values)}{log}",
        "ramp": [palette.ramp(place / (SAMPLES - 1)) for place in range(SAMPLES)],
    }
    each = [place for place, one in enumerate(entries) if one["group"].startswith("member")]
    rest = [one for place, one in enumerate(entries) if place not in each]
    return [*rest[: each[0]], bar, *rest[each[0] :]]


def highest(places: list[list[dict[str, Any]]]) -> float | None:
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
    known = [value for value in first if value is not None]
    return FAR * median(known) if known else None


def cut_off(panel: dict[str, Any], most: float | None) -> dict[str, Any]:
    """A picture of losses whose axis ends at `most`, where any goes beyond."""
    if panel["name"] not in LOSSES or most is None:
        return panel
    values = [y for line in panel["lines"] for y in line["y"] if y is not None]
    if not values or max(values) <= most or min(values) > most:
        return panel
    said = f"{panel['axis']}; cut off above {formats.significant(most, 2)}"
    return {**panel, "most": most, "axis": said}


def of_one_group(panel: dict[str, Any]) -> dict[str, Any]:
    """A picture whose members hide together: what tells them apart is the bar of colours."""
    lines = [
        {**line, "group": GROUP} if line["who"].startswith("member") else line
        for line in panel["lines"]
    ]
    return {**panel, "lines": lines}
