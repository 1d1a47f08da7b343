"""Each member's loss over the value that it has of a setting; where the best ones lie."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from ensemble.analysis.best_value import BestValue
from ensemble.figures import chart_style, palette
from ensemble.figures.palette import Palette
from ensemble.runs.final_losses import FinalLosses
from ensemble.runs.store import Run
from ensemble.wording import formats
from ensemble.wording.runs import member_settings
from ensemble.wording.verdicts import best_value as words

if TYPE_CHECKING:
    import plotly.graph_objects as go

LOG_AXIS_RATIO = 5  # times the lowest loss: from there on the axis of losses is a log axis as well
_BEST_RANGE_LABEL = "within the noise of the best"
_AXIS_PADDING = 0.06  # of the axis on either side


@dataclass(frozen=True)
class LossPoints:
    """What is drawn of M members.

    Attributes:
      setting: which setting it is, one of `member_values.VARIABLE_SETTINGS`.
      values: (M,), what each member has of it.
      losses: (M,), in nats; None of members that were set aside.
      names: (M,), what the members are called.
      loss: what the losses are: "validation NLL".
      best_range: the least and the largest value that are within the noise of the best; None where
        that is not known.
      divergence_steps: of members that were set aside, by number from 0, the step at which they
        were.
    """

    setting: str
    values: Sequence[float]
    losses: Sequence[float | None]
    names: Sequence[str]
    loss: str
    best_range: tuple[float, float] | None
    divergence_steps: Mapping[int, int]

    @property
    def is_log_axis(self) -> bool:
        return member_settings.is_log_scaled(self.values)


def collect_loss_points(run: Run, setting: str, losses: FinalLosses, best: BestValue | None) -> LossPoints:
    """What is drawn of a run whose members differ in this setting.

    Args:
      best: which value was best by them; None where that is not known.
    """
    varied_settings, each = (
        member_settings.collect_varied_settings(run.config),
        dict(zip(losses.members, losses.loss.tolist(), strict=True)),
    )
    values = varied_settings[setting]
    return LossPoints(
        setting=setting,
        values=values,
        losses=[each.get(m) for m in range(len(values))],
        names=member_settings.list_member_names(varied_settings, len(values)),
        loss=words.LOSS_NAMES[losses.split],
        best_range=best.equivalent_range if best else None,
        divergence_steps=run.status.set_aside,
    )


def plot_loss_by_value(points: LossPoints, title: str, palette: Palette) -> "go.Figure":
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    traces = [_build_mean_loss_line(points, palette), _build_member_loss_dots(points, palette)]
    if points.divergence_steps:
        traces.append(_build_diverged_crosses(points, palette))
    chart = go.Figure([go.Scatter(trace) for trace in traces])
    if points.best_range:
        _add_best_range(chart, points, palette)
    chart.update_layout(**chart_style.build_chart_layout(title, 380, palette))
    log = ", log axis" if points.is_log_axis else ""
    chart.update_xaxes(
        title=f"{member_settings.SETTING_TITLES[points.setting]}{log}",
        fixedrange=True,
        type="log" if points.is_log_axis else "linear",
        **_build_value_ticks(points),
    )
    losses = [loss for loss in points.losses if loss is not None]
    far = bool(losses) and min(losses) > 0 and max(losses) > LOG_AXIS_RATIO * min(losses)
    chart.update_yaxes(
        title=f"{points.loss} (nats{', log axis' if far else ''})",
        fixedrange=True,
        type="log" if far else "linear",
        automargin=True,
        **(chart_style.build_log_ticks(losses) if far else {}),
    )
    return chart


def _build_value_ticks(points: LossPoints) -> dict[str, Any]:
    """The marks of the axis of values: of a few members the values themselves."""
    if len(set(points.values)) > chart_style.MAX_TITLE_LETTERS // 4:
        return chart_style.build_log_ticks(points.values) if points.is_log_axis else {}
    labels = dict(zip(points.values, member_settings.format_distinct_values(points.values), strict=True))
    return {"tickvals": list(labels), "ticktext": list(labels.values())}


def _build_mean_loss_line(points: LossPoints, palette: Palette) -> dict[str, Any]:
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


def _build_member_loss_dots(points: LossPoints, ground: Palette) -> dict[str, Any]:
    hues = palette.assign_ramp_colors(points.values, points.is_log_axis)
    kept = [m for m, loss in enumerate(points.losses) if loss is not None]
    return {
        "x": [points.values[m] for m in kept],
        "y": [points.losses[m] for m in kept],
        "mode": "markers",
        "name": "a member each",
        "hoverinfo": "text",
        "cliponaxis": False,
        "hovertext": [
            f"{points.names[m]}<br>{points.loss} {formats.format_significant(points.losses[m])}" for m in kept
        ],
        "marker": {"size": 11, "color": [hues[m] for m in kept], "line": {"color": ground.ground, "width": 1}},
    }


def _build_diverged_crosses(points: LossPoints, palette: Palette) -> dict[str, Any]:
    """A cross above the others for each member that was set aside: it has no loss."""
    losses = [loss for loss in points.losses if loss is not None]
    top = max(losses, default=1.0)
    away = sorted(points.divergence_steps)
    return {
        "x": [points.values[m] for m in away],
        "y": [top] * len(away),
        "mode": "markers",
        "name": "set aside: no loss any more",
        "hoverinfo": "text",
        "cliponaxis": False,
        "hovertext": [f"{points.names[m]}<br>set aside at step {points.divergence_steps[m]:,}" for m in away],
        "marker": {"size": 11, "symbol": "x", "color": palette.ink},
    }


def _add_best_range(chart: "go.Figure", points: LossPoints, palette: Palette) -> None:
    low, high = points.best_range or (0.0, 0.0)
    if points.is_log_axis:
        room = (max(points.values) / min(points.values)) ** (_AXIS_PADDING / 3)
        low, high = low / room, high * room
    else:
        room = (max(points.values) - min(points.values)) * _AXIS_PADDING / 3
        low, high = low - room, high + room
    chart.add_vrect(x0=low, x1=high, line_width=0, fillcolor=palette.primary, opacity=0.2, layer="below", name="range")
    # A shape stands on a log axis by its values, a text by their logarithms.
    at = math.log10(low) if points.is_log_axis else low
    chart.add_annotation(
        x=at,
        y=1,
        yref="paper",
        text=_BEST_RANGE_LABEL,
        showarrow=False,
        xanchor="left",
        yanchor="bottom",
        font={"color": palette.ink, "size": 12},
    )


def describe_loss_by_value_chart(points: LossPoints) -> str:
    member_losses = [(loss, m) for m, loss in enumerate(points.losses) if loss is not None]
    what = f"{points.loss} of each member over its {member_settings.SETTING_TITLES[points.setting]}"
    if not member_losses:
        return f"{what}: every member was set aside"
    lowest, m = min(member_losses)
    sentence = f"{what}; lowest {formats.format_significant(lowest)}, {points.names[m]}"
    if points.divergence_steps:
        sentence += f"; {formats.format_count(len(points.divergence_steps), 'member')} set aside"
    return sentence


def tabulate_loss_by_value(points: LossPoints) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "member": range(1, len(points.values) + 1),
            points.setting: list(points.values),
            points.loss.replace(" ", "_"): list(points.losses),
            "set_aside_at_step": [points.divergence_steps.get(m) for m in range(len(points.values))],
        }
    )
