"""The ways from runs to Compare: those that are ticked, all with a tag, all of a sweep."""

from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.runs.annotations.baseline import read_baseline
from ensemble.ui.runs.filters import SWEEP
from ensemble.ui.shared import address
from ensemble.wording import escaping, formats

MOST = 50  # runs that Compare takes
PAGE, ICON = "pages/compare.py", ":material/compare_arrows:"
MOST_TAGS = 3  # of a run that has many


def compare(chosen: Sequence[runs.Run]) -> None:
    """To these runs beside each other; more of them than Compare takes have no way there."""
    link(
        f"Compare {formats.count(len(chosen), 'run')}",
        address.RUNS.link(tuple(run.id for run in chosen[:MOST])),
        len(chosen) > MOST,
    )


def too_many(count: int) -> str:
    """Why so many cannot be compared, and what to do."""
    return f"Compare takes 2 to {MOST} runs: untick {count - MOST:,}, or give those you mean a tag."


def of_run(run: runs.Run, every: Sequence[runs.Run]) -> None:
    """From one run: to its dataset's baseline, and to all that share a tag or a sweep with it."""
    baseline = read_baseline(run.config.dataset)
    if baseline and baseline != run.id:
        link("Compare with the baseline", address.RUNS.link((baseline, run.id)))
    for tag in run.tags[:MOST_TAGS]:
        of_tag(tag, every)


def of_tag(tag: str, every: Sequence[runs.Run]) -> None:
    """To all with this tag, or all trials of the sweep whose id it is; nothing for one alone."""
    if (count := sum(tag in run.tags for run in every)) < 2:
        return
    if SWEEP.fullmatch(tag):
        link(f"Compare all {count:,} of its sweep", address.SWEEP.link(tag))
    else:
        link(f"Compare all {count:,} tagged {escaping.markdown(tag)}", address.TAG.link(tag))


def link(label: str, where: dict[str, str], disabled: bool = False) -> None:
    """A link to Compare.

    Args:
      label: in Markdown.
      where: the words of its address.
      disabled: whether it leads nowhere just now.
    """
    st.page_link(
        PAGE, label=label, icon=ICON, query_params=where, width="content", disabled=disabled
    )
