"""A run's members for the browser: what it takes to have them answer there, while one draws."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit import runtime

from ensemble import runs
from ensemble.errors import EnsembleError
from ensemble.exchange.capsule.capsule_format import EXACT, ROUNDED
from ensemble.exchange.capsule.capsule_writer import build_member_payload
from ensemble.report import page_classifier
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.runs.parameters import list_parameter_epochs
from ensemble.storage.folders import runs_folder
from ensemble.ui.shared import loaders
from ensemble.wording.run_names import format_run_name

if TYPE_CHECKING:
    from ensemble.recognition.classifier import Classifier

MAX_EXACT_BYTES = 32 * 2**20  # of float32 weights; beyond, float16 are sent
MAX_BYTES = 64 * 2**20  # of what is sent; beyond, the server answers
_MAX_KEPT_RUNS = 3
_COORDINATES = "classify-members"  # under which a tab's members are kept for its browser


@dataclass(frozen=True)
class LiveMembers:
    """Members as a browser takes them.

    Attributes:
      classifier: what its script has to know, without what they reject.
      payload: the weights, in a capsule's form.
      rounded: whether the weights are rounded to float16 to be sent.
    """

    classifier: page_classifier.PageClassifier
    payload: bytes
    rounded: bool


def find_live_members(run: runs.Run, epoch: int) -> LiveMembers | None:
    """The members by an epoch, for the browser; None where the server has to answer.

    That is so of networks that the script does not know, of runs that keep no members in files of
    their own, and of ensembles too large to be sent.
    """
    if not page_classifier.has_page_network(run) or epoch not in list_parameter_epochs(run.path):
        return None
    version = loaders.get_file_version(locate_epoch_file(run.path, "parameters", epoch))
    try:
        return _load_live_members(str(runs_folder()), run.id, epoch, version, run)
    except EnsembleError:
        return None  # What is damaged is said by the server, which opens the members too.


@st.cache_resource(max_entries=_MAX_KEPT_RUNS, show_spinner=False)
def _load_live_members(
    folder: str, run_id: str, epoch: int, version: tuple[int, int], _run: runs.Run
) -> LiveMembers | None:
    size = version[1]
    if size > 2 * MAX_BYTES:
        return None
    rounded = size > MAX_EXACT_BYTES
    weights = ROUNDED if rounded else EXACT
    classifier = page_classifier.describe_page_members(_run, epoch, format_run_name(_run), None)
    return LiveMembers(classifier, build_member_payload(_run, epoch, weights), rounded)


def serve_live_members(members: LiveMembers) -> str:
    address: str = runtime.get_instance().media_file_mgr.add(members.payload, "application/octet-stream", _COORDINATES)
    return address


def build_live_rejection(run: runs.Run, classifier: Classifier | None, refuse: float) -> dict[str, Any] | None:
    """What the members reject as the browser takes it; None until the server has found out."""
    if classifier is None or not classifier.is_calibrated:
        return None
    rejection = page_classifier.build_page_rejection(run, classifier, refuse)
    return asdict(rejection) if rejection else None
