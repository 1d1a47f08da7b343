"""The ways from runs to Compare: those that are ticked, all with a tag, all of a sweep."""

from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.runs.annotations.baseline import read_baseline
from ensemble.ui.runs.filters import SWEEP_ID_PATTERN
from ensemble.ui.shared import address
from ensemble.wording import escaping, formats

MAX_COMPARED_RUNS = 50  # runs that Compare takes
_COMPARE_PAGE, _COMPARE_ICON = "pages/compare.py", ":material/compare_arrows:"
MAX_TAG_LINKS = 3  # of a run that has many
MIXED_TASKS = "Classifications and regressions have no figures in common: tick runs of one task to compare them."


def show_selection_compare_link(chosen: Sequence[runs.Run]) -> None:
    """To these runs beside each other; more of them than Compare takes have no way there."""
    _show_compare_link(
        f"Compare {formats.format_count(len(chosen), 'run')}",
        address.RUNS.build_query(tuple(run.id for run in chosen[:MAX_COMPARED_RUNS])),
        len(chosen) > MAX_COMPARED_RUNS or not have_one_task(chosen),
    )


def have_one_task(chosen: Sequence[runs.Run]) -> bool:
    """Whether these runs can be compared, as all of them predict classes or all numbers."""
    return len({run.task for run in chosen}) <= 1


def describe_compare_limit(count: int) -> str:
    return (
        f"Compare takes 2 to {MAX_COMPARED_RUNS} runs: untick {count - MAX_COMPARED_RUNS:,}, or "
        f"give those you mean a tag."
    )


def show_run_compare_links(run: runs.Run, every: Sequence[runs.Run]) -> None:
    """From one run: to its dataset's baseline, and to all that share a tag or a sweep with it."""
    baseline = read_baseline(run.config.dataset) if run.entry else None
    if baseline and baseline != run.id:
        _show_compare_link("Compare with the baseline", address.RUNS.build_query((baseline, run.id)))
    for tag in run.tags[:MAX_TAG_LINKS]:
        show_tag_compare_link(tag, every)


def show_tag_compare_link(tag: str, every: Sequence[runs.Run]) -> None:
    """To all with this tag, or all trials of the sweep whose id it is; nothing for one alone."""
    if (count := sum(tag in run.tags for run in every)) < 2:
        return
    if SWEEP_ID_PATTERN.fullmatch(tag):
        _show_compare_link(f"Compare all {count:,} of its sweep", address.SWEEP.build_query(tag))
    else:
        _show_compare_link(
            f"Compare all {count:,} tagged {escaping.escape_markdown(tag)}", address.TAG.build_query(tag)
        )


def _show_compare_link(label: str, where: dict[str, str], disabled: bool = False) -> None:
    st.page_link(_COMPARE_PAGE, label=label, icon=_COMPARE_ICON, query_params=where, width="content", disabled=disabled)
