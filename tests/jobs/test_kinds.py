"""The table of kinds of jobs names what there is."""

import subprocess
import sys

import pytest

from ensemble.cli.program import WORKERS, imported
from ensemble.jobs import kinds
from ensemble.jobs.dataset_fetch import FetchStatus
from ensemble.jobs.kinds import KINDS, Kind, entry
from ensemble.jobs.status import JobStatus
from ensemble.jobs.uploads.dataset_upload import UploadStatus
from ensemble.race import RaceStatus
from ensemble.regression import SolveStatus
from ensemble.runs import Status
from ensemble.runs.groups.part import GroupStatus
from ensemble.shift import StressStatus
from ensemble.sweeps import SweepStatus

STATUSES = (
    SweepStatus,
    Status,
    GroupStatus,
    StressStatus,
    SolveStatus,
    RaceStatus,
    FetchStatus,
    UploadStatus,
)


def name_of(kind: Kind) -> str:
    return kind.name


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_what_a_kind_names_is_there(kind: Kind) -> None:
    assert callable(entry(kind.work))
    assert WORKERS[kind.command] is kind
    assert imported(kind.command).hidden
    for name in filter(None, (kind.compile,)):
        assert callable(entry(name))


@pytest.mark.parametrize("status", STATUSES, ids=lambda one: one.__name__)
def test_a_status_knows_its_kind_and_how_far_it_is(status: type[JobStatus]) -> None:
    kind = status.kind
    assert kind in KINDS
    assert status().share == 0.0
    half = status(**({kind.step: 3, kind.steps: 6} if kind.steps else {kind.step: 0.5}))
    assert half.share == 0.5
    over = status(**({kind.step: 9, kind.steps: 6} if kind.steps else {kind.step: 1.5}))
    assert over.share == 1.0


def test_no_two_kinds_share_a_word() -> None:
    for words in (
        [one.name for one in KINDS],
        [one.command for one in KINDS],
        [one.title for one in KINDS],
    ):
        assert len(set(words)) == len(words)
    assert {status.kind for status in STATUSES} == set(KINDS)
    assert kinds.TRAINING.active == ("queued", "starting", "training")


def test_what_is_imported_beforehand_is_all_that_a_worker_needs_before_it_trains() -> None:
    """A lock is taken between the press and the first step: its library waits for nobody then."""
    assert "filelock" in kinds.TRAINING.preload
    code = (
        "import sys; from importlib import import_module; from ensemble.jobs import kinds\n"
        "import ensemble.jobs.warm_worker_main\n"
        "for name in kinds.TRAINING.preload: import_module(name)\n"
        "before = set(sys.modules); kinds.entry(kinds.TRAINING.work)\n"
        "kinds.entry(kinds.TRAINING.compile); print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
