"""Each member's loss over the value that it has of a setting; where the best ones lie."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from ensemble.analysis.best_value import BestValue
from ensemble.figures import lines, palette
from ensemble.figures.palette import Palette
from ensemble.runs.final_losses import FinalLosses
from ensemble.runs.store import Run
from ensemble.wording import formats
from ensemble.wording.runs import varied
from ensemble.wording.verdicts import best_value as words

if TYPE_CHECKING:
    import plotly.graph_objects as go

FAR = 5  # times the lowest loss: from there on the axis of losses is a log axis as well
WITHIN = "within the noise of the best"
ROOM = 0.06  # of the axis on either side


@dataclass(frozen=True)
class Points:
    """What is drawn of M members.

    Attributes:
      setting: which setting it is, one of `varying.NAMES`.
      values: (M,), what each member has of it.
      losses: (M,), in nats; None of members that were set aside.
      names: (M,), what the members are called.
      loss: what the losses are: "validation NLL".
      range: the least and the largest value that are within the noise of the best; None where
        that is not known.
      steps: of members that were set aside, by number from 0, the step at which they were.
    """

    setting: str
    values: Sequence[float]
    losses: Sequence[float | None]
    names: Sequence[str]
    loss: str
    range: tuple[float, float] | None
    steps: Mapping[int, int]

    @property
    def log(self) -> bool:
        """Whether the values stand on a log axis."""
        return varied.is_log(self.values)


def points_of(run: Run, setting: str, losses: FinalLosses, best: BestValue | None) -> Points:
    """What is drawn of a run whose members differ in this setting.

    Args:
      run: whose members.
      setting: one of those that differ.
      losses: the members' losses after an epoch.
      best: which value was best by them; None where that is not known.
    """
    found, each = (
        varied.of(run.config),
        dict(zip(losses.members, losses.loss.tolist(), strict=True)),
    )
    values = found[setting]
    return Points(
        setting,
        values,
        [each.get(m) for m in range(len(values))],
        varied.names(found, len(values)),
        words.LOSSES[losses.on],
        best.range if best else None,
        run.status.set_aside,
    )


def figure(points: Points, title: str, palette: Palette) -> "go.Figure":
    """A dot a member in the colour of its curve, joined in the order of values.

    Args:
      points: what is drawn.
      title: what stands over it, so that a saved picture says what it shows.
      palette: the page's colours.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    traces = [curve(points, palette), dots(points, palette)]
    if points.steps:
        traces.append(crosses(points, palette))
    chart = go.Figure([go.Scatter(one) for one in traces])
    if points.range:
        add_range(chart, points, palette)
    chart.update_layout(**lines.layout(title, 380, palette))
    log = ", log axis" if points.log else ""
    chart.update_xaxes(
        title=f"{varied.TITLES[points.setting]}{log}",
        fixedrange=True,
        type="log" if points.log else "linear",
        **ticks(points),
    )
    known = [loss for loss in points.losses if loss is not None]
    far = bool(known) and min(known) > 0 and max(known) > FAR * min(known)
    chart.update_yaxes(
        title=f"{points.loss} (nats{', log axis' if far else ''})",
        fixedrange=True,
        type="log" if far else "linear",
        automargin=True,
        **(lines.log_marks(known) if far else {}),
    )
    return chart


def ticks(points: Points) -> dict[str, Any]:
    """The marks of the axis of values: of a few members the values themselves."""
    if len(set(points.values)) > lines.TITLE // 4:
        return lines.log_marks(points.values) if points.log else {}
    said = dict(zip(points.values, varied.texts(points.values), strict=True))
    return {"tickvals": list(said), "ticktext": list(said.values())}


def curve(points: Points, palette: Palette) -> dict[str, Any]:
    """The line through the members' mean at each value."""
    at: dict[float, list[float]] = {}
    for value, loss in zip(points.values, points.losses, strict=True):
        if loss is not None:
            at.setdefault(value, []).append(loss)
    xs = sorted(at)
    return {
        "x": xs,
        "y": [sum(at[x]) / len(at[x]) for x in xs],
        "mode": "lines",
        "name": "mean",
        "line": {"color": palette.ink, "width": 1},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def dots(points: Points, ground: Palette) -> dict[str, Any]:
    """A dot for each member that went on."""
    hues = palette.along(points.values, points.log)
    kept = [m for m, loss in enumerate(points.losses) if loss is not None]
    return {
        "x": [points.values[m] for m in kept],
        "y": [points.losses[m] for m in kept],
        "mode": "markers",
        "name": "a member each",
        "hoverinfo": "text",
        "cliponaxis": False,
        "hovertext": [
            f"{points.names[m]}<br>{points.loss} {formats.significant(points.losses[m])}"
            for m in kept
        ],
        "marker": {
            "size": 11,
            "color": [hues[m] for m in kept],
            "line": {"color": ground.ground, "width": 1},
        },
    }


def crosses(points: Points, palette: Palette) -> dict[str, Any]:
    """A cross above the others for each member that was set aside: it has no loss."""
    known = [loss for loss in points.losses if loss is not None]
    top = max(known, default=1.0)
    away = sorted(points.steps)
    return {
        "x": [points.values[m] for m in away],
        "y": [top] * len(away),
        "mode": "markers",
        "name": "set aside: no loss any more",
        "hoverinfo": "text",
        "cliponaxis": False,
        "hovertext": [f"{points.names[m]}<br>set aside at step {points.steps[m]:,}" for m in away],
        "marker": {"size": 11, "symbol": "x", "color": palette.ink},
    }


def add_range(chart: "go.Figure", points: Points, palette: Palette) -> None:
    """Shades the values that are within the noise of the best."""
    low, high = points.range or (0.0, 0.0)
    if points.log:
        room = (max(points.values) / min(points.values)) ** (ROOM / 3)
        low, high = low / room, high * room
    else:
        room = (max(points.values) - min(points.values)) * ROOM / 3
        low, high = low - room, high + room
    chart.add_vrect(
        x0=low,
        x1=high,
        line_width=0,
        fillcolor=palette.primary,
        opacity=0.2,
        layer="below",
        name="range",
    )
    # A shape stands on a log axis by its values, a text by their logarithms.
    at = math.log10(low) if points.log else low
    chart.add_annotation(
        x=at,
        y=1,
        yref="paper",
        text=WITHIN,
        showarrow=False,
        xanchor="left",
        yanchor="bottom",
        font={"color": palette.ink, "size": 12},
    )


def alt(points: Points) -> str:
    """The picture in words."""
    known = [(loss, m) for m, loss in enumerate(points.losses) if loss is not None]
    what = f"{points.loss} of each member over its {varied.TITLES[points.setting]}"
    if not known:
        return f"{what}: every member was set aside"
    lowest, m = min(known)
    said = f"{what}; lowest {formats.significant(lowest)}, {points.names[m]}"
    if points.steps:
        said += f"; {formats.count(len(points.steps), 'member')} set aside"
    return said


def table(points: Points) -> pd.DataFrame:
    """A row for each member."""
    return pd.DataFrame(
        {
            "member": range(1, len(points.values) + 1),
            points.setting: list(points.values),
            points.loss.replace(" ", "_"): list(points.losses),
            "set_aside_at_step": [points.steps.get(m) for m in range(len(points.values))],
        }
    )
