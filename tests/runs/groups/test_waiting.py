"""A run by its groups: of two, one waits, ends or diverges while the other does something else."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from ensemble.jobs.job import STOP_FILE
from ensemble.jobs.status import StatusWriter, write_status
from ensemble.runs import Run
from ensemble.runs.groups import coordinator
from ensemble.runs.groups.coordinator import GroupCoordinator
from ensemble.runs.groups.group import Group, list_run_groups
from ensemble.runs.groups.tasks import TaskStatus
from ensemble.runs.status import Status
from tests.pages.grouped import SLURM, in_groups


class FullCluster:
    """Takes every task, and has no place for any until they are taken back."""

    place_title, memory, refusal = "Slurm", 0, ""

    def __init__(self) -> None:
        self._found: dict[int, TaskStatus] = {}

    def start_tasks(self, groups: Sequence[Group]) -> None:
        self._found |= {one.number: TaskStatus("waiting", f"7_{one.number}") for one in groups}

    def poll_tasks(self) -> Mapping[int, TaskStatus]:
        return dict(self._found)

    def kill_task(self, group: Group) -> None:
        pass

    def find_ended_groups(self) -> Sequence[int]:
        return ()

    def cancel_waiting(self) -> None:
        self._found = {number: TaskStatus("ended", task.id) for number, task in self._found.items()}


def test_a_resumed_run_waits_in_the_queue_and_is_not_said_to_train() -> None:
    run = in_groups(
        {1: "stopped", 2: "finished"},
        state="stopped",
        placement=SLURM,
        told={1: {"step": 40, "epoch": 4}, 2: {"step": 100, "epoch": 10}},
    )
    said: list[Status] = []
    with StatusWriter(run.status_file, run.status) as status:
        ended = GroupCoordinator(run, status, lambda: bool(said), said.append, FullCluster()).follow_groups()
    assert said[0].state == "queued"
    assert said[0].message == "1 of 2 groups waits for Slurm."
    assert ended.state == "stopped"


class HalfCluster(FullCluster):
    """Has given the second of two tasks a place, where it has not begun yet."""

    def poll_tasks(self) -> Mapping[int, TaskStatus]:
        found = super().poll_tasks()
        return found | {2: replace(found[2], state="running")} if found[2].state == "waiting" else found


def test_a_run_waits_while_one_of_its_tasks_waits_and_none_has_begun() -> None:
    told = {number: {"step": 40, "epoch": 4} for number in (1, 2)}
    run = in_groups({1: "stopped", 2: "stopped"}, state="stopped", placement=SLURM, told=told)
    said: list[Status] = []
    with StatusWriter(run.status_file, run.status) as status:
        GroupCoordinator(run, status, lambda: bool(said), said.append, HalfCluster()).follow_groups()
    assert said[0].state == "queued"


class EndingTasks(FullCluster):
    """Groups at work end at a stop, the second of two after some looks as well."""

    def __init__(self, run: Run, looks: int = 20) -> None:
        super().__init__()
        self._run, self.looks, self.was_stopped = run, looks, False

    def poll_tasks(self) -> Mapping[int, TaskStatus]:
        self.looks -= 1
        groups = list_run_groups(self._run)
        for group in groups:
            stops = (group.path / STOP_FILE).exists()
            self.was_stopped |= stops and group.number == 2
            if group.active and (stops or (group.number == 2 and not self.looks)):
                write_status(group.path, replace(group.status, state="stopped"))
        return {group.number: TaskStatus("running" if group.active else "ended", "7") for group in groups}


@pytest.mark.parametrize(("state", "stops"), [("diverged", True), ("finished", False)])
def test_a_group_is_stopped_when_the_other_diverges_and_awaited_when_it_finishes(state: str, stops: bool) -> None:
    run = in_groups({1: state, 2: "training"}, placement=SLURM, told={1: {"step": 100}, 2: {"step": 40}})
    tasks = EndingTasks(run, looks=20 if stops else 3)
    with StatusWriter(run.status_file, run.status) as status:
        GroupCoordinator(run, status, lambda: False, lambda status: None, tasks).follow_groups()
    assert tasks.was_stopped == stops
    assert (tasks.looks > 0) == stops
    ended, other = list_run_groups(run)
    assert other.status.state == "stopped"
    assert not (ended.path / STOP_FILE).exists(), "it had ended"


@pytest.mark.parametrize(("step", "state"), [(40, "training"), (0, "starting")])
def test_a_run_trains_when_one_of_its_groups_had_begun_and_the_other_starts(step: int, state: str) -> None:
    run = in_groups({1: "stopped", 2: "starting"}, placement=SLURM, told={1: {"step": step}})
    said: list[Status] = []
    with StatusWriter(run.status_file, run.status) as status:
        GroupCoordinator(run, status, lambda: bool(said), said.append, EndingTasks(run)).follow_groups()
    assert said[0].state == state


class CancelledTasks(FullCluster):
    """The scheduler has ended the second of two tasks, whose last heartbeat is fresh."""

    looks = 0

    def poll_tasks(self) -> Mapping[int, TaskStatus]:
        self.looks += 1
        assert self.looks < 10, "it is still waited for"
        return {2: TaskStatus("ended", "7_2", word="CANCELLED")}


def test_a_group_whose_task_was_cancelled_is_over_however_fresh_its_heartbeat() -> None:
    elsewhere = {"pid": 7, "host": "node7", "step": 40}
    run = in_groups({1: "finished", 2: "training"}, placement=SLURM, told={1: {"step": 100}, 2: elsewhere})
    with StatusWriter(run.status_file, run.status) as status:
        ended = GroupCoordinator(run, status, lambda: False, lambda status: None, CancelledTasks()).follow_groups()
    assert ended.state == "stopped"
    assert "canceled in Slurm" in ended.message


class LostTasks(FullCluster):
    """Every task of the second group ends with a scheduler's word, the first six of them further than before."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self._word, self.started = word, 0

    def start_tasks(self, groups: Sequence[Group]) -> None:
        for group in groups:
            self.started += 1
            assert self.started < 20, "it is started without end"
            step = 10 * min(self.started, 6)
            write_status(group.path, replace(group.status, state="training", step=step, pid=7, host="node7"))

    def poll_tasks(self) -> Mapping[int, TaskStatus]:
        return {2: TaskStatus("ended", f"7_{self.started}", word=self._word)}


@pytest.mark.parametrize(("word", "starts"), [("NODE_FAIL", 6 + 3), ("TIMEOUT", 6 + 1), ("OUT_OF_MEMORY", 1)])
def test_a_lost_task_is_started_again_three_times_from_where_it_last_came_further(
    word: str, starts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coordinator, "POLL_SECONDS", 0.001)
    run = in_groups({1: "finished", 2: "stopped"}, placement=SLURM, told={1: {"step": 100}})
    tasks = LostTasks(word)
    with StatusWriter(run.status_file, run.status) as status:
        ended = GroupCoordinator(run, status, lambda: False, lambda status: None, tasks).follow_groups()
    assert tasks.started == starts
    assert ended.state == "failed"
    assert word in ended.message


@pytest.mark.parametrize(("left", "expected"), [(80.0, 80.0), (None, None)])
def test_a_run_is_as_far_as_its_groups_together(left: float | None, expected: float | None) -> None:
    told = {
        1: {"step": 40, "started": 200.0, "seconds_left": 50.0, "seconds": 5.0},
        2: {"step": 20, "started": 100.0, "seconds_left": left, "seconds": 9.0},
    }
    run = in_groups({1: "training", 2: "training"}, placement=SLURM, told=told)
    said: list[Status] = []
    with StatusWriter(run.status_file, run.status) as status:
        GroupCoordinator(run, status, lambda: bool(said), said.append, EndingTasks(run)).follow_groups()
    assert (said[0].step, said[0].started, said[0].seconds_left) == (30, 100.0, expected)
