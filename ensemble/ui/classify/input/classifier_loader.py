"""A run's members being opened to be asked, in the background: the page can be used meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent import futures
from concurrent.futures import Future
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from ensemble import runs
from ensemble.runs.parameters import list_parameter_epochs
from ensemble.storage.folders import runs_folder
from ensemble.ui.shared import preload
from ensemble.ui.shared.guard import guard_page
from ensemble.wording import formats

if TYPE_CHECKING:
    from ensemble.recognition.classifier import Classifier

MAX_OPEN_CLASSIFIERS = 3
OPENING_PATIENCE_S = 0.25  # seconds that a page waits before it says that it does
POLL_INTERVAL_S = 0.4
_IMPORTED = threading.Event()  # what opens members, JAX first of all


def list_classifier_epochs(run: runs.Run) -> Sequence[int]:
    """The epochs whose members can be asked, rising.

    Told from the run's files as long as JAX is not there: its import takes a second. Only runs
    of long ago have epochs beyond these.
    """
    from ensemble.runs.members import list_member_epochs

    kept = () if _IMPORTED.is_set() else list_parameter_epochs(run.path)
    return kept or list_member_epochs(run.id)


def wait_for_classifier(run: runs.Run, epoch: int) -> Classifier:
    """The run's members at that epoch, ready to be asked; waits until they are.

    Args:
      run: whose members.
      epoch: one of `list_classifier_epochs`.

    Raises:
      EnsembleError: they cannot be opened; one sentence says why.
    """
    key = str(runs_folder()), run.id, epoch
    job = _start_opening_classifier(*key)
    if job.exception():
        _start_opening_classifier.clear(
            *key
        )  # So that it is tried again when what was missing is there.
    return job.result()


def poll_classifier(run: runs.Run, epoch: int, patience: float) -> Classifier | None:
    """As `wait_for_classifier`; None where they are still being opened after `patience` seconds."""
    job = _start_opening_classifier(str(runs_folder()), run.id, epoch)
    return wait_for_classifier(run, epoch) if futures.wait([job], patience).done else None


@st.cache_resource(max_entries=MAX_OPEN_CLASSIFIERS, show_spinner=False)
def _start_opening_classifier(folder: str, run_id: str, epoch: int) -> Future[Classifier]:
    job: Future[Classifier] = Future()
    threading.Thread(
        target=_open_classifier_in_thread, args=(job, run_id, epoch), name="members", daemon=True
    ).start()
    return job


def _open_classifier_in_thread(job: Future[Classifier], run_id: str, epoch: int) -> None:
    """Open the members, and have what the first answer needs compiled and measured."""
    try:
        from ensemble.recognition.classifier import open_classifier

        classifier = open_classifier(run_id, epoch)
        classifier.read_images(np.zeros((1, *classifier.shape), np.uint8))
    except Exception as error:
        job.set_exception(error)
        return
    if not _IMPORTED.is_set():
        _IMPORTED.set()
        preload.freeze_loaded_objects()
    job.set_result(classifier)


def show_opening_progress(run: runs.Run, epoch: int, handed_in: bool) -> None:
    """Says what is waited for, and draws the page anew when it is there."""
    st.fragment(refresh_opening_progress, run_every=POLL_INTERVAL_S)(run, epoch, handed_in)


def refresh_opening_progress(run: runs.Run, epoch: int, handed_in: bool) -> None:
    """The body of `show_opening_progress`."""
    with guard_page():
        if _start_opening_classifier(str(runs_folder()), run.id, epoch).done():
            st.rerun()  # The page shows what came of it, also where they cannot be opened.
        then = "Your pictures are read then." if handed_in else "You can continue meanwhile."
        who = formats.format_count(run.config.members, "member")
        st.caption(
            f":material/hourglass_top: Loading {who}: up to twenty seconds the first time. {then}"
        )
