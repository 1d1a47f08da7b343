"""One array of tasks for groups, sweeps and single jobs: on this machine, and as files have it."""

import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ensemble.cluster import SlurmConfig, slurm_commands
from ensemble.cluster.local_processes import LocalProcesses
from ensemble.cluster.scheduler import TaskState
from ensemble.cluster.task_array import TaskArray, TaskStatus
from ensemble.jobs.job import LOCK_FILE
from ensemble.jobs.launch import build_worker_environment
from ensemble.jobs.placement import Placement
from ensemble.jobs.remote.task_record import TaskRecord, read_task_record, write_task_statuses
from ensemble.jobs.status import write_status
from ensemble.storage.atomic_files import read_json
from ensemble.sweeps import SweepConfig, create_sweep, find_sweep, request_sweep_stop
from ensemble.sweeps.settings import STORAGE_VARIABLE
from ensemble.sweeps.worker_tasks import WorkerTasks
from tests.cluster.test_slurm import commands_that

WORDS = ("--version",)


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def array_of(units: list[str]) -> TaskArray:
    processes = LocalProcesses(units, "ENSEMBLE_CORES", build_worker_environment())
    return TaskArray(processes, "a run", sure=1)


def test_as_many_work_here_at_a_time_as_there_are_units(tmp_path: Path) -> None:
    array, logs = array_of(["0"]), {number: tmp_path / f"{number}.txt" for number in (1, 2)}
    array.submit(dict.fromkeys(logs, WORDS), {}, logs)
    first = array.poll_tasks()
    assert [task.state for task in first.values()] == ["running", "waiting"]
    assert first[1].id.isdigit()
    assert not first[2].id, "it has no process yet"

    def first_has_ended() -> bool:
        states = [task.state for task in array.poll_tasks().values()]
        assert states.count("running") <= 1
        return states[0] == "ended"

    wait_until(first_has_ended)
    assert array.poll_tasks()[1].id == first[1].id
    wait_until(lambda: array.poll_tasks()[2].state == "ended")
    assert all("version" in log.read_text() for log in logs.values())


def test_what_waits_is_taken_back_and_what_works_goes_on(tmp_path: Path) -> None:
    array, logs = array_of(["0"]), {number: tmp_path / f"{number}.txt" for number in (1, 2)}
    array.submit(dict.fromkeys(logs, WORDS), {}, logs)
    array.poll_tasks()
    array.take_back_waiting()
    assert array.poll_tasks()[2] == TaskStatus("ended")
    wait_until(lambda: array.poll_tasks()[1].state == "ended")
    assert "version" in logs[1].read_text()
    assert not logs[2].read_text()
    array.submit({2: WORDS}, {}, logs)
    assert array.poll_tasks()[2].state == "running"
    array.cancel(2)
    wait_until(lambda: array.poll_tasks()[2].state == "ended")
    assert not array.find_alive()


def test_a_record_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    (tmp_path / "task").mkdir()
    file = tmp_path / "task" / "task.json"
    text = (
        '{"name": "race race 1f", "id": "7_0", "asked": {}, "settings": {"time": 5},'
        ' "state": "running", "node": "node7", "reason": ""}'
    )
    file.write_text(text)
    assert read_task_record(tmp_path) == TaskRecord("race race 1f", "7_0", {}, {"time": 5}, "running", "node7", "")
    file.write_text(text.replace("running", "flying"))
    assert read_task_record(tmp_path) is None
    file.write_text(text.replace('"running"', "[]"))
    assert read_task_record(tmp_path) is None


def test_a_sweep_of_an_earlier_version_finds_its_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STORAGE_VARIABLE, "journal")
    monkeypatch.setattr(slurm_commands, "ANSWER_CACHE_SECONDS", 0.0)
    sweep = create_sweep(SweepConfig(trials=2, workers=2), Placement("slurm", SlurmConfig().as_dict()))
    (sweep.path / "tasks.json").write_text('{"ids": ["6_0", "7_0", "7_1", "8_0"]}')

    def says(*lines: str) -> None:
        said = f'echo "$(basename "$0") $*" >>{tmp_path}/called\n'
        said += "\n".join(f"echo '{line}'" for line in lines)
        monkeypatch.setenv("PATH", commands_that(tmp_path, said))
        slurm_commands.clear_slurm_cache()

    says(
        f"6_0|COMPLETED|node1|None|{sweep.id}",
        f"7_0|RUNNING|node1|None|{sweep.id}",
        f"7_1|PENDING||Resources|{sweep.id}",
        "8_0|RUNNING|node1|None|of another",
    )
    tasks = WorkerTasks(sweep)
    tasks.submit_missing()
    assert {task["id"]: task["state"] for task in read_json(sweep.path / "tasks.json").values()} == {
        "7_0": "running",
        "7_1": "waiting",
    }
    assert not any(tasks.poll_tasks(0) for _ in range(4))
    tasks.cancel_waiting()
    assert (tmp_path / "called").read_text().endswith("scancel --quiet 7_1\n")
    says()
    assert [tasks.poll_tasks(0) for _ in range(2)] == [None, None]
    ended = tasks.poll_tasks(0)
    assert ended
    assert ended.state == "failed"
    assert ended.message.startswith("All its tasks have ended, but trials are left: see slurm/ in its folder")


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("waiting", "2 of 2 workers wait for Slurm. Slurm cannot be asked from here: There is no Slurm"),
        (
            "running",
            "No longer followed: its tasks on Slurm continue. Slurm cannot be asked from here: There is no Slurm",
        ),
    ],
)
def test_a_machine_without_slurm_shows_the_last_known_state_of_a_sweep_and_stops_it(
    state: TaskState, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STORAGE_VARIABLE, "journal")
    monkeypatch.setenv("PATH", "/nowhere")
    slurm_commands.clear_slurm_cache()
    sweep = create_sweep(SweepConfig(trials=2, workers=2), Placement("slurm", SlurmConfig().as_dict()))
    write_task_statuses(sweep.path / "tasks.json", {1: TaskStatus(state, "7_0"), 2: TaskStatus(state, "7_1")})
    write_status(sweep.path, replace(sweep.status, state="searching", pid=2**22 + 1, host=socket.gethostname()))
    (sweep.path / LOCK_FILE).touch()
    found = find_sweep(sweep.id)
    assert found.state == {"waiting": "queued", "running": "searching"}[state]
    assert found.message.startswith(message)
    assert request_sweep_stop(sweep.id)
    assert find_sweep(sweep.id).state == "stopped"
