"""Sweeps and their trials as the page reads them: once a second at most, for every tab.

What comes back is shared: treat it as read-only.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from ensemble import sweeps
from ensemble.figures.comparison.importances import importances
from ensemble.sweeps import Sweep, Trial
from ensemble.ui.shared import loaders

Result = TypeVar("Result")
Stamp = tuple[Any, ...]


def trials(sweep: Sweep) -> list[Trial]:
    """Its trials; while it is active at most a second old.

    Raises:
      RunError: where they are written down cannot be reached.
    """
    beat = int(time.time()) if sweep.active else 0
    return _trials(str(sweep.path), seen(sweep), beat, sweep)


def seen(sweep: Sweep) -> Stamp:
    """Changes when something in its folder does."""
    return tuple((path.name, loaders.version(path)) for path in sorted(sweep.path.iterdir()))


@st.cache_resource(max_entries=8, show_spinner=False)
def _trials(folder: str, seen: Stamp, beat: int, _sweep: Sweep) -> list[Trial]:
    return sweeps.trials_of(_sweep)


def stamp(every: Sequence[Trial]) -> Stamp:
    """Changes when a trial ends, or another begins."""
    return tuple((one.number, one.state, one.values, one.run_id) for one in every)


def weights(sweep: Sweep, every: Sequence[Trial], goal: str) -> dict[str, float]:
    """`importances` of an objective, reckoned once for each number of complete trials."""
    complete = [one for one in every if one.state == "complete"]
    by = (sweep.id, goal, *stamp(complete))
    return once("weights", by, lambda: importances(sweep.config, complete, goal))


def once(what: str, by: Stamp, make: Callable[[], Result]) -> Result:
    """What `make` makes, made once for all that it follows from.

    Args:
      what: its name.
      by: what it follows from, hashable.
      make: makes it.
    """
    made: Result = _once(what, by, make)
    return made


@st.cache_resource(max_entries=24, show_spinner=False)
def _once(what: str, by: Stamp, _make: Callable[[], Any]) -> Any:
    return _make()
