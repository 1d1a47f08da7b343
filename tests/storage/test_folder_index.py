"""A list of all runs asks the disk for little, and misses no change."""

import os
import time
from dataclasses import replace

import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs import queue
from ensemble.jobs.status import write_status
from ensemble.jobs.store import is_job_settled
from ensemble.runs.annotations.tags import write_tags
from ensemble.shift import StressStatus
from ensemble.shift.results import stress_folder
from ensemble.storage import folder_index
from ensemble.storage.folder_index import FolderIndex


@pytest.fixture
def finished() -> runs.Run:
    """A run that finished an hour ago."""
    run = runs.create_run(EnsembleConfig())
    write_status(run.path, replace(run.status, state="finished"))
    age(run)
    return runs.find_run(run.id)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were asked for their version."""
    paths, ask = list[str](), folder_index.file_version

    def asking(path: str) -> tuple[int, int, int] | None:
        paths.append(path)
        return ask(path)

    monkeypatch.setattr(folder_index, "file_version", asking)
    return paths


def age(run: runs.Run) -> None:
    then = time.time() - 3600
    os.utime(run.path, (then, then))


def index() -> "FolderIndex[runs.Run]":
    """An index that has seen all there is, twice: the second look asks no file any more."""
    made = FolderIndex(runs.find_run, runs.store.RUN_STORE.files, is_job_settled)
    made.list_items()
    made.list_items()
    return made


def test_of_finished_runs_no_file_is_asked_again(finished: runs.Run, asked: list[str]) -> None:
    looked = index()
    asked.clear()
    assert [run.id for run in looked.list_items()[0]] == [finished.id]
    assert asked == []


@pytest.mark.usefixtures("finished")
def test_the_queue_asks_no_file_of_finished_runs(asked: list[str]) -> None:
    assert queue.list_queued_jobs() == []
    queue.list_queued_jobs()
    asked.clear()
    assert queue.list_queued_jobs() == []
    assert asked == []


def test_a_new_name_and_new_tags_are_seen_at_once(finished: runs.Run) -> None:
    looked = index()
    runs.rename_run(finished.id, "Mine")
    write_tags(finished.id, ["paper"])
    [run] = looked.list_items()[0]
    assert (run.name, run.tags) == ("Mine", ("paper",))


def test_a_run_that_goes_on_is_seen_at_each_word_of_its_worker(finished: runs.Run) -> None:
    looked = index()
    write_status(finished.path, replace(finished.status, state="training"))
    age(finished)  # as if all that follows happened within one tick of the disk's clock
    for epoch in (1, 2, 3):
        write_status(finished.path, replace(finished.status, state="training", epoch=epoch))
        age(finished)
        [run] = looked.list_items()[0]
        assert (run.status.state, run.status.epoch) == ("training", epoch)


def test_a_measuring_that_begins_in_a_finished_run_is_in_the_queue(finished: runs.Run) -> None:
    queue.list_queued_jobs()
    queue.list_queued_jobs()
    assert [job.kind.name for job in queue.iterate_jobs() if job.path == finished.path]
    folder = stress_folder(finished.path)
    folder.mkdir()
    write_status(folder, StressStatus(state="measuring"))
    kinds = [job.kind.name for job in queue.iterate_jobs() if job.id == finished.id]
    assert len(kinds) == 2


def test_what_a_copying_program_writes_into_a_file_is_seen_within_the_interval(
    finished: runs.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, name = index(), finished.path / "name.txt"
    name.write_text("one")
    age(finished)
    assert looked.list_items()[0][0].name == "one"
    name.write_text("another")
    monkeypatch.setattr(folder_index, "FILES_CHECK_INTERVAL_S", 0.0)
    assert looked.list_items()[0][0].name == "another"


def test_a_folder_that_is_not_yet_a_run_becomes_one(finished: runs.Run) -> None:
    config = finished.path / "config.json"
    hidden = config.rename(config.with_suffix(".hidden"))
    age(finished)
    looked = index()
    assert looked.list_items()[0] == []
    hidden.rename(config)
    assert [run.id for run in looked.list_items()[0]] == [finished.id]
