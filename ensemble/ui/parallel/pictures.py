"""The pictures of a regression on its screen, each with what to see in it."""

import streamlit as st

from ensemble import regression
from ensemble.figures import solves as solves_figure
from ensemble.regression import Traces
from ensemble.ui.parallel import answer, settings
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared import theme
from ensemble.wording.runs import regression as regression_words
from ensemble.wording.runs.regression import step_time

ERROR = (
    "The error is the norm of the gradient: 0 at the minimum, so lower is nearer. L-BFGS is "
    "spread over devices without changing what it computes."
)
TIME = (
    "An iteration is one step of L-BFGS with its line search, which computes the objective once "
    "or more. Compiling is left out."
)
SPEEDUP = (
    "Shorter solves, one for each number of devices. Each device has its share of the samples; "
    "loss and gradient are summed over all of them."
)


def show(solve: regression.Solve, traces: Traces) -> None:
    """Error and step time by iteration; below them the speed-up by devices, and all figures."""
    if not solves_figure.both(traces):
        return
    left, right = st.columns(2, gap="large")
    with left:
        errors(solve, traces)
    with right:
        step_times(solve, traces)
    left, right = st.columns(2, gap="large")
    with left:
        scaling(solve, traces)
    with right:
        st.markdown("Every solve in figures; last come the shorter ones on the left.")
        answer.details(traces)


def titled(solve: regression.Solve, what: str) -> str:
    """What stands over a picture, so that a saved one says what it shows."""
    return f"{what} · {settings.summary(solve.config)}"


def errors(solve: regression.Solve, traces: Traces) -> None:
    """The error of each iteration, with and without `pmap`."""
    chart = solves_figure.errors(
        traces, solve.config.iterations, titled(solve, "Error by iteration"), theme.palette()
    )
    first = solves_figure.both(traces)[0]
    how = "with" if first.pmap else "without"
    pictures.show(
        chart,
        key="solve_errors",
        of=solve,
        name=f"{solve.id}-error",
        title="Error by iteration",
        alt=f"The gradient's norm by iteration, {how} pmap down to {first.error[-1]:.3g}",
        table=lambda: solves_figure.iterations_table(traces),
        sees=regression_words.agreement(traces),
        help=ERROR,
    )


def step_times(solve: regression.Solve, traces: Traces) -> None:
    """How long each iteration took, with and without `pmap`."""
    chart = solves_figure.step_times(
        traces, solve.config.iterations, titled(solve, "Step time by iteration"), theme.palette()
    )
    said = " and ".join(
        f"{step_time(trace)} {'with' if trace.pmap else 'without'} pmap"
        for trace in solves_figure.both(traces)
    )
    pictures.show(
        chart,
        key="solve_times",
        of=solve,
        name=f"{solve.id}-step-time",
        title="Step time by iteration",
        alt=f"Step time by iteration; medians: {said}",
        table=lambda: solves_figure.iterations_table(traces),
        sees=f"How long each iteration took; dotted, the medians: {said}.",
        help=TIME,
    )


def scaling(solve: regression.Solve, traces: Traces) -> None:
    """The speed-up against the number of devices; a sentence where there is no such curve."""
    if len(traces.scaling) < 2:
        st.markdown("**Speed-up by number of devices**")
        st.caption(no_scaling(solve, traces))
        return
    cores = solve.status.cores if solve.status.platform == "cpu" else 0
    pictures.show(
        solves_figure.scaling(
            traces, cores, titled(solve, "Speed-up by number of devices"), theme.palette()
        ),
        key="solve_scaling",
        of=solve,
        name=f"{solve.id}-speed-up",
        title="Speed-up by number of devices",
        alt="Speed-up against devices: "
        + ", ".join(f"{ratio:.2g} times on {devices}" for devices, ratio in traces.scaling),
        table=lambda: solves_figure.iterations_table(traces),
        sees=regression_words.scaling(traces, cores),
        help=SPEEDUP,
    )


def no_scaling(solve: regression.Solve, traces: Traces) -> str:
    """Why there is no curve over the number of devices."""
    if not solve.config.sweep:
        return "Was not asked for: switch it on under More, and solve again."
    if solve.active:
        return "Stands here when the solves on 1, 2, 4 and 8 devices have begun."
    if traces.sweep:
        return "There is one device here, so there is nothing to compare it with."
    return "It ended before the solves on 1, 2, 4 and 8 devices."
