"""A disk without locks is said in a sentence, before anything is made."""

import errno
import fcntl
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ensemble import regression, runs, sweeps
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.jobs.status import write_status
from ensemble.jobs.store import StoredJob
from ensemble.regression import LbfgsConfig
from ensemble.runs.checkpoints.folders import CHECKPOINTS_FOLDER
from ensemble.shift.stress_job import start_stress
from ensemble.storage.folders import runs_folder
from tests.sweeps.light import light_config

NOT_BEGUN = "Nothing was begun: files in .* cannot be locked"
MAKERS: dict[str, Callable[[], StoredJob]] = {
    "run": lambda: runs.create_run(EnsembleConfig(members=1, epochs=1, network="logistic")),
    "sweep": lambda: sweeps.create_sweep(light_config()),
    "regression": lambda: regression.create_regression(LbfgsConfig()),
}


def lose_locks(monkeypatch: pytest.MonkeyPatch, number: int = errno.ENOLCK) -> None:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS])
@pytest.mark.parametrize("maker", MAKERS)
def test_nothing_is_made_on_a_disk_that_knows_no_locks(
    maker: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_locks(monkeypatch, number)
    with pytest.raises(RunError, match="cannot be locked, so two workers could do") as found:
        MAKERS[maker]()
    assert str(runs_folder()) in str(found.value)
    assert "Point ENSEMBLE_RUNS at a folder on a disk that has locks" in str(found.value)
    assert list(runs_folder().iterdir()) == []


def test_a_disk_that_locks_files_alone_is_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    import stat

    real = fcntl.flock

    def flock(descriptor: int, operation: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    run = MAKERS["run"]()
    assert [path.name for path in runs_folder().iterdir()] == [run.id]


RESUMERS: dict[str, Callable[[str], object]] = {"run": runs.resume_run, "sweep": sweeps.resume_sweep}


def read_folder(folder: Path) -> dict[str, bytes]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@pytest.mark.parametrize("kind", RESUMERS)
def test_nothing_is_resumed_on_a_disk_that_knows_no_locks(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    job = MAKERS[kind]()
    write_status(job.path, replace(job.status, state="stopped"))
    before = read_folder(runs_folder())
    lose_locks(monkeypatch)
    with pytest.raises(RunError, match=NOT_BEGUN):
        RESUMERS[kind](job.id)
    assert read_folder(runs_folder()) == before


def test_no_run_is_measured_under_shift_on_a_disk_that_knows_no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    run = MAKERS["run"]()
    (run.path / CHECKPOINTS_FOLDER / "12").mkdir(parents=True)
    before = sorted(run.path.rglob("*"))
    lose_locks(monkeypatch)
    with pytest.raises(RunError, match=NOT_BEGUN):
        start_stress(run.id)
    assert sorted(run.path.rglob("*")) == before
