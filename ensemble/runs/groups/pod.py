"""One pod of a run on Kubernetes: it trains a group, and the first merges what all have written."""

import os
import subprocess
import time
from collections.abc import Callable
from types import FrameType

from ensemble.cluster.schedulers import KUBERNETES
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.jobs.folders import changing
from ensemble.jobs.job import Job, stop_requested
from ensemble.jobs.launch import worker_environment
from ensemble.jobs.outcome import told_to_end
from ensemble.jobs.placement import Placement
from ensemble.machine.python_command import build_command
from ensemble.runs.groups.applied import make_once, take_up
from ensemble.runs.groups.part import find_group
from ensemble.runs.groups.worker import PARENT
from ensemble.runs.store import Run, find
from ensemble.storage.reading import opened_to_append

POLL_SECONDS = 0.1
# Exit statuses: what Kubernetes is to begin anew ends with one that is neither of the first.
DONE, DIVERGED, FAILED, GO_ON = 0, 3, 1, 75
Find = Callable[[], Job]


def work_pod(run_id: str, config: EnsembleConfig, index: int, submission: str) -> int:
    """Train the group of this pod to its end, as far as it comes.

    Args:
      run_id: the run, which is made where it is not there yet.
      config: its settings.
      index: of the pod, from 0: that of its group.
      submission: a number that all pods of one Job have, and no others.

    Returns:
      The exit status: 0 finished, or stopped by a person; 3 diverged; 75 told to end, 1 failed: it
      is to be begun anew.

    Raises:
      ConfigError: there is another run under this id, or it has no such group.
      RunError: its files cannot be written or read.
    """
    if index >= config.groups:
        raise ConfigError(
            f"The pod's index is {index}, but the run has {config.groups} groups, from 0: apply "
            "the manifest as it was printed."
        )
    with _Ending() as ending:
        run = take_up(make_once(run_id, config, Placement(KUBERNETES.name)), submission)
        works: list[Find] = [lambda: find_group(f"{run_id}:{index + 1}")]
        if index == 0:
            works.append(lambda: find(run_id))
        if not _nothing_left(run, index):
            _do_all(works, ending)
    return _whole_status(run_id, works)


class _Ending:
    """Notes that this pod is told to end, so that its processes can be told.

    Before it has any it ends at once: the first process of a container is not ended by a signal
    that it takes no notice of.
    """

    def __init__(self) -> None:
        self.asked = self.at_work = False

    def __enter__(self) -> "_Ending":
        self._told = told_to_end(self._note)
        self._told.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._told.__exit__(None, None, None)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if not self.at_work:
            raise SystemExit(GO_ON)


def _nothing_left(run: Run, index: int) -> bool:
    """Whether the run is at its end, or stopped and nobody waits for this pod to say so."""
    if run.status.state in ("finished", "diverged"):
        return True
    return stop_requested(run) and (index > 0 or run.status.state == "stopped")


def _do_all(works: list[Find], ending: _Ending) -> None:
    """Have a process do each of these, and wait for them; where one fails, the others end too.

    Begun anew, the pod has all of them again: alone, the merging would wait for its own group.
    """
    children: list[subprocess.Popen[bytes]] = []
    told, ending.at_work = False, True
    try:
        for work in works:
            children.append(_start(work()))
        while any(child.poll() is None for child in children):
            if not told and (ending.asked or _one_failed(works, children)):
                told = True
                for child in children:
                    child.terminate()
            time.sleep(POLL_SECONDS)
    finally:
        for child in children:
            if child.poll() is None:
                child.kill()
                child.wait()


def _start(job: Job) -> "subprocess.Popen[bytes]":
    """The worker of a job, which ends with this process and writes to the job's log."""
    print(f"{job.kind.title}: {job.id}", flush=True)
    with changing(job.path), opened_to_append(job.path / "log.txt") as log:
        return subprocess.Popen(
            build_command(job.kind.command, job.id),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**worker_environment(), PARENT: str(os.getpid())},
        )


def _one_failed(works: list[Find], children: list["subprocess.Popen[bytes]"]) -> bool:
    ended = [work for work, child in zip(works, children, strict=True) if child.poll() is not None]
    return any(_status(work()) in (FAILED, GO_ON) for work in ended)


def _whole_status(run_id: str, works: list[Find]) -> int:
    """What the pod ends with: the worst that became of its jobs, unless the run is at its end."""
    if find(run_id).status.state == "finished":
        return DONE
    jobs = [work() for work in works]
    for job in jobs:
        print(f"{job.id} is {job.state}. {job.message}".strip(), flush=True)
    found = [_status(job) for job in jobs]
    return next((one for one in (DIVERGED, FAILED, GO_ON) if one in found), DONE)


def _status(job: Job) -> int:
    """The exit status for a job that nothing is at any more."""
    state = job.status.state
    if state in ("finished", "diverged"):
        return DONE if state == "finished" else DIVERGED
    # A person asks by a file, Kubernetes by a signal.
    if stop_requested(job) or stop_requested(_run_of(job)):
        return DONE
    return GO_ON if state == "stopped" else FAILED


def _run_of(job: Job) -> Run:
    return find(job.id.partition(":")[0])
