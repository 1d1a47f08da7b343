"""Learning curves of one run: members thin, the ensemble bold, test solid, training dashed."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemble.comparison.group_curves import GroupCurves, RunLine, compute_group_curves
from ensemble.comparison.run_groups import RunGroup
from ensemble.figures import chart_style
from ensemble.figures.comparison.curves import (
    DASHES,
    MAX_MARKED_EPOCHS,
    MAX_THIN_POINTS,
    MIN_LINE_POINTS,
    round_line_values,
)
from ensemble.figures.palette import MUTED_COLOR, Palette
from ensemble.runs import Run
from ensemble.views.parts import Figure, Figures
from ensemble.wording import formats
from ensemble.wording.run_names import format_run_name

if TYPE_CHECKING:
    import plotly.graph_objects as go

METRIC_TITLES = {"loss": "NLL", "accuracy": "Accuracy"}
_AXIS_TITLES = {"loss": "NLL in nats", "accuracy": "accuracy"}
_FIGURE_HEIGHT_PX = 420


def build_learning_figures(run: Run) -> Figures | None:
    """Loss and accuracy over the epochs; None where no epoch has ended."""
    each = [learning_figure for figure in METRIC_TITLES if (learning_figure := _build_learning_figure(run, figure))]
    return Figures.several("Figure", each) if each else None


def _build_learning_figure(run: Run, figure: str) -> Figure | None:
    """One figure over the epochs; None where the run has none of it."""
    group = RunGroup(format_run_name(run), run.id, (run,))
    curves = {
        (who, split): compute_group_curves([group], figure=figure, split=split, who=who)[0]
        for who, split in (
            ("members", "test"),
            ("ensemble", "test"),
            ("ensemble", "validation"),
            ("ensemble", "train"),
            ("mean member", "train"),
        )
    }
    # Members that see different pixels have no ensemble on them: then their mean stands there.
    del curves[("mean member" if curves["ensemble", "train"].lines else "ensemble"), "train"]
    if not any(group_curves.lines for group_curves in curves.values()):
        return None
    return Figure(
        METRIC_TITLES[figure],
        f"{METRIC_TITLES[figure]} over the epochs, one line a member, the ensemble bold",
        _describe_learning_curves(run, curves, figure),
        lambda palette: _plot_learning_curves(run, curves, figure, palette),
    )


def _describe_learning_curves(run: Run, curves: dict[tuple[str, str], GroupCurves], figure: str) -> str:
    many = run.config.members > 1
    sentence = "Each member thin, the ensemble bold" if many else "The one member"
    dashed = [who for (who, split), group_curves in curves.items() if split == "train" and group_curves.lines]
    sentence += ": on test images solid"
    if dashed:
        sentence += f", {f'the {dashed[0]} ' if many else ''}on training images dashed"
    if curves["ensemble", "validation"].lines:
        sentence += ", on validation images dash-dotted"
    whole = curves["ensemble", "test"].lines
    shown = chart_style.describe_member_lines(run.config.members)
    if not whole or not many:
        return f"{sentence}.{shown}"
    end = _format_final_value(figure, whole[0].y[-1], run)
    return f"{sentence}. The ensemble ends at {end} on test images.{shown}"


def _format_final_value(figure: str, end: float, run: Run) -> str:
    if figure == "loss":
        return formats.format_significant(float(end))
    return formats.format_percent(float(end), run.data.test_size)


def _plot_learning_curves(
    run: Run, curves: dict[tuple[str, str], GroupCurves], figure: str, palette: Palette
) -> "go.Figure":
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    M = run.config.members
    members = curves["members", "test"].lines
    traces = [] if M == 1 else _build_member_traces(members, figure)
    for (who, split), group_curves in curves.items():
        if who != "members" and group_curves.lines:
            traces.append(
                _build_ensemble_trace(group_curves.lines[0], who, split=split, figure=figure, palette=palette, M=M)
            )
    chart = go.Figure([go.Scatter(trace) for trace in traces])
    title = f"{METRIC_TITLES[figure]} over the epochs · {format_run_name(run)}"
    chart.update_layout(chart_style.build_chart_layout(title, _FIGURE_HEIGHT_PX, palette))
    longest = max((max(trace.x, default=0.0) for trace in chart.data), default=0.0)
    chart.update_xaxes(title="epochs", automargin=True, **({"dtick": 1} if longest <= MAX_MARKED_EPOCHS else {}))
    suffix = {"ticksuffix": " %"} if figure == "accuracy" else {}
    chart.update_yaxes(title=_AXIS_TITLES[figure], automargin=True, **suffix)
    return chart


def _build_member_traces(members: tuple[RunLine, ...], figure: str) -> list[dict[str, Any]]:
    most = max(MIN_LINE_POINTS, min(chart_style.MAX_LINE_POINTS, MAX_THIN_POINTS // max(1, len(members))))
    kept = [chart_style.select_drawn_points(len(member.x), most) for member in members]
    return chart_style.build_member_lines(
        [round_line_values(member.x[at]) for member, at in zip(members, kept, strict=True)],
        [round_line_values(_scale_to_percent(member.y[at], figure)) for member, at in zip(members, kept, strict=True)],
        [_format_epoch_hovers(member, at, figure, member.who) for member, at in zip(members, kept, strict=True)],
    )


def _build_ensemble_trace(line: RunLine, who: str, split: str, figure: str, palette: Palette, M: int) -> dict[str, Any]:
    at = chart_style.select_drawn_points(len(line.x))
    owner = {"ensemble": "ensemble"}.get(who, who) if M > 1 else "member 1"
    style = (
        chart_style.style_ensemble_line(palette)
        if split == "test"
        else {"color": MUTED_COLOR if split == "train" else palette.ink, "width": 2}
    )
    return {
        "x": round_line_values(line.x[at]),
        "y": round_line_values(_scale_to_percent(line.y[at], figure)),
        "mode": "lines+markers" if len(at) == 1 else "lines",
        "line": {**style, "dash": DASHES[split]},
        "name": owner if split == "test" else f"{owner}, {split}",
        "hovertext": _format_epoch_hovers(line, at, figure, f"{owner}, {split}"),
        "hoverinfo": "text",
    }


def _scale_to_percent(y: np.ndarray, figure: str) -> np.ndarray:
    return 100 * y if figure == "accuracy" else y


def _format_epoch_hovers(line: RunLine, at: np.ndarray, figure: str, who: str) -> list[str]:
    percent = figure == "accuracy"
    values = [formats.format_percent(y) if percent else formats.format_significant(float(y)) for y in line.y[at]]
    return [f"{who}, epoch {x:g}: {y}" for x, y in zip(line.x[at], values, strict=True)]
