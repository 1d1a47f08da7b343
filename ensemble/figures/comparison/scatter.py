"""Any figure of several runs against any setting, coloured by a third."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from ensemble.figures import lines
from ensemble.figures.comparison import colors
from ensemble.figures.comparison.columns import Column
from ensemble.figures.palette import MUTED, Palette
from ensemble.wording import escaping

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 420
SIZE = 10


def figure(
    x: Column,
    y: Column,
    color: Column | None,
    names: Sequence[str],
    kept: Sequence[bool],
    title: str,
    palette: Palette,
    log: Sequence[str] = (),
) -> "go.Figure":
    """A point a run; those that a brush has taken out are small and grey.

    Args:
      x: what stands to the right.
      y: what stands up.
      color: what colours the points; None for one colour.
      names: what the runs are called, R of them.
      kept: (R,), which of them are brushed.
      title: what stands over it, so that a saved picture says what it shows.
      palette: the page's colours.
      log: which axes are log, of "x" and "y".
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    chart = go.Figure([go.Scatter(trace) for trace in traces(x, y, color, names, kept, palette)])
    chart.update_layout(lines.layout(title, HEIGHT, palette))
    chart.update_xaxes(axis(x, "x" in log), title=escaping.figure(x.titled), automargin=True)
    chart.update_yaxes(axis(y, "y" in log), title=escaping.figure(y.titled), automargin=True)
    return chart


def axis(column: Column, log: bool) -> dict[str, Any]:
    """How an axis of that column is drawn."""
    if not column.is_number:
        words = [escaping.figure(word) for word in column.words]
        return {"type": "category", "categoryorder": "array", "categoryarray": words}
    if log and column.may_log:
        drawn_at = [drawn(column, place) for place in range(len(column.values))]
        return {"type": "log", **lines.log_marks(drawn_at, " %" if column.percent else "")}
    return {"type": "linear", "ticksuffix": " %" if column.percent else ""}


def traces(
    x: Column,
    y: Column,
    color: Column | None,
    names: Sequence[str],
    kept: Sequence[bool],
    palette: Palette,
) -> list[dict[str, Any]]:
    """The points that are left out first, so that the others stand over them."""
    whole = [
        place
        for place in range(len(names))
        if x.values[place] is not None and y.values[place] is not None
    ]
    out = [place for place in whole if not kept[place]]
    in_ = [place for place in whole if kept[place]]
    found = []
    if out:
        found.append(
            points(x, y, color, names, out)
            | {
                "name": "not brushed",
                "marker": {"size": 5, "color": MUTED, "opacity": 0.3},
            }
        )
    if color is None or not color.is_number:
        return [*found, *by_word(x, y, color, names, in_, palette)]
    hues = colors.of_values(color)
    marker = {
        "size": SIZE,
        "color": [hues[place] for place in in_],
        "line": {"color": palette.ground, "width": 1},
    }
    found.append(
        points(x, y, color, names, in_)
        | {
            "name": f"brighter: more {color.label}",
            "marker": marker,
            "showlegend": False,
        }
    )
    return [*found, bar(color)]


def by_word(
    x: Column,
    y: Column,
    color: Column | None,
    names: Sequence[str],
    places: Sequence[int],
    palette: Palette,
) -> list[dict[str, Any]]:
    """One trace a word that colours, each in the legend; one for all where nothing does."""
    edge = {"color": palette.ground, "width": 1}
    if color is None:
        marker = {"size": SIZE, "color": palette.primary, "line": edge}
        return [points(x, y, None, names, places) | {"marker": marker, "showlegend": False}]
    hues = dict(zip(color.words, colors.of_groups(len(color.words)), strict=True))
    said = [(word, word, hue) for word, hue in hues.items()] + [(None, "none", MUTED)]
    found = []
    for word, name, hue in said:
        if its := [place for place in places if color.values[place] == word]:
            found.append(
                points(x, y, color, names, its)
                | {
                    "name": escaping.figure(name),
                    "marker": {"size": SIZE, "color": hue, "line": edge},
                }
            )
    return found


def points(
    x: Column, y: Column, color: Column | None, names: Sequence[str], places: Sequence[int]
) -> dict[str, Any]:
    """The points of some runs, and what each says."""
    columns = list(dict.fromkeys(one for one in (x, y, color) if one is not None))
    says = [
        "<br>".join(
            [
                f"<b>{escaping.figure(names[place])}</b>",
                *(escaping.figure(f"{one.label}: {one.say(one.values[place])}") for one in columns),
            ]
        )
        for place in places
    ]
    return {
        "x": [drawn(x, place) for place in places],
        "y": [drawn(y, place) for place in places],
        "mode": "markers",
        "hovertext": says,
        "hoverinfo": "text",
    }


def drawn(column: Column, place: int) -> Any:
    """A value as its axis takes it."""
    value = column.values[place]
    if isinstance(value, str):
        return escaping.figure(value)
    return 100 * value if column.percent and value is not None else value


def bar(color: Column) -> dict[str, Any]:
    """The scale of the colours beside the picture, by a trace that draws nothing."""
    known = [at for value in color.values if (at := colors.place(color, value)) is not None]
    log = color.log and color.may_log
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    ends = [low, high] if high > low else [low]
    said = [color.say(10**at if log else at) for at in ends]
    return {
        "x": [None],
        "y": [None],
        "mode": "markers",
        "showlegend": False,
        "hoverinfo": "skip",
        "marker": {
            "color": [low],
            "cmin": low,
            "cmax": high if high > low else low + 1,
            "colorscale": colors.scale(),
            "showscale": True,
            "colorbar": {
                "title": {"text": escaping.figure(color.titled), "side": "right"},
                "tickvals": ends,
                "ticktext": said,
                "thickness": 12,
                "outlinewidth": 0,
            },
        },
    }


def table(
    columns: Sequence[Column], ids: Sequence[str], names: Sequence[str], kept: Sequence[bool]
) -> pd.DataFrame:
    """A row a run: what it is called and each of the columns; at the end whether it is brushed."""
    return pd.DataFrame(
        {
            "run": list(ids),
            "name": list(names),
            **{column.name: list(column.values) for column in columns},
            "brushed": list(kept),
        }
    )
