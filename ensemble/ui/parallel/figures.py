"""The pictures of a regression on its screen, each with what to see in it."""

import streamlit as st

from ensemble import regression
from ensemble.figures import regression_charts as solves_figure
from ensemble.regression import RegressionTraces
from ensemble.ui.parallel import answer, settings
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared import theme
from ensemble.wording.runs import regression as regression_words
from ensemble.wording.runs.regression import format_step_time

ERROR_HELP = (
    "The error is the norm of the gradient: 0 at the minimum, so lower is nearer. L-BFGS is "
    "spread over devices without changing what it computes."
)
STEP_TIME_HELP = (
    "An iteration is one step of L-BFGS with its line search, which computes the objective once "
    "or more. Compiling is left out."
)
SPEEDUP_HELP = (
    "Shorter solves, one for each number of devices. Each device has its share of the samples; "
    "loss and gradient are summed over all of them."
)


def show_regression_figures(solve: regression.Regression, traces: RegressionTraces) -> None:
    """Error and step time by iteration; below them the speed-up by devices, and all figures."""
    if not solves_figure.list_started_solves(traces):
        return
    left, right = st.columns(2, gap="large")
    with left:
        show_solver_error_figure(solve, traces)
    with right:
        show_step_time_figure(solve, traces)
    left, right = st.columns(2, gap="large")
    with left:
        show_scaling_figure(solve, traces)
    with right:
        st.markdown("Every solve in figures; last come the shorter ones on the left.")
        answer.show_solve_table(traces)


def format_regression_title(solve: regression.Regression, what: str) -> str:
    """What stands over a picture, so that a saved one says what it shows."""
    return f"{what} · {settings.summarize_regression_settings(solve.config)}"


def show_solver_error_figure(solve: regression.Regression, traces: RegressionTraces) -> None:
    """The error of each iteration, with and without `pmap`."""
    chart = solves_figure.plot_regression_errors(
        traces,
        solve.config.iterations,
        format_regression_title(solve, "Error by iteration"),
        theme.get_page_palette(),
    )
    first = solves_figure.list_started_solves(traces)[0]
    how = "with" if first.pmap else "without"
    pictures.show_figure_panel(
        chart,
        key="solve_errors",
        job=solve,
        name=f"{solve.id}-error",
        title="Error by iteration",
        alt=f"The gradient's norm by iteration, {how} pmap down to {first.error[-1]:.3g}",
        table=lambda: solves_figure.tabulate_iterations(traces),
        sees=regression_words.explain_solve_errors_chart(traces),
        help=ERROR_HELP,
    )


def show_step_time_figure(solve: regression.Regression, traces: RegressionTraces) -> None:
    """How long each iteration took, with and without `pmap`."""
    chart = solves_figure.plot_step_times(
        traces,
        solve.config.iterations,
        format_regression_title(solve, "Step time by iteration"),
        theme.get_page_palette(),
    )
    medians = " and ".join(
        f"{format_step_time(trace)} {'with' if trace.pmap else 'without'} pmap"
        for trace in solves_figure.list_started_solves(traces)
    )
    pictures.show_figure_panel(
        chart,
        key="solve_times",
        job=solve,
        name=f"{solve.id}-step-time",
        title="Step time by iteration",
        alt=f"Step time by iteration; medians: {medians}",
        table=lambda: solves_figure.tabulate_iterations(traces),
        sees=f"How long each iteration took; dotted, the medians: {medians}.",
        help=STEP_TIME_HELP,
    )


def show_scaling_figure(solve: regression.Regression, traces: RegressionTraces) -> None:
    """The speed-up against the number of devices; a sentence where there is no such curve."""
    if len(traces.scaling) < 2:
        st.markdown("**Speed-up by number of devices**")
        st.caption(describe_missing_scaling(solve, traces))
        return
    cores = solve.status.cores if solve.status.platform == "cpu" else 0
    pictures.show_figure_panel(
        solves_figure.plot_device_scaling(
            traces,
            cores,
            format_regression_title(solve, "Speed-up by number of devices"),
            theme.get_page_palette(),
        ),
        key="solve_scaling",
        job=solve,
        name=f"{solve.id}-speed-up",
        title="Speed-up by number of devices",
        alt="Speed-up against devices: "
        + ", ".join(f"{ratio:.2g} times on {devices}" for devices, ratio in traces.scaling),
        table=lambda: solves_figure.tabulate_iterations(traces),
        sees=regression_words.explain_device_scaling_chart(traces, cores),
        help=SPEEDUP_HELP,
    )


def describe_missing_scaling(solve: regression.Regression, traces: RegressionTraces) -> str:
    """Why there is no curve over the number of devices."""
    if not solve.config.sweep:
        return "Not measured: switch it on under More, and solve again."
    if solve.active:
        return "Appears when the solves on 1, 2, 4 and 8 devices have begun."
    if traces.sweep:
        return "There is one device here, so there is nothing to compare it with."
    return "It ended before the solves on 1, 2, 4 and 8 devices."
