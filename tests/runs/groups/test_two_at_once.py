"""Clocks that differ, heartbeats that fall silent, and two tasks on one group without locks."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ensemble import runs
from ensemble.jobs.job import LOCK_FILE
from ensemble.jobs.remote import takeover
from ensemble.jobs.remote.takeover import TaskLease, has_remote_heartbeat
from ensemble.jobs.status import StatusWriter, write_status
from ensemble.runs import Run
from ensemble.runs.groups import heartbeat_monitor
from ensemble.runs.groups.coordinator import GroupCoordinator
from ensemble.runs.groups.group import Group, create_group_folders, list_run_groups
from ensemble.runs.groups.heartbeat_monitor import HeartbeatMonitor
from ensemble.runs.groups.tasks import TaskStatus, create_local_tasks, write_group_tasks
from ensemble.runs.status import Status
from tests.runs.groups.inline import InlineTasks, arrays, follow, in_groups, trained

ROOT = Path(__file__).resolve().parents[3]
CONFIG = in_groups(2, members=4, network="logistic", epochs=8)
HOUR = 3600.0
# A process on another host, on a disk whose locks are each host's own.
ELSEWHERE = """
import fcntl, os, socket, sys
name = os.environ["HOST"]
socket.gethostname = lambda: name
fcntl.flock = lambda *words: None
from ensemble.jobs.remote import takeover
takeover.LEASE_EXPIRY_SECONDS = 1.0
from ensemble.jobs import status
status.HEARTBEAT_SECONDS = 0.3
from ensemble.__main__ import main
main(sys.argv[1:])
"""


def made() -> Run:
    run = runs.create_run(CONFIG)
    create_group_folders(run)
    return run


def working(run: Run, number: int = 1, **changes: object) -> Group:
    """A group as a task of another host tells of it now."""
    group = list_run_groups(run)[number - 1]
    status = replace(group.status, state="training", pid=7, host="node7", updated=time.time())
    write_status(group.path, replace(status, **changes))
    return list_run_groups(run)[number - 1]


@pytest.mark.parametrize("off", [-HOUR, HOUR])
def test_a_group_whose_node_has_another_time_is_at_work_while_it_is_heard_of(
    off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, heard = made(), HeartbeatMonitor()
    for second in (0, 5):
        group = working(run, updated=time.time() + off + second)
        heard.update([group])
    assert heard.is_alive(group)
    monkeypatch.setattr(heartbeat_monitor, "SILENCE_SECONDS", 0.0)
    assert not heard.is_alive(group)
    assert heard.is_stale(group)


@pytest.mark.parametrize("off", [-HOUR, HOUR])
def test_silence_is_measured_by_the_clock_of_the_disk(off: float, monkeypatch: pytest.MonkeyPatch) -> None:
    group, now = working(made()), time.time()
    monkeypatch.setattr(time, "time", lambda: now + off)
    assert 0 <= takeover.compute_silence(group) < takeover.LEASE_EXPIRY_SECONDS
    assert has_remote_heartbeat(group)
    beat = group.status_file.stat().st_mtime - takeover.LEASE_EXPIRY_SECONDS
    os.utime(group.status_file, (beat, beat))
    assert not has_remote_heartbeat(group)


def test_a_process_of_this_host_that_died_is_not_at_work_from_then_on() -> None:
    run, heard = made(), HeartbeatMonitor()
    for second in (0, 5):
        group = working(run, host=socket.gethostname(), updated=time.time() + second)
        (group.path / LOCK_FILE).touch()
        heard.update([group])
    assert not heard.is_alive(group), "nobody holds its lock"


def test_one_reading_of_a_status_is_not_a_heartbeat() -> None:
    run, heard = made(), HeartbeatMonitor()
    group = working(run, updated=time.time() - HOUR)
    for _ in range(2):
        heard.update([group])
        assert not heard.is_alive(group)


def test_a_group_that_has_ended_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat_monitor, "SILENCE_SECONDS", 0.0)
    run, heard = made(), HeartbeatMonitor()
    group = working(run, state="finished")
    heard.update([group])
    assert not heard.is_stale(group)


class Submitted:
    """Tasks that somebody has started, as Slurm tells of them, until they are killed."""

    place_title, memory, refusal = "Slurm", 0, ""

    def __init__(self, run: Run, state: str, ended: Sequence[int] = ()) -> None:
        self._run, self.state, self._ended = run, state, ended
        self.killed, self.started = list[int](), list[int]()

    def start_tasks(self, groups: Sequence[Group]) -> None:
        self.started += [group.number for group in groups]

    def poll_tasks(self) -> Mapping[int, TaskStatus]:
        return {number: TaskStatus(self.state, f"7_{number}", "node7") for number in (1, 2)}

    def find_ended_groups(self) -> Sequence[int]:
        return self._ended

    def cancel_waiting(self) -> None:
        if self.state == "waiting":
            working(self._run, 2, state="stopped")
            self.state = "ended"

    def kill_task(self, group: Group) -> None:
        self.killed.append(group.number)
        working(self._run, group.number, state="failed")
        self.state = "ended"


def followed(run: Run, tasks: Submitted) -> list[Status]:
    """What is told of a run whose groups are at work, and which is stopped at the first word."""
    for number in (1, 2):
        working(run, number, state="finished" if number == 1 else "training")
    said: list[Status] = []
    with StatusWriter(run.status_file, run.status) as status:
        GroupCoordinator(run, status, lambda: bool(said), said.append, tasks).follow_groups()
    return said


def test_a_group_that_is_silent_is_named_and_ended_by_a_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat_monitor, "SILENCE_SECONDS", 0.0)
    tasks = Submitted(run := made(), "running")
    told = followed(run, tasks)[0].message
    assert told.startswith("Group 2 of 2 (members 3–4) has not responded for a minute: its process")
    assert "7 on node7" in told
    assert tasks.killed == [2]


def test_a_group_whose_lost_node_goes_on_is_not_said_to_wait() -> None:
    tasks = Submitted(run := made(), "waiting")
    assert not followed(run, tasks)[0].message
    assert not tasks.started


def test_a_group_whose_task_has_ended_gets_another_however_fresh_its_last_heartbeat() -> None:
    tasks = Submitted(run := made(), "waiting", ended=(1, 2))
    followed(run, tasks)
    assert tasks.started == [2], "the first has finished"


def test_a_run_that_comes_here_knows_which_of_its_tasks_have_ended_elsewhere() -> None:
    run = made()
    there = {1: TaskStatus("ended", "7_1", word="OUT_OF_MEMORY"), 2: TaskStatus("running", "7_2")}
    write_group_tasks(run.path, there)
    assert create_local_tasks(run, [], [0]).find_ended_groups() == [1]


def test_a_second_task_waits_for_one_that_is_heard_of_and_not_for_one_that_is_not() -> None:
    run = made()
    assert has_remote_heartbeat(working(run, updated=time.time() - HOUR)), "by the disk's clock"
    assert not has_remote_heartbeat(working(run, state="stopped"))
    assert not has_remote_heartbeat(working(run, host=socket.gethostname()))
    group = working(run)
    before = time.time() - takeover.LEASE_EXPIRY_SECONDS - 1
    os.utime(group.status_file, (before, before))
    assert not has_remote_heartbeat(group)
    assert not list(group.path.glob(".now*"))


class Elsewhere:
    """A group's task on a host of this name, as long as the context lasts."""

    def __init__(self, group: Group, host: str) -> None:
        environment = {**os.environ, "HOST": host, "PYTHONPATH": str(ROOT), "JAX_NUM_CPU_DEVICES": "1"}
        self.log = group.path / f"{host}.txt"
        with self.log.open("wb") as log:
            self.child = subprocess.Popen(
                [sys.executable, "-c", ELSEWHERE, "work-group", group.id],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def __enter__(self) -> "Elsewhere":
        return self

    def __exit__(self, *error: object) -> None:
        self.child.kill()
        self.child.wait()


def wait(condition: Callable[[], object], seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def says_that_it_waits(second: Elsewhere) -> bool:
    """Whether the second does, for the first, whose file is touched as by a heartbeat."""
    second.log.with_name("status.json").touch()
    return "already has a task" in second.log.read_text()


@pytest.mark.long
def test_two_tasks_on_one_group_without_locks_end_as_one_to_the_same_bits() -> None:
    run = made()
    group = list_run_groups(run)[0]
    with Elsewhere(group, "node1") as first:
        wait(lambda: list_run_groups(run)[0].status.epoch > 1)
        first.child.send_signal(signal.SIGSTOP)  # The file says that it beats while it is touched.
        with Elsewhere(group, "node2") as second:
            wait(lambda: says_that_it_waits(second))
            wait(lambda: json.loads((group.path / takeover.LEASE_FILE).read_text())["host"] == "node2")
            first.child.send_signal(signal.SIGCONT)
            assert first.child.wait(20) == 0
            assert "now has another task: this one ends" in first.log.read_text()
            assert second.child.wait(60) == 0, second.log.read_text()
    assert follow(run, InlineTasks()).state == "finished"
    whole = trained(CONFIG)
    for what in ("predictions", "parameters"):
        assert arrays(run.path, what) == arrays(whole.path, what)
    epochs = [line["epoch"] for line in runs.read_history(run.id) if line["kind"] == "epoch"]
    assert epochs == list(range(1, CONFIG.epochs + 1))


class EndedError(Exception):
    """Stands for the end of this process."""


@pytest.fixture
def leases(monkeypatch: pytest.MonkeyPatch) -> tuple[Path, TaskLease, TaskLease]:
    """The file of a group's place, who had it, and who has it now; each look is a new one."""

    def end_process(status: int) -> None:
        raise EndedError

    monkeypatch.setattr(os, "_exit", end_process)
    monkeypatch.setattr(takeover, "_LEASE_CHECK_SECONDS", 0.0)
    group = list_run_groups(made())[0]
    file = group.path / takeover.LEASE_FILE
    return file, TaskLease(file, group.title), TaskLease(file, group.title)


def test_a_task_whose_place_is_its_own_or_cannot_be_told_goes_on(leases: tuple[Path, TaskLease, TaskLease]) -> None:
    file, _, place = leases
    place.exit_if_taken_over()
    file.write_text("{")
    place.exit_if_taken_over()
    file.unlink()
    place.exit_if_taken_over()


def test_a_task_whose_place_another_has_taken_ends(leases: tuple[Path, TaskLease, TaskLease]) -> None:
    """Also where both have the same number on their hosts."""
    _, earlier, later = leases
    with pytest.raises(EndedError):
        earlier.exit_if_taken_over()
    later.exit_if_taken_over()
