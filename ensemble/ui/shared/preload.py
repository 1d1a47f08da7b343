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
from ensemble.jobs.warm_worker import is_warm_worker_enabled

_READING_TIME_S = 3.0
# The screens that take longest to come up for the first time, and what they draw with.
_HEAVY_MODULES = (
    "pandas",
    "pyarrow",
    "plotly.graph_objects",
    "ensemble.ui.runs.overview",
    "ensemble.ui.predictions.gallery",
    "ensemble.ui.compare.views",
    "ensemble.ui.inspect.shared_epoch",
    "ensemble.ui.inspect.answer",
    "ensemble.ui.inspect.views",
    "ensemble.views.members.agreement",
    "ensemble.ui.classify.answer.picture_answer",
)


@st.cache_resource(show_spinner=False)
def start_preload() -> threading.Thread:
    gc.freeze()  # What Streamlit and the first page have imported; see `freeze_loaded_objects`.
    thread = threading.Thread(target=_import_heavy_modules, name="imports", daemon=True)
    if is_warm_worker_enabled(os.environ):  # As with the warm worker: who wants none gets nothing ready.
        thread.start()
    return thread


def _import_heavy_modules() -> None:
    for name in _HEAVY_MODULES:
        time.sleep(_READING_TIME_S if name == _HEAVY_MODULES[0] else 0.05)
        while _is_run_launching():
            time.sleep(_READING_TIME_S)
        importlib.import_module(name)
    freeze_loaded_objects()


def freeze_loaded_objects() -> None:
    """Take what stays for good, such as modules, out of the garbage collector's sight.

    Streamlit collects garbage after each drawing of a page, and all threads wait for it. With
    all that is imported, a look at every object takes longer than drawing the page did.
    """
    gc.collect()
    gc.freeze()


def _is_run_launching() -> bool:
    with contextlib.suppress(EnsembleError, OSError):
        return any(run.active and run.state != "training" for run in runs.list_runs())
    return False
