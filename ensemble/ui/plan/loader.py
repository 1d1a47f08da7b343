"""The maps of a run and what follows from them, once for each version of its predictions.

Shared by every tab and bounded. What comes back is shared too: treat it as read-only.
"""

from typing import Any

import streamlit as st

from ensemble import runs
from ensemble.analysis.planning.plan_choice import PlanChoice, choose_best_plan
from ensemble.planning.plan_grids import PlanGrids, load_plan_grids
from ensemble.ui.shared import loaders

_PlanCacheKey = tuple[Any, ...]


def build_plan_cache_key(run: runs.Run) -> _PlanCacheKey:
    # A file that is replaced or added changes its folder's time.
    folders = (loaders.get_file_version(run.path / what) for what in ("predictions", "validation"))
    return run.id, run.config.dataset, run.data.fingerprint, *folders


def load_plan_maps(run: runs.Run) -> PlanGrids:
    """The maps of a run.

    Raises:
      NotPreparedError: its dataset is not on this machine any more.
      RunError: it was trained elsewhere, or has no predictions that can be read.
    """
    with st.spinner("Judging committees of every size after every epoch …"):
        plan_grids: PlanGrids = _compute_plan_maps(build_plan_cache_key(run), run)
    return plan_grids


# At most 80 MB each, of 8 members on 10,000 images after 10 epochs 6 MB.
@st.cache_resource(max_entries=3, show_spinner=False)
def _compute_plan_maps(place: _PlanCacheKey, _run: runs.Run) -> PlanGrids:
    return load_plan_grids(_run)


def load_best_plan(run: runs.Run, grids: PlanGrids, budget: int, figure: str) -> PlanChoice | None:
    chosen: PlanChoice | None = _compute_best_plan(build_plan_cache_key(run), budget, figure, grids)
    return chosen


@st.cache_resource(max_entries=64, show_spinner=False)
def _compute_best_plan(place: _PlanCacheKey, budget: int, figure: str, _found: PlanGrids) -> PlanChoice | None:
    return choose_best_plan(_found.test, budget, figure, _found.validation)
