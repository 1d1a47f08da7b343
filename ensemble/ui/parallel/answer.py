"""The answer of a regression: the sentence, its figures, and what they hold for."""

import math
from collections.abc import Sequence

import streamlit as st

from ensemble import regression
from ensemble.regression import RegressionTraces
from ensemble.regression.pmap_choice import load_pmap_choice
from ensemble.regression.speedup import Speedup
from ensemble.views.regression import tabulate_solves
from ensemble.wording import formats
from ensemble.wording.runs import regression as regression_words
from ensemble.wording.runs.regression import format_speedup

_COMPILE_TIME_HELP = (
    "Tracing and compiling, before the first iteration. A problem of a size that was solved "
    "here before is taken from the cache of compiled programs, which takes less."
)
_SOLVE_COLUMNS = ("step time", "speed-up", "compile", "objective")


def show_regression_answer(solve: regression.Regression, traces: RegressionTraces) -> None:
    """The answer in a sentence, then its figures; nothing before the first iteration."""
    both = solve.config.pmap == "both"
    if pmap_gain := regression_words.describe_pmap_gain(traces, solve.active and both):
        st.markdown(f"#### {pmap_gain}")
        _show_solve_metrics(traces)
    if solve.config.pmap == "faster" and (choice := load_pmap_choice(solve.path)):
        st.caption(regression_words.describe_pmap_choice(choice))
    if pmap_gain and (what := regression_words.explain_shared_cores(solve.status)):
        st.caption(f":material/info: {what}")


def _show_solve_metrics(traces: RegressionTraces) -> None:
    with st.container(horizontal=True, gap="medium", key="solve_figures"):
        if bought := traces.speedup:
            _show_metrics(_list_speedup_metrics(bought))
        compiled = [
            formats.format_duration(trace.compile_seconds, fine=True)
            for trace in (traces.without, traces.with_pmap)
            if trace
        ]
        ways = [way for way, trace in (("without", traces.without), ("with", traces.with_pmap)) if trace]
        label = f"Compiling, {' and '.join(ways)}"
        with st.popover("More figures", type="tertiary", key="solve_more_figures"):
            if bought:
                _show_metrics(_list_further_metrics(bought))
            st.metric(label, " · ".join(compiled), width="content", help=_COMPILE_TIME_HELP)


def _show_metrics(metrics: Sequence[tuple[str, str, str]]) -> None:
    for label, value, help in metrics:
        st.metric(label, value, width="content", help=help)


def _list_speedup_metrics(bought: Speedup) -> list[tuple[str, str, str]]:
    return [
        (
            "Speed-up",
            format_speedup(bought.pace),
            "Median step time without pmap divided by the median with pmap, without compiling.",
        ),
        (
            "Compiling included",
            format_speedup(bought.whole),
            "All of the solve without pmap by all of the solve with it, compiling included.",
        ),
    ]


def _list_further_metrics(bought: Speedup) -> list[tuple[str, str, str]]:
    return [
        (
            "Median ratio",
            format_speedup(bought.median),
            "The time without pmap divided by the time with it, iteration by iteration: the "
            f"median of these ratios.{_describe_speedup_interval(bought)}",
        ),
        (
            "Mean ratio",
            format_speedup(bought.mean),
            "The mean of the same ratios, as in JAXopt's example. One slow step changes it.",
        ),
        (
            "Efficiency",
            formats.format_percent(bought.efficiency, places=0),
            "The median ratio divided by the number of devices. 100 % is ideal.",
        ),
    ]


def _describe_speedup_interval(bought: Speedup) -> str:
    """The interval of the median, and for what it holds; "" of too few iterations."""
    if not math.isfinite(bought.high):
        return ""
    return (
        f" Its 95 % interval is {format_speedup(bought.low)} to {format_speedup(bought.high)}, over these iterations. "
        "Another measurement may differ, for example if the machine is busy."
    )


def show_solve_table(traces: RegressionTraces) -> None:
    text = st.column_config.TextColumn
    widths = {"solve": text(width=112, pinned=True), **{name: text(width=66) for name in _SOLVE_COLUMNS}}
    st.dataframe(
        tabulate_solves(traces),
        hide_index=True,
        key="solve_details",
        column_config=widths,
        alt="Step time, speed-up and compile time of every solve",
    )
    if replica_agreement := regression_words.describe_replica_agreement(traces):
        st.caption(replica_agreement)
