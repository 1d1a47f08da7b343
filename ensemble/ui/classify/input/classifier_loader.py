"""A run's members being opened to be asked, in the background: the page can be used meanwhile."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent import futures
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from ensemble import runs
from ensemble.errors import EnsembleError, RunError
from ensemble.recognition import calibration_job
from ensemble.runs.parameters import list_parameter_epochs
from ensemble.storage.folders import runs_folder
from ensemble.ui.shared import preload
from ensemble.ui.shared.guard import BUG_MESSAGE, guard_page
from ensemble.wording import escaping, formats

if TYPE_CHECKING:
    from ensemble.recognition.classifier import Classifier

_MAX_OPEN_CLASSIFIERS = 3
OPENING_PATIENCE_S = 0.25  # seconds that a page waits before it says that it does
POLL_INTERVAL_S = 0.4
_CALIBRATION_POLL_INTERVAL_S = 1.0
_RELEASED_MESSAGE = "Other members were opened since. Open the page again to go on."
LOG = logging.getLogger("ensemble")
_IMPORTED = threading.Event()  # what opens members, JAX first of all


def list_classifier_epochs(run: runs.Run) -> Sequence[int]:
    """The epochs whose members can be asked, rising.

    Told from the run's files as long as JAX is not there: its import takes a second. Only runs
    of long ago have epochs beyond these.
    """
    from ensemble.runs.members import list_member_epochs

    kept = () if _IMPORTED.is_set() else list_parameter_epochs(run.path)
    return kept or list_member_epochs(run.id)


@dataclass(eq=False)
class _ClassifierOpening:
    """A run's members being opened, and what they reject being set after that.

    Attributes:
      opened: the members, which reject nothing yet where `calibrated` is not done.
      calibrated: why nothing can be rejected, in a sentence; "" once that is set.
      share: of the setting that is done, in [0, 1].
      message: what is being done for it.
      released: whether nobody is shown these members any more: others have come since.
    """

    opened: Future[Classifier]
    calibrated: Future[str]
    share: float = 0.0
    message: str = ""
    released: bool = False

    def report(self, share: float, message: str) -> None:
        """Note how far the setting is.

        Raises:
          _OpeningReleasedError: nobody waits for it any more.
        """
        if self.released:
            raise _OpeningReleasedError
        self.share, self.message = share, message

    def release(self) -> None:
        self.released = True


class _OpeningReleasedError(Exception):
    """Nobody is shown the members any more for which something was waited for."""


def wait_for_classifier(run: runs.Run, epoch: int) -> Classifier:
    """The run's members at that epoch, with what they reject; waits until both are there.

    Args:
      epoch: one of `list_classifier_epochs`.

    Raises:
      EnsembleError: they cannot be opened; one sentence says why.
    """
    opening = _start_opening(run, epoch)
    futures.wait([opening.calibrated])
    return opening.opened.result()


def poll_classifier(run: runs.Run, epoch: int, patience: float) -> Classifier | None:
    """The run's members, waited for so many seconds; None where they are not open by then.

    They may reject nothing yet: `Classifier.is_calibrated` says.

    Raises:
      EnsembleError: they cannot be opened; one sentence says why.
    """
    opening = _start_opening(run, epoch)
    if not opening.opened.done():
        futures.wait([opening.calibrated], patience)
    return opening.opened.result() if opening.opened.done() else None


def _find_calibration(run: runs.Run, epoch: int) -> _ClassifierOpening:
    return _open_classifier(str(runs_folder()), run.id, epoch)


def _start_opening(run: runs.Run, epoch: int) -> _ClassifierOpening:
    """The opening; once more where one has failed: what was missing may be there by now."""
    key = str(runs_folder()), run.id, epoch
    opening = _open_classifier(*key)
    if opening.calibrated.done() and (opening.opened.exception() or opening.calibrated.result()):
        _open_classifier.clear(*key)
    return opening


@st.cache_resource(max_entries=_MAX_OPEN_CLASSIFIERS, show_spinner=False, on_release=_ClassifierOpening.release)
def _open_classifier(folder: str, run_id: str, epoch: int) -> _ClassifierOpening:
    opening = _ClassifierOpening(Future(), Future())
    threading.Thread(
        target=_open_classifier_in_thread, args=(opening, run_id, epoch), name="members", daemon=True
    ).start()
    return opening


def _open_classifier_in_thread(opening: _ClassifierOpening, run_id: str, epoch: int) -> None:
    try:
        from ensemble.recognition.classifier import open_classifier

        classifier = open_classifier(run_id, epoch, calibrated=False)
        if kept := classifier.has_kept_calibration():
            classifier.calibrate()
        classifier.read_images(np.zeros((1, *classifier.shape), np.uint8))
    except Exception as error:
        opening.opened.set_exception(error)
        opening.calibrated.set_result(str(error))
        return
    if not _IMPORTED.is_set():
        _IMPORTED.set()
        preload.freeze_loaded_objects()
    opening.opened.set_result(classifier)
    problem = "" if kept else _calibrate_classifier(opening, classifier)
    opening.calibrated.set_result(problem)


def _calibrate_classifier(opening: _ClassifierOpening, classifier: Classifier) -> str:
    """Have a process of its own compute what the classifier rejects; why that failed, else ""."""
    try:
        try:
            if problem := calibration_job.wait_for_calibration(
                classifier.run_id, classifier.epoch, classifier.has_kept_calibration, opening.report
            ):
                return problem
        except RunError:  # Where no job can be begun, as on a full disk, it is computed here.
            LOG.exception("What is rejected is set in the server")
        classifier.calibrate()  # Also what was too large to be kept.
        return ""
    except _OpeningReleasedError:
        return _RELEASED_MESSAGE
    except EnsembleError as error:
        return str(error)
    except Exception:
        LOG.exception("What a run rejects could not be set")
        return BUG_MESSAGE


def show_opening_progress(run: runs.Run, epoch: int, handed_in: bool, in_browser: bool = False) -> None:
    st.fragment(_refresh_opening_progress, run_every=POLL_INTERVAL_S)(run, epoch, handed_in, in_browser)


def _refresh_opening_progress(run: runs.Run, epoch: int, handed_in: bool, in_browser: bool) -> None:
    """The body of `show_opening_progress`."""
    with guard_page():
        if _find_calibration(run, epoch).opened.done():
            st.rerun()  # The page shows what came of it, also where they cannot be opened.
        if in_browser and not handed_in:
            st.caption(
                ":material/hourglass_top: The server is loading them too, to explain answers and "
                "to read numbers of several digits."
            )
            return
        then = "Your pictures are read then." if handed_in else "You can continue meanwhile."
        who = formats.format_count(run.config.members, "member")
        st.caption(f":material/hourglass_top: Loading {who}: up to twenty seconds the first time. {then}")


def show_calibration_progress(run: runs.Run, epoch: int) -> None:
    """Says that nothing is rejected yet, how far that is or why it fails; draws the page anew."""
    opening = _find_calibration(run, epoch)
    if opening.calibrated.done():
        if problem := opening.calibrated.result():
            st.warning(
                f"Nothing is rejected: what the members would reject could not be set. "
                f"{escaping.escape_markdown(problem)}",
                icon=":material/warning:",
            )
        return
    st.fragment(_refresh_calibration_progress, run_every=_CALIBRATION_POLL_INTERVAL_S)(run, epoch)


def _refresh_calibration_progress(run: runs.Run, epoch: int) -> None:
    """The body of `show_calibration_progress` while it is being set."""
    with guard_page():
        opening = _find_calibration(run, epoch)
        if opening.calibrated.done():
            st.rerun()
        st.caption(
            ":material/hourglass_top: Nothing is rejected yet: what is unlike the dataset to these "
            "members is being found out, once for this epoch. "
            f"{escaping.escape_markdown(opening.message)}"
        )
        st.progress(opening.share)
