"""From a click to a worker: processes of their own that outlive whoever started them."""

import subprocess
from pathlib import Path

from ensemble.access import Action, check_permission, owners, usage_limits
from ensemble.jobs.folders import change_job_files
from ensemble.jobs.job import TRIAL_FILE, Job
from ensemble.jobs.queue import iterate_jobs
from ensemble.machine.jax_settings import restore_user_environment
from ensemble.machine.python_command import build_python_command, build_python_environment
from ensemble.storage.folders import runs_folder
from ensemble.storage.plain_files import open_plain_append

# "1" where all ends with the server, as in a container: it has runs stop with a checkpoint first.
STOP_WITH_SERVER = "ENSEMBLE_STOP_WITH_SERVER"
# Kept so that a worker that ends is reaped, at the next launch or look.
_children: list["subprocess.Popen[bytes]"] = []


def build_worker_environment() -> dict[str, str]:
    """The environment for a worker: as it was given to this process, folders made absolute.

    No Python in it looks in the working folder first: see `build_python_environment`.
    """
    return {
        **build_python_environment(restore_user_environment()),
        "ENSEMBLE_RUNS": str(runs_folder()),
        "PYTHONUNBUFFERED": "1",
    }


def start_worker(job: Job, action: Action | None = Action.LAUNCH) -> None:
    """Start the worker of a queued job; otherwise as `start_command_process`."""
    start_command_process(job.path / "log.txt", job.kind.command, job.id, action=action)


def start_command_process(log: Path, *words: str, action: Action | None = Action.LAUNCH) -> None:
    """`ensemble` with these words: it outlives this process and writes to `log`.

    Args:
      log: what it writes to.
      words: of the command.
      action: what whoever asks has to be allowed; None where nobody asks, and it is the program's
        own upkeep.

    Raises:
      AccessError: whoever asks may launch nothing.
      RunError: the log cannot be written.
    """
    if action:
        check_permission(action)
    with change_job_files(log.parent, action=None), open_plain_append(log) as file:
        child = subprocess.Popen(
            build_python_command(*words),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=build_worker_environment(),
            start_new_session=True,
        )
    track_child(child)


def track_child(child: "subprocess.Popen[bytes]") -> None:
    """Remember a child, so that it is reaped once it has ended."""
    _children[:] = [process for process in _children if process.poll() is None and process is not child]
    _children.append(child)


def stop_children() -> None:
    """Tell all that this process has started to stop, and wait for that.

    Workers then write a checkpoint and say that they were stopped. However long that takes:
    whoever ends this process has a limit of their own, and kills what is still there after it.
    """
    children = tuple(_children)
    for child in children:
        child.terminate()
    for child in children:
        child.wait()


def count_active_jobs(who: str) -> int:
    """How many jobs of somebody's work or wait, wherever; a sweep and its trials are one."""
    asked_for = (job for job in iterate_jobs() if job.active and not (job.path / TRIAL_FILE).exists())
    return sum(owners.find_owner(job.path) == who for job in asked_for)


usage_limits.set_job_counter(count_active_jobs)
