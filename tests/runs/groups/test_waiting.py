"""A run of which no group has a place on the cluster waits, however far it had come before."""

from collections.abc import Mapping, Sequence

from ensemble.jobs.status import StatusWriter
from ensemble.runs.groups.coordinator import GroupCoordinator
from ensemble.runs.groups.group import Group
from ensemble.runs.groups.tasks import TaskStatus
from ensemble.runs.status import Status
from tests.pages.grouped import SLURM, in_groups


class FullCluster:
    """Takes every task, and has no place for any until they are taken back."""

    place_title, memory = "Slurm", 0

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
