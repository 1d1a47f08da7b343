"""The answer of a regression: the sentence, its figures, and what they hold for."""

import math

import pandas as pd
import streamlit as st

from ensemble import regression
from ensemble.figures.solves import both
from ensemble.regression import Trace, Traces
from ensemble.regression.choosing import read_choice
from ensemble.regression.speedup import Speedup
from ensemble.wording import formats
from ensemble.wording.runs import regression as regression_words
from ensemble.wording.runs.regression import begun, step_time

COMPILING = (
    "Tracing and compiling, before the first iteration. A problem of a size that was solved "
    "here before is taken from the cache of compiled programs, which takes less."
)
FIGURES = ("step time", "speed-up", "compile", "objective")


def show(solve: regression.Solve, traces: Traces) -> None:
    """The answer in a sentence, then its figures; nothing before the first iteration."""
    both = solve.config.pmap == "both"
    if said := regression_words.answer(traces, solve.active and both):
        st.markdown(f"#### {said}")
        figures(traces)
    if solve.config.pmap == "faster" and (choice := read_choice(solve.path)):
        st.caption(regression_words.chosen(choice))
    if said and (what := regression_words.shared_cores(solve.status)):
        st.caption(f":material/info: {what}")


def figures(traces: Traces) -> None:
    """The speed-ups, the efficiency, and what compiling took."""
    with st.container(horizontal=True, gap="medium", key="solve_figures"):
        if bought := traces.speedup:
            ratios(bought)
        compiled = [
            formats.duration(trace.compile_seconds, fine=True)
            for trace in (traces.without, traces.with_pmap)
            if trace
        ]
        ways = [
            way for way, trace in (("without", traces.without), ("with", traces.with_pmap)) if trace
        ]
        label = f"Compiling, {' and '.join(ways)}"
        st.metric(label, " · ".join(compiled), width="content", help=COMPILING)


def ratios(bought: Speedup) -> None:
    """How many times as fast, in three ways, and how well the devices are used."""
    for label, value, help in (
        (
            "Speed-up, median",
            times(bought.median),
            "Time without pmap by time with it, iteration "
            "by iteration, compiling left out: the median, which one slow step does not move."
            f"{ends(bought)}",
        ),
        (
            "Speed-up, mean",
            times(bought.mean),
            "The mean of the same ratios: the figure of JAXopt's example. One slow step moves it.",
        ),
        (
            "Compiling included",
            times(bought.whole),
            "All of the solve without pmap by all of the solve with it, compiling included.",
        ),
        (
            "Efficiency",
            formats.percent(bought.efficiency, places=0),
            "The median speed-up by the number of devices: 100 % is ideal.",
        ),
    ):
        st.metric(label, value, width="content", help=help)


def ends(bought: Speedup) -> str:
    """The interval of the median, and for what it holds; "" of too few iterations."""
    if not math.isfinite(bought.high):
        return ""
    return (
        f" Its 95 % interval is {times(bought.low)} to {times(bought.high)}, over these "
        "iterations; measured anew, with other work on the machine, it may lie elsewhere."
    )


def times(ratio: float) -> str:
    """A ratio as "1.68×"."""
    return f"{ratio:.2f}×"


def details(traces: Traces) -> None:
    """Every solve in a row of figures."""
    bought = traces.speedup
    ratio = bought.median if bought else None
    rows = [row(trace, ratio if trace.pmap else 1.0) for trace in both(traces)]
    swept = [trace for trace in traces.sweep if begun(trace)]
    rows += [row(trace, ratio) for trace, (_, ratio) in zip(swept, traces.scaling, strict=True)]
    text = st.column_config.TextColumn
    widths = {"solve": text(width=112, pinned=True), **{name: text(width=66) for name in FIGURES}}
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        key="solve_details",
        column_config=widths,
        alt="Step time, speed-up and compile time of every solve",
    )
    if said := regression_words.replicas(traces):
        st.caption(said)


def row(trace: Trace, ratio: float | None) -> dict[str, str]:
    """One solve's figures; `ratio`: how many times as fast as the one on one device, if known."""
    devices = formats.count(trace.devices, "device")
    return {
        "solve": f"{devices}, pmap" if trace.pmap else devices,
        "step time": step_time(trace),
        "speed-up": "–" if ratio is None else times(ratio),
        "compile": formats.duration(trace.compile_seconds, fine=True),
        "objective": formats.significant(float(trace.objective[-1]), 4),
    }
