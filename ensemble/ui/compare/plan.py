"""Plan: how many members for how many epochs, of one of the runs that are compared."""

from collections.abc import Sequence
from importlib import import_module

import streamlit as st

from ensemble import runs
from ensemble.ui.compare import controls
from ensemble.ui.shared import address
from ensemble.wording.run_names import told_apart


def show(every: Sequence[runs.Run]) -> None:
    """A run to choose, and its plan."""
    names = {run.id: told_apart(run) for run in every}
    chosen = controls.one(address.RUN, "Plan from", names, every[0].id, width=420,
                          help="From the predictions that this run keeps of every "
                          "epoch.")  # fmt: skip
    run = next(one for one in every if one.id == chosen)
    try:
        panel = import_module("ensemble.ui.plan.panel")
    except ModuleNotFoundError:
        st.info("Plans are not part of this version.", icon=":material/event_busy:")
        return
    panel.show(run)
