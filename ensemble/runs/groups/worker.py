"""The task of one group: it trains its members, and knows nothing of the others."""

import os
import time
from contextlib import ExitStack
from functools import partial

from ensemble.cluster.schedulers import SCHEDULERS
from ensemble.jobs import worker
from ensemble.jobs.job import LOCK_FILE, STOP_FILE
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.placement import read_place_name
from ensemble.jobs.remote.coordinator_process import CoordinatorProcess
from ensemble.jobs.remote.takeover import LEASE_FILE, TaskLease, has_remote_heartbeat
from ensemble.jobs.remote.worker_variables import CORES_VARIABLE, PARENT_VARIABLE
from ensemble.jobs.status import StatusWriter
from ensemble.runs.groups.group import Group, GroupStatus, find_group, list_run_groups
from ensemble.runs.store import find_run
from ensemble.runs.training.run_training import train_run
from ensemble.storage.file_lock import is_locked

WAIT_SECONDS = 1.0


class _GroupStopRequest(StopRequest):
    """As a run's, and also when that is to stop, or the process that started this is no more."""

    def __init__(self, group: Group) -> None:
        super().__init__(group.path / STOP_FILE, group.path.parents[1] / STOP_FILE)
        self._parent = int(os.environ.get(PARENT_VARIABLE) or 0)

    def __call__(self) -> bool:
        """Whether it is time to stop."""
        return super().__call__() or bool(self._parent and os.getppid() != self._parent)


def execute_group(name: str) -> None:
    """Bring a group to its end in this process; see `jobs.worker.execute_job`.

    A second task on the same group, as a scheduler may start one that took the first for dead,
    waits until that has ended, and then continues where it stopped, if anything is left.

    Args:
      name: `RUN:2`.

    Raises:
      RunError: the group's folder is missing, or belongs to another run.
    """
    _pin_to_cores()
    group = find_group(name)
    notice_sent = False
    while is_locked(group.path / LOCK_FILE) or has_remote_heartbeat(group):
        if not notice_sent:
            print(f"{group.title} already has a task: this one waits until that task ends.", flush=True)
            notice_sent = True
        time.sleep(WAIT_SECONDS)
        group = find_group(name)
    group = find_group(name)
    if group.status.state == "finished":
        print(f"{group.title} is already trained.", flush=True)
        return

    def train_group(status: StatusWriter[GroupStatus], stop: StopRequest) -> Outcome:
        status.update(state="starting", message="", started=time.time())
        lease = TaskLease(group.path / LEASE_FILE, group.title)
        return train_run(group, status, stop, lease.exit_if_taken_over)

    stop = _GroupStopRequest(group)
    with ExitStack() as held:
        if read_place_name(group.path.parents[1]) in SCHEDULERS:
            run_id = group.path.parents[1].name
            list_groups = partial(_list_groups, run_id)
            held.enter_context(CoordinatorProcess(partial(find_run, run_id), list_groups, group.id, stop))
        worker.execute_job(group, train_group, lambda status: None, stop)


def _list_groups(run_id: str) -> list[Group]:
    return list_run_groups(find_run(run_id))


def _pin_to_cores() -> None:
    core_list = os.environ.get(CORES_VARIABLE, "")
    if core_list and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core) for core in core_list.split(",")})
