"""What the screen Compare reckons and draws, once for each state of the runs.

Shared by every tab and bounded. What comes back is shared too: treat it as read-only.
"""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from ensemble import runs
from ensemble.comparison.points import points
from ensemble.figures.comparison.columns import Column
from ensemble.figures.comparison.columns import columns as columns_of
from ensemble.ui.shared import loaders

Result = TypeVar("Result")
Stamp = tuple[Any, ...]
MANY = 10  # runs: the predictions of more take a while to read for the first time


def stamp(every: Sequence[runs.Run]) -> Stamp:
    """Changes when something of these runs does: their files, their names, their order."""
    return tuple(
        (
            run.id,
            run.name,
            run.status.state,
            run.status.epoch,
            loaders.version(run.path / "history.jsonl"),
        )
        for run in every
    )


def columns(every: Sequence[runs.Run]) -> list[Column]:
    """Every setting and figure of the runs, R of them."""
    return once("columns", stamp(every), (), lambda: columns_of(points(every)))


def once(what: str, seen: Stamp, by: Stamp, make: Callable[[], Result]) -> Result:
    """What `make` makes, made once for each state of the runs.

    Args:
      what: its name.
      seen: the state of the runs, from `stamp`.
      by: what else it follows from, small and hashable.
      make: makes it.
    """
    wait = st.spinner("Reading the runs …") if len(seen) > MANY else contextlib.nullcontext()
    with wait:  # It says so only where it takes more than a moment.
        made: Result = _once(what, seen, by, make)
    return made


# The largest, curves of the members of 50 runs as a figure, take some megabytes.
@st.cache_resource(max_entries=24, show_spinner=False)
def _once(what: str, seen: Stamp, by: Stamp, _make: Callable[[], Any]) -> Any:
    return _make()
