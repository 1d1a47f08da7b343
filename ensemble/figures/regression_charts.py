"""The pictures of a regression: error and step time by iteration, speed-up by devices."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette
from ensemble.regression import RegressionTraces, SolveTrace
from ensemble.wording import formats
from ensemble.wording.runs.regression import compute_median_step_time, format_ratio, format_step_time, has_iterations

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 400
_MAX_CURVE_POINTS = 600  # of one curve
LOG_AXIS_RATIO = 5.0  # times the median: a step this slow asks for a log axis


def list_started_solves(traces: RegressionTraces) -> list[SolveTrace]:
    """Those of the two solves that have begun: without `pmap`, then with it."""
    return [trace for trace in (traces.without, traces.with_pmap) if trace and has_iterations(trace)]


def _format_solve_name(trace: SolveTrace) -> str:
    if not trace.pmap:
        return "without pmap, 1 device"
    return f"with pmap, {formats.format_count(trace.devices, 'device')}"


def _select_solve_color(trace: SolveTrace, palette: Palette) -> str:
    """With `pmap` in the text colour, without it in the accent."""
    return palette.ink if trace.pmap else palette.primary


def plot_regression_errors(traces: RegressionTraces, iterations: int, title: str, palette: Palette) -> "go.Figure":
    """The error of each iteration, on a log axis: one solve wide, the other dashed on it."""
    curves = [_build_iteration_curve(trace, trace.error, _format_error_hover) for trace in list_started_solves(traces)]
    for drawn, trace in zip(curves, list_started_solves(traces), strict=True):
        dash = "dash" if trace.pmap else "solid"
        drawn["line"] = {"color": _select_solve_color(trace, palette), "width": 2 if trace.pmap else 6, "dash": dash}
    chart = _plot_iteration_curves(curves, iterations, title, palette)
    every = np.concatenate([trace.error for trace in list_started_solves(traces)] or [np.ones(1)])
    chart.update_yaxes(title="error: norm of the gradient", automargin=True, **build_decade_axis(every))
    return chart


def plot_step_times(traces: RegressionTraces, iterations: int, title: str, palette: Palette) -> "go.Figure":
    solves = list_started_solves(traces)
    slowest = max((float(trace.seconds.max()) for trace in solves), default=0.0)
    jumpy = slowest > LOG_AXIS_RATIO * max((compute_median_step_time(trace) for trace in solves), default=1.0)
    curves = [_build_iteration_curve(trace, 1000 * trace.seconds, _format_seconds_hover) for trace in solves]
    for drawn, trace in zip(curves, solves, strict=True):
        drawn["line"] = {"color": _select_solve_color(trace, palette), "width": 1.5}
    chart = _plot_iteration_curves(curves, iterations, title, palette)
    for trace in solves:
        middle = 1000 * compute_median_step_time(trace)
        chart.add_hline(middle, line={"color": _select_solve_color(trace, palette), "width": 1, "dash": "dot"})
    for trace, shift in zip(solves, _compute_label_shifts(solves), strict=True):
        middle = 1000 * compute_median_step_time(trace)
        chart.add_annotation(
            x=1,
            xref="paper",
            xanchor="left",
            xshift=4,
            y=np.log10(middle) if jumpy else middle,
            yshift=shift,
            text=f"<b>{format_step_time(trace)}</b>",
            showarrow=False,
            font={"color": _select_solve_color(trace, palette), "size": 12},
        )
    chart.update_layout(margin={**chart.layout.margin.to_plotly_json(), "r": 56})
    every = np.concatenate([1000 * trace.seconds for trace in solves] or [np.ones(1)])
    scale: dict[str, Any] = build_decade_axis(every) if jumpy else {"rangemode": "tozero"}
    chart.update_yaxes(title="step time (ms)", automargin=True, **scale)
    return chart


def build_decade_axis(values: NDArray[np.float64]) -> dict[str, Any]:
    """A log axis for these values: powers of ten, and 2 and 5 of each where they are few."""
    positives = values[np.isfinite(values) & (values > 0)]
    if not len(positives) or positives.max() / positives.min() > 1000:
        return {"type": "log", "exponentformat": "power", "dtick": 1}
    low, high = (int(np.floor(np.log10(end))) for end in (positives.min(), positives.max()))
    ticks = [lead * 10.0**power for power in range(low, high + 1) for lead in (1, 2, 5)]
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,.6g}" for tick in ticks]}


def _compute_label_shifts(solves: list[SolveTrace]) -> list[int]:
    """By how many pixels to move the medians' labels, so that two alike can both be read."""
    if len(solves) < 2:
        return [0] * len(solves)
    one, many = map(compute_median_step_time, solves)
    near = abs(np.log(one / many)) < 0.15
    return [0, 0] if not near else [9, -9] if one > many else [-9, 9]


def _plot_iteration_curves(curves: list[dict[str, Any]], iterations: int, title: str, palette: Palette) -> "go.Figure":
    """Curves over the iterations; the axis is as long as the solve, so that nothing moves."""
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    chart = go.Figure([go.Scatter(curve) for curve in curves])
    chart.update_layout(chart_style.build_chart_layout(title, HEIGHT, palette))
    chart.update_xaxes(title="iteration", range=[0, iterations + 1], fixedrange=True)
    chart.update_yaxes(fixedrange=True)
    return chart


def _build_iteration_curve(trace: SolveTrace, values: Any, hover: Any) -> dict[str, Any]:
    """One curve over the iterations, from 1."""
    kept = chart_style.select_drawn_points(len(values), _MAX_CURVE_POINTS)
    return {
        "x": kept + 1,
        "y": values[kept],
        "mode": "lines" if len(values) > 1 else "markers",
        "name": _format_solve_name(trace),
        "hovertext": [hover(trace, int(i)) for i in kept],
        "hoverinfo": "text",
    }


def _format_error_hover(trace: SolveTrace, i: int) -> str:
    """What the pointer is told of an error."""
    return (
        f"Iteration {i + 1}, {_format_solve_name(trace)}<br>error "
        f"{formats.format_significant(trace.error[i])}, "
        f"objective {formats.format_significant(trace.objective[i], 4)}"
    )


def _format_seconds_hover(trace: SolveTrace, i: int) -> str:
    evaluations = formats.format_count(int(np.nan_to_num(trace.evaluations[i])), "evaluation")
    took = formats.format_duration(trace.seconds[i], fine=True)
    return f"Iteration {i + 1}, {_format_solve_name(trace)}<br>{took}, {evaluations} of the objective"


def plot_device_scaling(traces: RegressionTraces, cores: int, title: str, palette: Palette) -> "go.Figure":
    """The speed-up against the number of devices, with what would be ideal; both axes log.

    Args:
      cores: of the CPU that the devices share; 0 where each is its own.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    points = traces.scaling
    most = max(2, points[-1][0])
    chart = go.Figure()
    chart.add_scatter(
        x=[1, most],
        y=[1, most],
        mode="lines",
        name="ideal",
        hoverinfo="skip",
        line={"color": MUTED_COLOR, "width": 2, "dash": "dot"},
    )
    if 1 < cores < most:
        chart.add_scatter(
            x=[cores, most],
            y=[cores, cores],
            mode="lines",
            hoverinfo="skip",
            name=f"all that {cores} cores can give",
            line={"color": MUTED_COLOR, "width": 1.5, "dash": "dash"},
        )
    chart.add_scatter(
        x=[devices for devices, _ in points],
        y=[ratio for _, ratio in points],
        mode="lines+markers+text",
        name="measured",
        line={"color": palette.ink, "width": 3},
        marker={"size": 9},
        text=[f"{formats.format_significant(ratio, 2)}×" for _, ratio in points],
        textposition="bottom center",
        textfont={"color": palette.ink},
        cliponaxis=False,
        hovertext=[
            f"{formats.format_count(devices, 'device')}: {format_ratio(ratio)} as fast as one"
            for devices, ratio in points
        ],
        hoverinfo="text",
    )
    least = min(0.5, *(ratio / 1.6 for _, ratio in points))
    chart.update_layout(chart_style.build_chart_layout(title, HEIGHT, palette))
    chart.update_xaxes(
        title="devices",
        type="log",
        fixedrange=True,
        tickvals=_list_powers_of_two(1, most),
        range=np.log10([0.85, most * 1.18]),
    )
    chart.update_yaxes(
        title="times as fast as one device",
        type="log",
        fixedrange=True,
        automargin=True,
        tickvals=_list_powers_of_two(least, most),
        range=np.log10([least, most * 1.18]),
    )
    return chart


def _list_powers_of_two(least: float, most: float) -> list[float]:
    """The powers of two from `least` to `most`."""
    return [2.0**power for power in range(int(np.ceil(np.log2(least))), int(np.log2(most)) + 1)]


def tabulate_iterations(traces: RegressionTraces) -> pd.DataFrame:
    kinds = [("main", trace) for trace in list_started_solves(traces)]
    kinds += [("sweep", trace) for trace in traces.sweep if has_iterations(trace)]
    parts = [
        pd.DataFrame(
            {
                "solve": kind,
                "devices": trace.devices,
                "pmap": trace.pmap,
                "iteration": np.arange(1, len(trace.seconds) + 1),
                "objective": trace.objective,
                "error": trace.error,
                "step_size": trace.step_size,
                "evaluations": trace.evaluations,
                "seconds": trace.seconds,
            }
        )
        for kind, trace in kinds
    ]
    return pd.concat(parts, ignore_index=True)
