"""The answer of a regression: the sentence, its figures, and what they hold for."""

import pandas as pd
import streamlit as st

from ensemble import runs
from ensemble.analysis.speedup import Speedup
from ensemble.runs import Trace, Traces
from ensemble.ui import formats, parallel_words
from ensemble.ui.parallel_figure import both
from ensemble.ui.parallel_words import begun, median, step_time

COMPILING = (
    "Tracing and compiling, before the first iteration. A problem of a size that was solved "
    "here before is taken from the cache of compiled programs, which takes less."
)


def show(solve: runs.Solve, traces: Traces) -> None:
    """The answer in a sentence, then its figures; nothing before the first iteration."""
    if said := parallel_words.answer(traces, solve.active):
        st.markdown(f"#### {said}")
        figures(traces)
    if said and (what := parallel_words.shared_cores(solve.status)):
        st.caption(f":material/info: {what}")


def figures(traces: Traces) -> None:
    """The speed-ups, the efficiency, and what compiling took."""
    with st.container(horizontal=True, gap="medium", key="solve_figures"):
        if bought := traces.speedup:
            ratios(bought)
        for trace in (traces.without, traces.with_pmap):
            if trace:
                with_it = "with pmap" if trace.pmap else "without pmap"
                st.metric(f"Compiling {with_it}", f"{trace.compile_seconds:.1f} s",
                          width="content", help=COMPILING)  # fmt: skip


def ratios(bought: Speedup) -> None:
    """How many times as fast, in three ways, and how well the devices are used."""
    for label, value, help in (
        ("Speed-up, median", times(bought.median), "Time without pmap by time with it, iteration "
         "by iteration, compiling left out: the median, which one slow step does not move."),
        ("Speed-up, mean", times(bought.mean), "The mean of the same ratios: the figure of "
         "JAXopt's example. One slow step moves it."),
        ("Compiling included", times(bought.whole), "All of the solve without pmap by all of the "
         "solve with it, compiling included."),
        ("Efficiency", f"{100 * bought.efficiency:.0f} %", "The median speed-up by the number of "
         "devices: 100 % is ideal."),
    ):  # fmt: skip
        st.metric(label, value, width="content", help=help)


def times(ratio: float) -> str:
    """A ratio as "1.68×"."""
    return f"{formats.significant(ratio)}×"


def details(traces: Traces) -> None:
    """Every solve in a row of figures."""
    solves = [*both(traces), *(trace for trace in traces.sweep if begun(trace))]
    first = {"main": traces.without, "sweep": next(iter(traces.sweep), None)}
    kinds = ["main"] * len(both(traces)) + ["sweep"] * (len(solves) - len(both(traces)))
    rows = [row(trace, first[kind]) for kind, trace in zip(kinds, solves, strict=True)]
    st.dataframe(pd.DataFrame(rows), hide_index=True, key="solve_details", placeholder="–",
                 alt="Step time, speed-up and compile time of every solve")  # fmt: skip
    if said := parallel_words.replicas(traces):
        st.caption(said)


def row(trace: Trace, first: Trace | None) -> dict[str, str]:
    """One solve's figures.

    Args:
      trace: the solve.
      first: the one on one device that it is compared with.
    """
    ratio = median(first) / median(trace) if first and begun(first) else None
    return {
        "devices": str(trace.devices),
        "pmap": "with" if trace.pmap else "without",
        "iterations": f"{len(trace.seconds):,}",
        "step, median": step_time(median(trace)),
        "speed-up": f"{formats.significant(ratio)}×" if ratio else "–",
        "compiling": f"{trace.compile_seconds:.1f} s",
        "evaluations a step": formats.significant(float(trace.evaluations.mean()), 2),
        "objective": formats.significant(float(trace.objective[-1]), 4),
    }
