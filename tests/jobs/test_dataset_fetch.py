import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from ensemble import datasets
from ensemble.datasets import original_files, store
from ensemble.datasets.registry import ENTRIES
from ensemble.errors import RunError, StorageError
from ensemble.jobs import dataset_fetch
from ensemble.jobs.dataset_fetch import FETCH, FetchJob, FetchStatus
from ensemble.jobs.job import is_stop_requested, request_job_stop
from ensemble.storage import file_lock
from ensemble.storage.atomic_files import write_json
from ensemble.storage.file_lock import hold_folder_lock
from tests.workers import held_by_a_worker


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def wait(name: str) -> FetchJob | None:
    deadline = time.monotonic() + 120
    while (found := dataset_fetch.read_fetch_job(name)) and found.active:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


@pytest.fixture
def held(folder: Path) -> Iterator[ExitStack]:
    """Holds MNIST's folder, as another preparation does, until it is closed: a fetch waits."""
    fetched = original_files.dataset_download_folder(folder, "mnist")
    fetched.mkdir(parents=True)
    with ExitStack() as until_closed:
        assert until_closed.enter_context(hold_folder_lock(fetched, lambda: pytest.fail("held already")))
        yield until_closed
    for child in at_work():
        child.kill()
        child.wait()


def at_work() -> list[psutil.Process]:
    """The processes that fetch, started by this one."""
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            if FETCH.command in child.cmdline():
                found.append(child)
    return found


def waiting_its_turn() -> FetchJob:
    """The fetch of MNIST, once it has got as far as the folder that is held."""
    deadline = time.monotonic() + 120
    while not ((found := dataset_fetch.read_fetch_job("mnist")) and found.message.startswith("Waiting")):
        assert found is None or found.active, found
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found


@pytest.mark.long
def test_a_dataset_is_prepared_by_one_process_of_its_own_however_often_one_presses(
    folder: Path, held: ExitStack
) -> None:
    assert dataset_fetch.read_fetch_job("mnist") is None
    dataset_fetch.start_fetch("mnist")
    dataset_fetch.start_fetch("mnist")  # before it has said anything itself
    begun = waiting_its_turn()
    dataset_fetch.start_fetch("mnist")  # and while it is at work
    assert [child.pid for child in at_work()] == [begun.status.pid]
    assert begun.status.pid != os.getpid()
    entry = ENTRIES["mnist"]
    sizes = (entry.train_size, entry.test_size)
    parts = [np.zeros((size, *shape), np.uint8) for shape in ((28, 28), ()) for size in sizes]
    store.write_prepared_dataset(folder, entry, parts, "nobody's")  # what it waits for is done by another
    held.close()
    done = wait("mnist")
    assert done is not None
    assert (done.state, done.message, done.status.share) == ("done", "MNIST is ready.", 1.0)
    assert done.status.pid == begun.status.pid
    assert datasets.is_dataset_prepared("mnist")


def test_after_a_fetch_was_killed_a_press_begins_anew(held: ExitStack) -> None:
    dataset_fetch.start_fetch("mnist")
    first = waiting_its_turn()
    os.kill(int(first.status.pid or 0), signal.SIGKILL)
    cut = wait("mnist")
    assert cut is not None
    assert cut.state == "failed"
    assert cut.message.startswith("The process of the download exited unexpectedly: it was killed (SIGKILL) by ")
    assert cut.message.endswith("What has arrived is kept; fetch it again to continue.")
    dataset_fetch.start_fetch("mnist")
    second = waiting_its_turn()
    assert second.state == "running"
    assert second.status.pid != first.status.pid


def test_what_needs_no_fetching_is_done_at_once() -> None:
    dataset_fetch.start_fetch("digits")
    done = wait("digits")
    assert done is not None
    assert (done.state, done.message) == ("done", "Digits is ready.")


def test_one_that_was_asked_to_stop_before_it_began_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ensemble.jobs.store.start_worker", lambda job, action: None)
    request_job_stop(dataset_fetch.start_fetch("mnist"))
    dataset_fetch.execute_fetch("mnist")
    stopped = dataset_fetch.read_fetch_job("mnist")
    assert stopped is not None
    assert stopped.state == "stopped"


def test_what_went_wrong_is_read_in_a_sentence(folder: Path) -> None:
    folder.mkdir()
    (folder / "downloads").write_text("a file where a folder has to be")
    dataset_fetch.start_fetch("kmnist")
    failed = wait("kmnist")
    assert failed is not None
    assert failed.state == "failed"
    assert "ENSEMBLE_DATA" in failed.message


def note(status: FetchStatus) -> Path:
    """What a worker wrote of MNIST's fetching."""
    job = dataset_fetch.create_fetch_job("mnist", status)
    job.path.mkdir(parents=True)
    write_json(job.status_file, dataclasses.asdict(status))
    return job.status_file


def begun(pid: int) -> FetchStatus:
    """What the process of this number wrote when it began to fetch."""
    now = time.time()
    return FetchStatus("running", "Fetching", now, now, pid=pid, host=os.uname().nodename)


def test_a_process_that_is_gone_reads_as_cut_off() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    note(begun(gone.pid))
    found = dataset_fetch.read_fetch_job("mnist")
    assert found is not None
    assert (found.state, found.message) == ("failed", FETCH.describe_death(found.path))


def test_a_number_that_another_process_has_now_reads_as_cut_off() -> None:
    note(begun(os.getpid()))
    job = dataset_fetch.create_fetch_job("mnist")
    with held_by_a_worker(job.path):
        assert dataset_fetch.read_fetch_job("mnist").state == "running"
        assert dataset_fetch.start_fetch("mnist").state == "running", "there is one already"
    assert dataset_fetch.read_fetch_job("mnist").state == "failed", "whoever has its number has no lock"
    # As a version before this one wrote it: nobody can tell whose number that is.
    old = {"state": "running", "fraction": 0.5, "message": "", "pid": os.getpid()}
    write_json(job.status_file, old)
    assert dataset_fetch.read_fetch_job("mnist").state == "failed"


def test_one_that_is_just_ending_is_not_begun_anew_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_lock, "GRACE_SECONDS", 0.05)
    note(replace(begun(os.getpid()), state="stopped"))
    with (
        held_by_a_worker(dataset_fetch.create_fetch_job("mnist").path),
        pytest.raises(RunError, match="fetching of MNIST is still in use: try again"),
    ):
        dataset_fetch.start_fetch("mnist")
    assert dataset_fetch.read_fetch_job("mnist").state == "stopped"


@pytest.mark.long
def test_a_fetch_that_is_stopped_says_so_and_goes_on_at_the_next_press(held: ExitStack) -> None:
    dataset_fetch.start_fetch("mnist")
    assert request_job_stop(waiting_its_turn())
    assert is_stop_requested(dataset_fetch.create_fetch_job("mnist"))
    stopped = wait("mnist")
    assert stopped is not None
    assert stopped.state == "stopped"
    assert not request_job_stop(stopped), "too late is no error"
    assert dataset_fetch.start_fetch("mnist").state == "queued"
    assert waiting_its_turn().state == "running"


def test_a_damaged_note_is_none() -> None:
    note(begun(os.getpid())).write_text('{"state": "run')
    assert dataset_fetch.read_fetch_job("mnist") is None


def test_a_folder_that_cannot_be_made_is_said(folder: Path) -> None:
    folder.write_text("a file where a folder has to be")
    with pytest.raises(StorageError, match="ENSEMBLE_DATA"):
        dataset_fetch.start_fetch("mnist")
