"""A disk without locks is said in a sentence, before anything is made."""

import errno
import fcntl
import os

import pytest

from ensemble import regression, runs, sweeps
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.regression import LbfgsConfig
from ensemble.storage.folders import runs_folder
from tests.sweeps.light import light_config

MAKERS = {
    "run": lambda: runs.create_run(EnsembleConfig(members=1, epochs=1, network="logistic")),
    "sweep": lambda: sweeps.create_sweep(light_config()),
    "regression": lambda: regression.create_regression(LbfgsConfig()),
}


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS])
@pytest.mark.parametrize("maker", MAKERS)
def test_nothing_is_made_on_a_disk_that_knows_no_locks(
    maker: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(RunError, match="cannot be locked, so two workers could train") as found:
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
