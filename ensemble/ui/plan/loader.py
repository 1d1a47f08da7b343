"""The maps of a run and what follows from them, once for each version of its predictions.

Shared by every tab and bounded. What comes back is shared too: treat it as read-only.
"""

from typing import Any

import streamlit as st

from ensemble import runs
from ensemble.analysis.planning.choice import Choice, choose
from ensemble.planning.maps import Maps, maps_of
from ensemble.ui.shared import loaders

Place = tuple[Any, ...]


def place(run: runs.Run) -> Place:
    """Changes when the predictions of a run do."""
    # A file that is replaced or added changes its folder's time.
    folders = (loaders.version(run.path / what) for what in ("predictions", "validation"))
    return run.id, run.config.dataset, run.data.fingerprint, *folders


def maps(run: runs.Run) -> Maps:
    """The maps of a run.

    Raises:
      NotPreparedError: its dataset is not on this machine any more.
      RunError: it was trained elsewhere, or has no predictions that can be read.
    """
    with st.spinner("Judging committees of every size after every epoch …"):
        found: Maps = _maps(place(run), run)
    return found


# At most 80 MB each, of 8 members on 10,000 images after 10 epochs 6 MB.
@st.cache_resource(max_entries=3, show_spinner=False)
def _maps(place: Place, _run: runs.Run) -> Maps:
    return maps_of(_run)


def choice(run: runs.Run, found: Maps, budget: int, figure: str) -> Choice | None:
    """The best plan of a run for a budget in passes, by a figure."""
    chosen: Choice | None = _choice(place(run), budget, figure, found)
    return chosen


@st.cache_resource(max_entries=64, show_spinner=False)
def _choice(place: Place, budget: int, figure: str, _found: Maps) -> Choice | None:
    return choose(_found.test, budget, figure, _found.validation)
