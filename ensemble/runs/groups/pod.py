"""One pod of a run on Kubernetes, or a task of an array elsewhere.

It trains a group, and the first of them merges what all have written.
"""

import os
import subprocess
import time
from collections.abc import Callable
from types import FrameType

from ensemble.cluster.schedulers import KUBERNETES
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.jobs.folders import change_job_files
from ensemble.jobs.job import Job, is_stop_requested
from ensemble.jobs.launch import build_worker_environment
from ensemble.jobs.outcome import catch_end_signals
from ensemble.jobs.placement import Placement
from ensemble.machine.python_command import build_python_command
from ensemble.runs.groups.group import find_group
from ensemble.runs.groups.shared_creation import create_run_once, take_up_submission
from ensemble.runs.groups.worker_variables import PARENT_VARIABLE
from ensemble.runs.store import Run, find_run
from ensemble.storage.plain_files import open_plain_append

POLL_SECONDS = 0.1
# Exit statuses: what Kubernetes is to start again ends with one that is neither of the first.
EXIT_DONE, EXIT_DIVERGED, EXIT_FAILED, EXIT_RESTART = 0, 3, 1, 75
JobFinder = Callable[[], Job]


def execute_pod(run_id: str, config: EnsembleConfig, index: int, submission: str, on: str = KUBERNETES.name) -> int:
    """Train the group of this pod to its end, as far as it comes.

    Args:
      run_id: the run, which is made where it is not there yet.
      config: its settings.
      index: of the pod, from 0: that of its group.
      submission: a number that all pods of one Job have, and no others.
      on: the place that starts it, one of `EXTERNAL_TARGETS`.

    Returns:
      The exit status: 0 finished, or stopped by a person; 3 diverged; 75 told to end, 1 failed: it
      is to be started again.

    Raises:
      ConfigError: there is another run under this id, or it has no such group.
      RunError: its files cannot be written or read.
    """
    if index >= config.groups:
        raise ConfigError(
            f"The pod's index is {index}, but the run has {config.groups} groups, counted from "
            "0: apply the manifest unchanged."
        )
    with _EndSignal() as ending:
        run = take_up_submission(create_run_once(run_id, config, Placement(on)), submission)
        works: list[JobFinder] = [lambda: find_group(f"{run_id}:{index + 1}")]
        if index == 0:
            works.append(lambda: find_run(run_id))
        if not _is_pod_done(run, index):
            _run_pod_jobs(works, ending)
    return _combine_exit_statuses(run_id, works)


class _EndSignal:
    """Notes that this pod is told to end, so that its processes can be told.

    Before it has any it ends at once: the first process of a container is not ended by a signal
    that it takes no notice of.
    """

    def __init__(self) -> None:
        self.asked = self.at_work = False

    def __enter__(self) -> "_EndSignal":
        self._told = catch_end_signals(self._note_signal)
        self._told.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._told.__exit__(None, None, None)

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if not self.at_work:
            raise SystemExit(EXIT_RESTART)


def _is_pod_done(run: Run, index: int) -> bool:
    """Whether the run is at its end, or stopped and nobody waits for this pod to say so."""
    if run.status.state in ("finished", "diverged"):
        return True
    return is_stop_requested(run) and (index > 0 or run.status.state == "stopped")


def _run_pod_jobs(works: list[JobFinder], ending: _EndSignal) -> None:
    """Have a process do each of these, and wait for them; where one fails, the others end too.

    Started again, the pod has all of them again: alone, the merging would wait for its own group.
    """
    children: list[subprocess.Popen[bytes]] = []
    stop_sent, ending.at_work = False, True
    try:
        for work in works:
            children.append(_start_pod_job(work()))
        while any(child.poll() is None for child in children):
            if not stop_sent and (ending.asked or _has_failed_job(works, children)):
                stop_sent = True
                for child in children:
                    child.terminate()
            time.sleep(POLL_SECONDS)
    finally:
        for child in children:
            if child.poll() is None:
                child.kill()
                child.wait()


def _start_pod_job(job: Job) -> "subprocess.Popen[bytes]":
    """The worker of a job, which ends with this process and writes to the job's log."""
    print(f"{job.kind.title}: {job.id}", flush=True)
    with change_job_files(job.path), open_plain_append(job.path / "log.txt") as log:
        return subprocess.Popen(
            build_python_command(job.kind.command, job.id),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**build_worker_environment(), PARENT_VARIABLE: str(os.getpid())},
        )


def _has_failed_job(works: list[JobFinder], children: list["subprocess.Popen[bytes]"]) -> bool:
    ended = [work for work, child in zip(works, children, strict=True) if child.poll() is not None]
    return any(_compute_exit_status(work()) in (EXIT_FAILED, EXIT_RESTART) for work in ended)


def _combine_exit_statuses(run_id: str, works: list[JobFinder]) -> int:
    """What the pod ends with: the worst that became of its jobs, unless the run is at its end."""
    if find_run(run_id).status.state == "finished":
        return EXIT_DONE
    jobs = [work() for work in works]
    for job in jobs:
        print(f"{job.id} is {job.state}. {job.message}".strip(), flush=True)
    statuses = [_compute_exit_status(job) for job in jobs]
    return next((status for status in (EXIT_DIVERGED, EXIT_FAILED, EXIT_RESTART) if status in statuses), EXIT_DONE)


def _compute_exit_status(job: Job) -> int:
    """The exit status for a job that nothing is at any more."""
    state = job.status.state
    if state in ("finished", "diverged"):
        return EXIT_DONE if state == "finished" else EXIT_DIVERGED
    # A person asks by a file, Kubernetes by a signal.
    if is_stop_requested(job) or is_stop_requested(_find_run_of_job(job)):
        return EXIT_DONE
    return EXIT_RESTART if state == "stopped" else EXIT_FAILED


def _find_run_of_job(job: Job) -> Run:
    return find_run(job.id.partition(":")[0])
