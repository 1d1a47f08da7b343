"""A job on a cluster: its worker here submits one task, follows it, and tells what that says."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ensemble.errors import NotPreparedError
from ensemble.jobs import slots
from ensemble.jobs.job import request_job_stop
from ensemble.jobs.placement import PLACEMENT_FILE, Placement
from ensemble.jobs.remote import follower, job_tasks, task_process, task_record
from ensemble.jobs.status import is_process_alive
from ensemble.storage.atomic_files import read_json
from tests.jobs.local_cluster import REPO, LocalCluster, backend_for, counted, counting, read, work

PATIENCE_SECONDS = 240
WAIT_LIMIT_S = 300  # of a whole test, far beyond what any takes


@pytest.fixture(autouse=True)
def limited_wait() -> Iterator[None]:
    """A follower waits as long as its task does: for ever, where a test meant another message."""

    def fail(signal_number: int, frame: object) -> None:
        raise AssertionError(f"The job is still waited for after {WAIT_LIMIT_S} s.")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(WAIT_LIMIT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Of the job; with the scheduler in small in Slurm's place."""
    made = tmp_path / "job"
    monkeypatch.setattr(follower, "create_scheduler_backend", backend_for)
    monkeypatch.setattr(job_tasks, "create_scheduler_backend", backend_for)
    monkeypatch.setattr(follower, "POLL_SECONDS", 0.03)
    monkeypatch.setattr(follower, "GRACE_SECONDS", 0.2)
    yield made
    for task in LocalCluster(made).tasks().values() if made.exists() else ():
        with suppress(OSError, TypeError):
            os.kill(task["pid"], signal.SIGKILL)


def once(condition: Callable[[Any], bool], act: Callable[[], object]) -> Callable[[Any], None]:
    """A report that acts when a status first is so."""
    left = [act]

    def report(status: Any) -> None:
        if left and condition(status):
            left.pop()()

    return report


def all_of(*reports: Callable[[Any], None]) -> Callable[[Any], None]:
    """A report that passes a status on to each of these."""

    def report(status: Any) -> None:
        for one in reports:
            one(status)

    return report


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.03)


def killed_follower(folder: Path) -> None:
    """Let a follower of its own begin, and kill it once the task is at work."""
    child = subprocess.Popen([sys.executable, "-m", "tests.jobs.local_cluster", "follow", str(folder)], cwd=REPO)
    wait_until(lambda: read(folder).status.state == "counting")
    child.kill()
    child.wait()
    assert read(folder).has_died


def test_it_takes_no_turn_here_and_its_worker_tells_what_the_task_says(folder: Path) -> None:
    counting(folder, steps=5)
    (folder / "cluster").mkdir()
    (folder / "cluster" / "full").touch()
    told: list[Any] = []
    room = once(lambda status: "Queued" in status.message, (folder / "cluster" / "full").unlink)
    turn = slots.acquire_slots(1)
    assert turn is not None
    with turn:
        ended = work(folder, all_of(told.append, room))
    assert counted(folder) == [0, 1, 2, 3, 4]
    assert (ended["state"], ended["message"], ended["progress"]) == ("finished", "Counted 5.", 0.8)
    assert ended["pid"] == os.getpid()
    states = [status.state for status in told]
    assert (states[0], told[0].message) == ("queued", "Queued on Slurm (no node is free).")
    assert states == sorted(states, key=["queued", "starting", "counting", "finished"].index)
    assert "counting" in states
    task = read_json(folder / "task" / "status.json")
    assert (task["state"], task["pid"] != os.getpid()) == ("finished", True)
    noted = task_record.read_task_record(folder)
    assert noted is not None
    assert (noted.id, noted.state, noted.node) == ("1", "ended", "node7")


def test_one_that_is_stopped_while_it_waits_is_taken_back(folder: Path) -> None:
    job = counting(folder, steps=5)
    cluster = LocalCluster(folder)
    (cluster.folder / "full").touch()
    ended = work(folder, once(lambda status: "Queued" in status.message, lambda: request_job_stop(job)))
    assert (ended["state"], ended["message"]) == ("stopped", "Stopped while queued on Slurm.")
    (cluster.folder / "full").unlink()
    assert [one.state for one in cluster.queue().values()] == ["ended"]
    assert counted(folder) == []


def test_one_that_is_stopped_at_work_stops_itself_and_goes_on_later(folder: Path) -> None:
    job = counting(folder, steps=20)
    stop = once(lambda status: status.progress > 0.2, lambda: request_job_stop(job))
    ended = work(folder, stop)
    assert ended["state"] == "stopped"
    assert ended["message"] == f"Stopped at {len(counted(folder))}."
    assert 4 < len(counted(folder)) < 20
    (folder / "stop").unlink()
    counting(folder, steps=20)
    assert work(folder)["state"] == "finished"
    assert counted(folder) == list(range(20))
    assert len(LocalCluster(folder).tasks()) == 2


def test_a_worker_that_was_killed_is_followed_by_one_that_finds_the_task(folder: Path) -> None:
    counting(folder, steps=40)
    killed_follower(folder)
    before = len(counted(folder))
    counting(folder, steps=40)
    assert work(folder)["state"] == "finished"
    assert len(LocalCluster(folder).tasks()) == 1
    assert (before < 40, counted(folder)) == (True, list(range(40)))


def test_a_task_that_an_earlier_version_submitted_for_one_node_is_found(folder: Path) -> None:
    counting(folder, steps=40)
    killed_follower(folder)
    record = task_record.read_task_record(folder)
    assert record is not None
    task_record.write_task_record(folder, replace(record, settings={**record.settings, "nodes": 1}))
    counting(folder, steps=40)
    assert work(folder)["state"] == "finished"
    assert len(LocalCluster(folder).tasks()) == 1


def test_a_task_that_does_something_else_is_ended_before_another_begins(folder: Path) -> None:
    counting(folder, steps=1000)
    killed_follower(folder)
    counting(folder, steps=len(counted(folder)) + 20)
    ended = work(folder)
    assert ended["state"] == "finished"
    assert counted(folder) == list(range(ended["settings"]["steps"]))
    assert not is_process_alive(LocalCluster(folder).tasks()["1"]["pid"], None)


def test_a_task_that_nobody_follows_ends_where_the_job_is_to_be_done_here(folder: Path) -> None:
    counting(folder, steps=1000)
    killed_follower(folder)
    job_tasks.set_placement(folder, None, read(folder))
    [task] = LocalCluster(folder).tasks().values()
    wait_until(lambda: not is_process_alive(task["pid"], None))
    assert not read(folder).is_placed
    assert len(counted(folder)) < 1000


def test_a_task_that_makes_room_is_put_back_and_the_job_goes_on(folder: Path) -> None:
    counting(folder, steps=30)
    told: list[Any] = []
    back = once(lambda status: status.progress > 0.2, lambda: LocalCluster(folder).requeue("1"))
    ended = work(folder, all_of(told.append, back))
    assert ended["state"] == "finished"
    assert counted(folder) == list(range(30))
    assert [status.state for status in told[:-1]].count("stopped") == 0


def test_a_task_that_dies_is_said_with_what_it_printed_last(folder: Path, capfd: Any) -> None:
    counting(folder, steps=5, dies=3)
    ended = work(folder)
    assert ended["state"] == "failed"
    assert ended["message"] == (
        "Its task 1 on node7 exited unexpectedly: it was killed, or asked for too little "
        "memory or time. What was measured so far is kept; launch it again."
    )
    assert "Out of memory." in capfd.readouterr().err
    assert counted(folder) == [0, 1, 2]


def test_a_task_that_was_cancelled_elsewhere_is_no_endless_wait(folder: Path) -> None:
    counting(folder, steps=5)
    cluster = LocalCluster(folder)
    (cluster.folder / "full").touch()
    ended = work(folder, once(lambda status: "Queued" in status.message, lambda: cluster.cancel(["1"])))
    assert (ended["state"], ended["message"]) == (
        "failed",
        "Slurm ended its task 1 before it started: it was canceled, or could not start. The log has the details.",
    )


def test_a_scheduler_that_does_not_answer_for_a_while_ends_nothing(folder: Path) -> None:
    counting(folder, steps=20)
    silent = folder / "cluster" / "silent"
    assert work(folder, once(lambda status: status.progress > 0, silent.touch))["state"] == "finished"
    assert counted(folder) == list(range(20))


def test_a_dataset_that_a_task_does_not_find_is_looked_for_on_the_shared_disk(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = counting(folder, steps=5)
    with pytest.raises(NotPreparedError, match=r"^MNIST is not here\.$"), task_process.name_node_in_errors(job):
        raise NotPreparedError("MNIST is not here.")
    monkeypatch.setenv(task_process.TASK_VARIABLE, task_process.format_task_key(job))
    with pytest.raises(NotPreparedError, match=r"ENSEMBLE_DATA has to be"), task_process.name_node_in_errors(job):
        raise NotPreparedError("MNIST is not here.")


@pytest.mark.parametrize(
    ("placement", "said"),
    [
        ("{", "say where"),
        ('{"on": "kubernetes"}', "choose --on slurm"),
        ('{"on": 3}', "say where"),
        ('{"on": "slurm", "settings": {"time": -1}}', "time"),
    ],
)
def test_a_place_that_cannot_be_had_is_said_in_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, placement: str, said: str
) -> None:
    monkeypatch.undo()
    counting(folder, steps=5)
    (folder / PLACEMENT_FILE).write_text(placement)
    ended = work(folder)
    assert ended["state"] == "failed"
    assert said in ended["message"]
    assert counted(folder) == []


def test_where_it_is_placed_is_noted_anew_with_each_request(folder: Path) -> None:
    counting(folder)
    job_tasks.set_placement(folder, Placement("slurm", {"time": 5}), read(folder))
    assert (folder / PLACEMENT_FILE).exists()
    job_tasks.set_placement(folder, None, read(folder))
    assert not (folder / PLACEMENT_FILE).exists()


def test_what_is_done_once_for_all_is_not_done_again_by_who_follows_it_later(folder: Path) -> None:
    counting(folder, steps=25, once=True)
    killed_follower(folder)
    wait_until(lambda: read_json(folder / "task" / "status.json")["state"] == "finished")
    counting(folder, steps=25, once=True)
    assert work(folder)["message"] == "Counted 25."
    assert len(LocalCluster(folder).tasks()) == 1
