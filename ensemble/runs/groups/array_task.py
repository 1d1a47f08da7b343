"""One task of a run whose tasks another program starts: a pod of Kubernetes, or a task of an array.

Each task trains the group of its index. The task with index 0 has two more duties, also when it is
started again: it creates the run, and the run's coordinator runs next to its group.

Every submission, such as one `kubectl apply`, has a number. A Stop from an earlier submission no
longer counts; a later one is meant for these tasks.
"""

import os
import signal
import subprocess
import time
from types import FrameType

from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError, UnknownRunError
from ensemble.jobs.folders import build_unwritable_error, change_job_files
from ensemble.jobs.job import Job, clear_stop_request, is_stop_requested
from ensemble.jobs.outcome import catch_end_signals
from ensemble.jobs.placement import Placement, read_place_name
from ensemble.jobs.remote.coordinator_process import start_child_worker
from ensemble.runs.groups.group import GROUPS_FOLDER, create_group_folders, find_group
from ensemble.runs.run_folder import write_run_folder
from ensemble.runs.status import RESUMABLE
from ensemble.runs.store import Run, find_run, requeue_run
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.folders import runs_folder

_POLL_SECONDS = 0.2
_SUBMISSION_FILE = "submission.json"
# Exit statuses: with 1 and 75 the scheduler is to start the task again.
EXIT_DONE, EXIT_DIVERGED, EXIT_FAILED, EXIT_RESTART = 0, 3, 1, 75


def execute_array_task(run_id: str, config: EnsembleConfig, index: int, submission: str, on: str) -> int:
    """Train the group of this task until it ends or the task is told to end.

    Args:
      run_id: the run.
      config: its settings.
      index: of the task, from 0.
      submission: the number that all tasks of one submission have in common.
      on: the place that starts it, one of `EXTERNAL_TARGETS`.

    Returns:
      The exit status: 0 finished, or stopped by a person; 3 diverged; 1 failed.

    Raises:
      ConfigError: another run has this id, or the run has no such group.
      RunError: its files cannot be written or read.
      SystemExit: with status 75, the task was told to end.
    """
    if index >= config.groups:
        raise ConfigError(
            f"The task's index is {index}, but the run has {config.groups} groups, counted from 0: "
            "submit what was printed unchanged."
        )
    with catch_end_signals(_exit_to_restart):
        run = (take_up_run if index == 0 else wait_for_run)(run_id, config, on, submission)
        jobs: list[Job] = [find_group(f"{run_id}:{index + 1}"), *([run] if index == 0 else [])]
        stopped = run.status.state == "stopped" and is_stop_requested(run)
        if not stopped and run.status.state not in ("finished", "diverged"):
            _run_workers(jobs)
        if find_run(run_id).status.state == "finished":
            return EXIT_DONE
        statuses = [_compute_exit_status(job) for job in jobs]
    return next((status for status in (EXIT_DIVERGED, EXIT_FAILED) if status in statuses), max(statuses))


def _exit_to_restart(number: int, frame: FrameType | None) -> None:
    for end_signal in (signal.SIGTERM, signal.SIGINT):  # A scheduler may send several.
        signal.signal(end_signal, signal.SIG_IGN)
    raise SystemExit(EXIT_RESTART)


def take_up_run(run_id: str, config: EnsembleConfig, on: str, submission: str) -> Run:
    """Create the run, or prepare it to continue in a new submission; for the task with index 0."""
    folder = runs_folder() / run_id
    if not os.path.lexists(folder):
        unfinished = folder.with_name(f".new-{run_id}")  # A kill leaves no half of a run.
        try:
            unfinished.mkdir(parents=True, exist_ok=True)
            write_run_folder(unfinished, config, Placement(on))
            unfinished.rename(folder)
        except OSError as error:
            raise build_unwritable_error(error) from error
    run = _find_same_run(run_id, config, on)
    if (before := _read_submission(run)) == submission:
        return run
    with change_job_files(run.path):
        groups = create_group_folders(run)
        if before is not None and run.active:
            print(f"Waiting for the worker of an earlier submission of the run “{run_id}” to end.", flush=True)
            while (run := find_run(run_id)).active:
                time.sleep(_POLL_SECONDS)
        if run.state in RESUMABLE:
            requeue_run(run_id, on=on)
        for group in groups:
            clear_stop_request(group.path)
        write_json(run.path / GROUPS_FOLDER / _SUBMISSION_FILE, {"id": submission})
    return find_run(run_id)


def wait_for_run(run_id: str, config: EnsembleConfig, on: str, submission: str) -> Run:
    """Wait until the task with index 0 of the same submission has taken up the run."""
    print(f"Waiting for the task with index 0, which prepares the run “{run_id}”.", flush=True)
    while True:
        if os.path.lexists(runs_folder() / run_id):
            run = _find_same_run(run_id, config, on)
            if _read_submission(run) == submission:
                return run
        time.sleep(_POLL_SECONDS)


def _find_same_run(run_id: str, config: EnsembleConfig, on: str) -> Run:
    """Return the run; ConfigError if it is not the one that these settings and this place describe."""
    try:
        run = find_run(run_id)
    except UnknownRunError as error:
        raise ConfigError(
            f"{runs_folder() / run_id} exists and is not an ensemble: choose another id for the run, or remove "
            "that folder."
        ) from error
    if run.training_config != config or read_place_name(run.path) != on:
        raise ConfigError(
            f"A run “{run_id}” with other settings or another placement exists: choose another id for this one."
        )
    return run


def _read_submission(run: Run) -> str | None:
    """Return the number of the submission that took up the run last; None before the first."""
    try:
        return str(read_json(run.path / GROUPS_FOLDER / _SUBMISSION_FILE).get("id"))
    except (OSError, ValueError):
        return None


def _run_workers(jobs: list[Job]) -> None:
    """Run the worker of each job until all have ended; if one fails, the others end too.

    The group and the coordinator of index 0 are restarted together: the coordinator alone would wait
    for its own group.
    """
    workers: list[subprocess.Popen[bytes]] = []
    try:
        workers += map(start_child_worker, jobs)
        while any(worker.poll() is None for worker in workers):
            ended = [job for job, worker in zip(jobs, workers, strict=True) if worker.poll() is not None]
            if any(_compute_exit_status(job) in (EXIT_FAILED, EXIT_RESTART) for job in ended):
                break
            time.sleep(_POLL_SECONDS)
    finally:
        for worker in workers:
            worker.terminate()
        for job, worker in zip(jobs, workers, strict=False):
            worker.wait()
            print(f"{job.id} is {_read_again(job).state}. {_read_again(job).message}".strip(), flush=True)


def _read_again(job: Job) -> Run:
    return find_group(job.id) if ":" in job.id else find_run(job.id)


def _compute_exit_status(job: Job) -> int:
    state = _read_again(job).status.state
    if state in ("finished", "diverged"):
        return EXIT_DONE if state == "finished" else EXIT_DIVERGED
    # A person stops a run by a file, a scheduler by a signal.
    if is_stop_requested(job) or is_stop_requested(find_run(job.id.partition(":")[0])):
        return EXIT_DONE
    return EXIT_RESTART if state == "stopped" else EXIT_FAILED
