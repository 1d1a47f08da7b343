"""What the other screens import, imported while a person reads the first one."""

import contextlib
import gc
import importlib
import os
import threading
import time

import streamlit as st

from ensemble import runs
from ensemble.errors import EnsembleError
from ensemble.jobs.warm_worker import wanted

SECONDS_TO_READ = 3.0
# The screens that take longest to come up for the first time, and what they draw with.
HEAVY = (
    "pandas",
    "pyarrow",
    "plotly.graph_objects",
    "ensemble.ui.runs.overview",
    "ensemble.ui.predictions.gallery",
    "ensemble.ui.compare.views",
    "ensemble.ui.inspect.shared_epoch",
    "ensemble.ui.inspect.answer",
    "ensemble.ui.inspect.views",
    "ensemble.views.agreement",
    "ensemble.ui.classify.answer.read",
)


@st.cache_resource(show_spinner=False)
def start() -> threading.Thread:
    """The thread that imports, started once for each server."""
    gc.freeze()  # What Streamlit and the first page have imported; see `set_aside`.
    thread = threading.Thread(target=import_them, name="imports", daemon=True)
    if wanted(os.environ):  # As with the warm worker: who wants none gets nothing ready.
        thread.start()
    return thread


def import_them() -> None:
    """Import one after the other, when no run is on its way to its first curve."""
    for name in HEAVY:
        time.sleep(SECONDS_TO_READ if name == HEAVY[0] else 0.05)
        while launching():
            time.sleep(SECONDS_TO_READ)
        importlib.import_module(name)
    set_aside()


def set_aside() -> None:
    """Take what stays for good, such as modules, out of the garbage collector's sight.

    Streamlit collects garbage after each drawing of a page, and all threads wait for it. With
    all that is imported, a look at every object takes longer than drawing the page did.
    """
    gc.collect()
    gc.freeze()


def launching() -> bool:
    """Whether a run is about to train."""
    with contextlib.suppress(EnsembleError, OSError):
        return any(run.active and run.state != "training" for run in runs.list_runs())
    return False
