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
from ensemble.runs.parameters import kept_epochs
from ensemble.storage.folders import runs_folder
from ensemble.ui.shared import preload
from ensemble.ui.shared.guard import guarded
from ensemble.wording import escaping, formats

if TYPE_CHECKING:
    from ensemble.recognition.classifier import Classifier

OPEN_AT_ONCE = 3
PATIENCE = 0.25  # seconds that a page waits before it says that it does
EVERY = 0.4
_IMPORTED = threading.Event()  # what opens members, JAX first of all


def epochs(run: runs.Run) -> Sequence[int]:
    """The epochs whose members can be asked, rising.

    Told from the run's files as long as JAX is not there: its import takes a second. Only runs
    of long ago have epochs beyond these.
    """
    from ensemble.runs.members import member_epochs

    kept = () if _IMPORTED.is_set() else kept_epochs(run.path)
    return kept or member_epochs(run.id)


def classifier(run: runs.Run, epoch: int) -> Classifier:
    """The run's members at that epoch, ready to be asked; waits until they are.

    Args:
      run: whose members.
      epoch: one of `epochs`.

    Raises:
      EnsembleError: they cannot be opened; one sentence says why.
    """
    asked = str(runs_folder()), run.id, epoch
    job = _job(*asked)
    if job.exception():
        _job.clear(*asked)  # So that it is tried again when what was missing is there.
    return job.result()


def opened(run: runs.Run, epoch: int, patience: float) -> Classifier | None:
    """As `classifier`; None where they are still being opened after `patience` seconds."""
    job = _job(str(runs_folder()), run.id, epoch)
    return classifier(run, epoch) if futures.wait([job], patience).done else None


@st.cache_resource(max_entries=OPEN_AT_ONCE, show_spinner=False)
def _job(folder: str, run_id: str, epoch: int) -> Future[Classifier]:
    job: Future[Classifier] = Future()
    threading.Thread(target=_open, args=(job, run_id, epoch), name="members", daemon=True).start()
    return job


def _open(job: Future[Classifier], run_id: str, epoch: int) -> None:
    """Open the members, and have what the first answer needs compiled and measured."""
    try:
        from ensemble.recognition.classifier import open_classifier

        asked = open_classifier(run_id, epoch)
        asked.read(np.zeros((1, *asked.shape), np.uint8))
    except Exception as error:
        job.set_exception(error)
        return
    if not _IMPORTED.is_set():
        _IMPORTED.set()
        preload.set_aside()
    job.set_result(asked)


def wait(run: runs.Run, epoch: int, handed_in: bool) -> None:
    """Says what is waited for, and draws the page anew when it is there."""
    st.fragment(waiting, run_every=EVERY)(run, epoch, handed_in)


def waiting(run: runs.Run, epoch: int, handed_in: bool) -> None:
    """The body of `wait`."""
    with guarded():
        if _job(str(runs_folder()), run.id, epoch).done():
            st.rerun()  # The page shows what came of it, also where they cannot be opened.
        then = "What you have handed in is read then." if handed_in else "Go on meanwhile."
        noun = run.data.noun
        who = formats.count(run.config.members, "member")
        st.caption(
            f":material/hourglass_top: Opening the {who} of epoch {epoch}: a few seconds; the "
            f"first time ten to twenty, for they are shown {escaping.markdown(noun)}s that they "
            "have not learnt from. "
            f"{then}"
        )
