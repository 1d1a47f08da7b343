"""The table of kinds of jobs names what there is."""

import subprocess
import sys

import pytest

from ensemble.acquisition.learning_job import LearningStatus
from ensemble.cli.program import import_command, list_worker_kinds
from ensemble.jobs import kinds
from ensemble.jobs.dataset_fetch import FetchStatus
from ensemble.jobs.kinds import JobKind, list_job_kinds, load_entry_point
from ensemble.jobs.status import JobStatus
from ensemble.jobs.uploads.dataset_upload import UploadStatus
from ensemble.recognition.calibration_job import CalibrationStatus
from ensemble.regression import RegressionStatus
from ensemble.runs import Status
from ensemble.runs.groups.group import GroupStatus
from ensemble.shift import StressStatus
from ensemble.sweeps import SweepStatus

STATUSES = (
    SweepStatus,
    Status,
    GroupStatus,
    StressStatus,
    RegressionStatus,
    FetchStatus,
    UploadStatus,
    CalibrationStatus,
    Status,
    LearningStatus,
)


def name_of(kind: JobKind) -> str:
    return kind.name


@pytest.mark.parametrize("kind", list_job_kinds(), ids=name_of)
def test_what_a_kind_names_is_there(kind: JobKind) -> None:
    assert not kind.work_entry or callable(load_entry_point(kind.work_entry))
    assert list_worker_kinds()[kind.command] is kind
    assert import_command(kind.command).hidden
    for name in filter(None, (kind.compile_entry,)):
        assert callable(load_entry_point(name))


@pytest.mark.parametrize("status", STATUSES, ids=lambda one: one.__name__)
def test_a_status_knows_its_kind_and_how_far_it_is(status: type[JobStatus]) -> None:
    kind = status.kind
    assert kind in list_job_kinds()
    assert status().share == 0.0
    half = status(**({kind.progress_field: 3, kind.total_field: 6} if kind.total_field else {kind.progress_field: 0.5}))
    assert half.share == 0.5
    over = status(**({kind.progress_field: 9, kind.total_field: 6} if kind.total_field else {kind.progress_field: 1.5}))
    assert over.share == 1.0


def test_no_two_kinds_share_a_word() -> None:
    for words in (
        [one.name for one in list_job_kinds()],
        [one.command for one in list_job_kinds()],
        [one.title for one in list_job_kinds()],
    ):
        assert len(set(words)) == len(words)
    assert {status.kind for status in STATUSES} == set(list_job_kinds())
    assert kinds.TRAINING.active_states == ("queued", "starting", "training")


def test_what_is_imported_beforehand_is_all_that_a_worker_needs_before_it_trains() -> None:
    """A lock is taken between the press and the first step: its library waits for nobody then."""
    assert "filelock" in kinds.TRAINING.preload
    code = (
        "import sys; from importlib import import_module; from ensemble.jobs import kinds\n"
        "import ensemble.jobs.warm_worker_main\n"
        "for name in kinds.TRAINING.preload: import_module(name)\n"
        "before = set(sys.modules); kinds.load_entry_point(kinds.TRAINING.work_entry)\n"
        "kinds.load_entry_point(kinds.TRAINING.compile_entry)\n"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
