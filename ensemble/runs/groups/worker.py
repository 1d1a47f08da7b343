"""The task of one group: it trains its members, and knows nothing of the others.

A run that is one group may have a task on several nodes: then this is one of its processes there.
"""

import os
import time

from ensemble import hosts
from ensemble.jobs import worker
from ensemble.jobs.job import LOCK_FILE, STOP_FILE
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.placement import read_node_count
from ensemble.jobs.status import StatusWriter
from ensemble.runs.groups.group import Group, GroupStatus, find_group
from ensemble.runs.groups.takeover import GroupLease, has_remote_heartbeat
from ensemble.runs.training.run_training import train_run
from ensemble.storage.file_lock import is_locked

# Set for a task that is to end with the process that started it.
PARENT_VARIABLE = "ENSEMBLE_PARENT"
CORES_VARIABLE = "ENSEMBLE_CORES"  # which it may use, separated by commas
WAIT_SECONDS = 1.0


class GroupStopRequest(StopRequest):
    """As a run's, and also when the process that started this task is there no more."""

    def __init__(self, group: Group) -> None:
        super().__init__(group.path / STOP_FILE)
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
    pin_to_cores()
    if read_node_count(find_group(name).path.parents[1]) == 1:
        _execute_group_here(name)
        return
    with hosts.join_process_group() as company:
        if company is None:
            _execute_group_here(name)
            return
        # Its modules start JAX, which is told of the others by now.
        from ensemble.runs.training.distributed import train_across_hosts

        train_across_hosts(company, lambda: _execute_group_here(name))


def _execute_group_here(name: str) -> Group:
    group = find_group(name)
    notice_sent = False
    while is_locked(group.path / LOCK_FILE) or has_remote_heartbeat(group):
        if not notice_sent:
            print(
                f"{group.title} already has a task: this one waits until that task ends.",
                flush=True,
            )
            notice_sent = True
        time.sleep(WAIT_SECONDS)
        group = find_group(name)
    group = find_group(name)
    if group.status.state == "finished":
        print(f"{group.title} is already trained.", flush=True)
        return group

    def train_group(status: StatusWriter[GroupStatus], stop: StopRequest) -> Outcome:
        status.update(state="starting", message="", started=time.time())
        return train_run(group, status, stop, GroupLease(group).exit_if_taken_over)

    worker.execute_job(group, train_group, lambda status: None, GroupStopRequest(group))
    return find_group(name)


def pin_to_cores() -> None:
    """Keep this process to the processor cores that it was given, where it was given any."""
    core_list = os.environ.get(CORES_VARIABLE, "")
    if core_list and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core) for core in core_list.split(",")})
