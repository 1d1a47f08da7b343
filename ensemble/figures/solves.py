"""The pictures of a regression: error and step time by iteration, speed-up by devices."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.figures import lines
from ensemble.figures.palette import MUTED, Palette
from ensemble.regression import Trace, Traces
from ensemble.wording import formats
from ensemble.wording.runs.regression import begun, median, step_time, times

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 400
POINTS = 600  # of one curve
JUMPY = 5.0  # times the median: a step this slow asks for a log axis


def both(traces: Traces) -> list[Trace]:
    """Those of the two solves that have begun: without `pmap`, then with it."""
    return [trace for trace in (traces.without, traces.with_pmap) if trace and begun(trace)]


def name(trace: Trace) -> str:
    """What a curve is called."""
    if not trace.pmap:
        return "without pmap, 1 device"
    return f"with pmap, {formats.count(trace.devices, 'device')}"


def color(trace: Trace, palette: Palette) -> str:
    """With `pmap` in the text colour, without it in the accent."""
    return palette.ink if trace.pmap else palette.primary


def errors(traces: Traces, iterations: int, title: str, palette: Palette) -> "go.Figure":
    """The error of each iteration, on a log axis: one solve wide, the other dashed on it."""
    curves = [curve(trace, trace.error, hover_error) for trace in both(traces)]
    for drawn, trace in zip(curves, both(traces), strict=True):
        dash = "dash" if trace.pmap else "solid"
        drawn["line"] = {
            "color": color(trace, palette),
            "width": 2 if trace.pmap else 6,
            "dash": dash,
        }
    chart = by_iteration(curves, iterations, title, palette)
    every = np.concatenate([trace.error for trace in both(traces)] or [np.ones(1)])
    chart.update_yaxes(title="error: norm of the gradient", automargin=True, **log_axis(every))
    return chart


def step_times(traces: Traces, iterations: int, title: str, palette: Palette) -> "go.Figure":
    """How long each iteration took, and the medians."""
    solves = both(traces)
    slowest = max((float(trace.seconds.max()) for trace in solves), default=0.0)
    jumpy = slowest > JUMPY * max((median(trace) for trace in solves), default=1.0)
    curves = [curve(trace, 1000 * trace.seconds, hover_seconds) for trace in solves]
    for drawn, trace in zip(curves, solves, strict=True):
        drawn["line"] = {"color": color(trace, palette), "width": 1.5}
    chart = by_iteration(curves, iterations, title, palette)
    for trace in solves:
        middle = 1000 * median(trace)
        chart.add_hline(middle, line={"color": color(trace, palette), "width": 1, "dash": "dot"})
    for trace, shift in zip(solves, apart(solves), strict=True):
        middle = 1000 * median(trace)
        chart.add_annotation(
            x=1,
            xref="paper",
            xanchor="left",
            xshift=4,
            y=np.log10(middle) if jumpy else middle,
            yshift=shift,
            text=f"<b>{step_time(trace)}</b>",
            showarrow=False,
            font={"color": color(trace, palette), "size": 12},
        )
    chart.update_layout(margin={**chart.layout.margin.to_plotly_json(), "r": 56})
    every = np.concatenate([1000 * trace.seconds for trace in solves] or [np.ones(1)])
    scale: dict[str, Any] = log_axis(every) if jumpy else {"rangemode": "tozero"}
    chart.update_yaxes(title="step time (ms)", automargin=True, **scale)
    return chart


def log_axis(values: NDArray[np.float64]) -> dict[str, Any]:
    """A log axis for these values: powers of ten, and 2 and 5 of each where they are few."""
    shown = values[np.isfinite(values) & (values > 0)]
    if not len(shown) or shown.max() / shown.min() > 1000:
        return {"type": "log", "exponentformat": "power", "dtick": 1}
    low, high = (int(np.floor(np.log10(end))) for end in (shown.min(), shown.max()))
    ticks = [lead * 10.0**power for power in range(low, high + 1) for lead in (1, 2, 5)]
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,.6g}" for tick in ticks]}


def apart(solves: list[Trace]) -> list[int]:
    """By how many pixels to move the medians' labels, so that two alike can both be read."""
    if len(solves) < 2:
        return [0] * len(solves)
    one, many = map(median, solves)
    near = abs(np.log(one / many)) < 0.15
    return [0, 0] if not near else [9, -9] if one > many else [-9, 9]


def by_iteration(
    curves: list[dict[str, Any]], iterations: int, title: str, palette: Palette
) -> "go.Figure":
    """Curves over the iterations; the axis is as long as the solve, so that nothing moves."""
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    chart = go.Figure([go.Scatter(one) for one in curves])
    chart.update_layout(lines.layout(title, HEIGHT, palette))
    chart.update_xaxes(title="iteration", range=[0, iterations + 1], fixedrange=True)
    chart.update_yaxes(fixedrange=True)
    return chart


def curve(trace: Trace, values: Any, hover: Any) -> dict[str, Any]:
    """One curve over the iterations, from 1."""
    kept = lines.thinned(len(values), POINTS)
    return {
        "x": kept + 1,
        "y": values[kept],
        "mode": "lines" if len(values) > 1 else "markers",
        "name": name(trace),
        "hovertext": [hover(trace, int(i)) for i in kept],
        "hoverinfo": "text",
    }


def hover_error(trace: Trace, i: int) -> str:
    """What the pointer is told of an error."""
    return (
        f"Iteration {i + 1}, {name(trace)}<br>error {formats.significant(trace.error[i])}, "
        f"objective {formats.significant(trace.objective[i], 4)}"
    )


def hover_seconds(trace: Trace, i: int) -> str:
    """What the pointer is told of a step's time."""
    evaluations = formats.count(int(np.nan_to_num(trace.evaluations[i])), "evaluation")
    took = formats.duration(trace.seconds[i], fine=True)
    return f"Iteration {i + 1}, {name(trace)}<br>{took}, {evaluations} of the objective"


def scaling(traces: Traces, cores: int, title: str, palette: Palette) -> "go.Figure":
    """The speed-up against the number of devices, with what would be ideal; both axes log.

    Args:
      traces: what was measured.
      cores: of the CPU that the devices share; 0 where each is its own.
      title: what stands over it.
      palette: the page's colours.
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
        line={"color": MUTED, "width": 2, "dash": "dot"},
    )
    if 1 < cores < most:
        chart.add_scatter(
            x=[cores, most],
            y=[cores, cores],
            mode="lines",
            hoverinfo="skip",
            name=f"all that {cores} cores can give",
            line={"color": MUTED, "width": 1.5, "dash": "dash"},
        )
    chart.add_scatter(
        x=[devices for devices, _ in points],
        y=[ratio for _, ratio in points],
        mode="lines+markers+text",
        name="measured",
        line={"color": palette.ink, "width": 3},
        marker={"size": 9},
        text=[f"{formats.significant(ratio, 2)}×" for _, ratio in points],
        textposition="bottom center",
        textfont={"color": palette.ink},
        cliponaxis=False,
        hovertext=[
            f"{formats.count(devices, 'device')}: {times(ratio)} as fast as one"
            for devices, ratio in points
        ],
        hoverinfo="text",
    )
    least = min(0.5, *(ratio / 1.6 for _, ratio in points))
    chart.update_layout(lines.layout(title, HEIGHT, palette))
    chart.update_xaxes(
        title="devices",
        type="log",
        fixedrange=True,
        tickvals=powers(1, most),
        range=np.log10([0.85, most * 1.18]),
    )
    chart.update_yaxes(
        title="times as fast as one device",
        type="log",
        fixedrange=True,
        automargin=True,
        tickvals=powers(least, most),
        range=np.log10([least, most * 1.18]),
    )
    return chart


def powers(least: float, most: float) -> list[float]:
    """The powers of two from `least` to `most`."""
    return [2.0**power for power in range(int(np.ceil(np.log2(least))), int(np.log2(most)) + 1)]


def iterations_table(traces: Traces) -> pd.DataFrame:
    """Every iteration of every solve, a row each."""
    kinds = [("main", trace) for trace in both(traces)]
    kinds += [("sweep", trace) for trace in traces.sweep if begun(trace)]
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
