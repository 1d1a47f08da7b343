"""A regression by L-BFGS with and without `pmap`: its answer, its pictures, every solve."""

from collections.abc import Iterator

import pandas as pd

from ensemble.figures import regression_charts as charts
from ensemble.regression import Regression, RegressionTraces, SolveTrace
from ensemble.regression.pmap_choice import load_pmap_choice
from ensemble.views.parts import Figure, Figures, Paragraph, Table, View
from ensemble.wording import formats
from ensemble.wording.runs import regression as words
from ensemble.wording.runs.regression import format_step_time, has_iterations

_ERROR_HELP = (
    "The error is the norm of the gradient: 0 at the minimum, so lower is nearer. L-BFGS is "
    "spread over devices without changing what it computes."
)
_STEP_TIME_HELP = (
    "An iteration is one step of L-BFGS with its line search, which computes the objective once "
    "or more. Compiling is left out."
)
_SPEEDUP_HELP = (
    "Shorter solves, one for each number of devices. Each device has its share of the samples; "
    "loss and gradient are summed over all of them."
)
SCALING_TITLE = "Speed-up by number of devices"


def build_regression(solve: Regression, traces: RegressionTraces, settings: str) -> View:
    answer = words.describe_pmap_gain(traces, solve.active and solve.config.pmap == "both")
    if not answer:
        yield Paragraph("No iteration has been measured: there is nothing to see.", "unavailable")
        return
    yield Paragraph(answer, "answer")
    for line in _list_regression_evidence(solve, traces):
        yield Paragraph(line, "evidence")
    for figure in _list_regression_figures(solve, traces, settings):
        yield Figures.single(figure)
    if len(traces.scaling) < 2:
        yield Paragraph(f"{SCALING_TITLE}: {describe_missing_scaling(solve, traces)}", "note")
    yield Table(
        "Every solve", tabulate_solves(traces), note=words.describe_replica_agreement(traces), key="solve_details"
    )


def _list_regression_evidence(solve: Regression, traces: RegressionTraces) -> list[str]:
    """What the answer rests on: the speed-up and its interval, compiling, how pmap was chosen."""
    lines = []
    if bought := traces.speedup:
        lines.append(
            f"Speed-up {words.format_speedup(bought.pace)} by the median step times, "
            f"{words.format_speedup(bought.whole)} with compiling. Iteration by iteration the "
            f"median ratio is {words.format_speedup(bought.median)}"
            f"{words.describe_speedup_range(bought)}; efficiency "
            f"{formats.format_percent(bought.efficiency, places=0)}."
        )
    if solve.config.pmap == "faster" and (choice := load_pmap_choice(solve.path)):
        lines.append(words.describe_pmap_choice(choice))
    if what := words.explain_shared_cores(solve.status):
        lines.append(what)
    return lines


def _list_regression_figures(solve: Regression, traces: RegressionTraces, settings: str) -> Iterator[Figure]:
    """The pictures that there are: error, step time, and speed-up by devices."""
    if charts.list_started_solves(traces):
        yield build_error_figure(solve, traces, settings)
        yield build_step_time_figure(solve, traces, settings)
    if len(traces.scaling) > 1:
        yield build_scaling_figure(solve, traces, settings)


def build_error_figure(solve: Regression, traces: RegressionTraces, settings: str) -> Figure:
    """The error of each iteration, with and without `pmap`."""
    first = charts.list_started_solves(traces)[0]
    how = "with" if first.pmap else "without"
    title = "Error by iteration"
    return Figure(
        label=title,
        alt=f"The gradient's norm by iteration, {how} pmap down to {first.error[-1]:.3g}",
        explanation=words.explain_solve_errors_chart(traces),
        draw=lambda palette: charts.plot_regression_errors(
            traces, solve.config.iterations, f"{title} · {settings}", palette
        ),
        key="solve_errors",
        file="error",
        title=title,
        table=lambda: charts.tabulate_iterations(traces),
        help=_ERROR_HELP,
        of_epoch=False,
    )


def build_step_time_figure(solve: Regression, traces: RegressionTraces, settings: str) -> Figure:
    """How long each iteration took, with and without `pmap`."""
    medians = " and ".join(
        f"{format_step_time(trace)} {'with' if trace.pmap else 'without'} pmap"
        for trace in charts.list_started_solves(traces)
    )
    title = "Step time by iteration"
    return Figure(
        label=title,
        alt=f"Step time by iteration; medians: {medians}",
        explanation=f"How long each iteration took; dotted, the medians: {medians}.",
        draw=lambda palette: charts.plot_step_times(traces, solve.config.iterations, f"{title} · {settings}", palette),
        key="solve_times",
        file="step-time",
        title=title,
        table=lambda: charts.tabulate_iterations(traces),
        help=_STEP_TIME_HELP,
        of_epoch=False,
    )


def build_scaling_figure(solve: Regression, traces: RegressionTraces, settings: str) -> Figure:
    cores = solve.status.cores if solve.status.platform == "cpu" else 0
    reached = ", ".join(f"{ratio:.2g} times on {devices}" for devices, ratio in traces.scaling)
    return Figure(
        label=SCALING_TITLE,
        alt=f"Speed-up against devices: {reached}",
        explanation=words.explain_device_scaling_chart(traces, cores),
        draw=lambda palette: charts.plot_device_scaling(traces, cores, f"{SCALING_TITLE} · {settings}", palette),
        key="solve_scaling",
        file="speed-up",
        title=SCALING_TITLE,
        table=lambda: charts.tabulate_iterations(traces),
        help=_SPEEDUP_HELP,
        of_epoch=False,
    )


def describe_missing_scaling(solve: Regression, traces: RegressionTraces) -> str:
    if not solve.config.sweep:
        return "Not measured: switch it on under More, and solve again."
    if solve.active:
        return "Appears when the solves on 1, 2, 4 and 8 devices have begun."
    if traces.sweep:
        return "There is one device here, so there is nothing to compare it with."
    return "It ended before the solves on 1, 2, 4 and 8 devices."


def tabulate_solves(traces: RegressionTraces) -> pd.DataFrame:
    """A row a solve: step time, speed-up, compile time, objective; last the shorter ones."""
    bought = traces.speedup
    ratio = bought.pace if bought else None
    rows = [_tabulate_solve(trace, ratio if trace.pmap else 1.0) for trace in charts.list_started_solves(traces)]
    swept = [trace for trace in traces.sweep if has_iterations(trace)]
    rows += [_tabulate_solve(trace, ratio) for trace, (_, ratio) in zip(swept, traces.scaling, strict=True)]
    return pd.DataFrame(rows)


def _tabulate_solve(trace: SolveTrace, ratio: float | None) -> dict[str, str]:
    """One solve's figures; `ratio`: how many times as fast as the one on one device, if known."""
    devices = formats.format_count(trace.devices, "device")
    return {
        "solve": f"{devices}, pmap" if trace.pmap else devices,
        "step time": format_step_time(trace),
        "speed-up": "–" if ratio is None else words.format_speedup(ratio),
        "compile": formats.format_duration(trace.compile_seconds, fine=True),
        "objective": formats.format_significant(float(trace.objective[-1]), 4),
    }
