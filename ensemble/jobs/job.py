"""A job of any kind as it stood when it was read, and asking it to stop."""

from pathlib import Path
from typing import NamedTuple

from ensemble.access import Action
from ensemble.jobs.folders import change_job_files
from ensemble.jobs.kinds import JobKind, load_entry_point
from ensemble.jobs.placement import PLACEMENT_FILE as PLACEMENT
from ensemble.jobs.status import JobStatus, is_worker_alive
from ensemble.jobs.worker_death import describe_worker_death
from ensemble.storage.atomic_files import read_json
from ensemble.storage.file_lock import is_locked

STATUS_FILE = "status.json"
STOP_FILE = "stop"
# In the folder of a run that is a sweep's trial: which. Its sweep's turn is its own.
TRIAL_FILE = "trial.json"
# What a job's tasks at a scheduler do is read, and stopped, by functions that know more than jobs.
_READ_UNFOLLOWED = "ensemble.jobs.remote.job_tasks:read_unfollowed_work"
_STOP_UNFOLLOWED = "ensemble.jobs.remote.job_tasks:stop_unfollowed_work"
# A worker holds it for as long as it is there: see `queue.acquire_worker_lock`.
LOCK_FILE = "worker.lock"


class UnfollowedWork(NamedTuple):
    """How a job stands by what its tasks write, and a sentence on it."""

    state: str
    message: str


class Job:
    """Work that a process of its own does and tells of.

    Attributes:
      kind: what kind of job it is.
      id: what its worker is told, and its word in addresses.
      name: what it is called among people.
      path: the folder of its files: log.txt, worker.lock (which its worker holds) and, while it
        is asked to stop, `stop`.
      status: what its worker last wrote.
    """

    kind: JobKind
    id: str
    name: str
    path: Path
    status: JobStatus

    @property
    def status_file(self) -> Path:
        """Where its worker writes how it stands."""
        return self.path / STATUS_FILE

    @property
    def is_placed(self) -> bool:
        """Whether it was given another place than this machine, whose turns it does not take."""
        return (self.path / PLACEMENT).exists()

    @property
    def has_died(self) -> bool:
        """Whether the worker ended without saying so."""
        # Only one that says that it is running is asked: a list may hold a thousand others.
        if not self._claims_active or is_worker_alive(self.status, is_locked(self.path / LOCK_FILE)):
            return False
        # A worker says how it ended before it lets go: it may have, since this was read.
        try:
            return read_json(self.status_file).get("state") in self.kind.active_states
        except (OSError, ValueError):
            return True

    @property
    def unfollowed_work(self) -> UnfollowedWork | None:
        """How its tasks at a scheduler stand, where no process follows them any more.

        None where one does, or there are no such tasks.
        """
        if not self.kind.tasks_entry or not self.is_placed or not self.has_died:
            return None
        work: UnfollowedWork | None = load_entry_point(_READ_UNFOLLOWED)(self)
        return work

    @property
    def state(self) -> str:
        """The state, but where the worker that should be there is not that of its tasks.

        It is `failed` where there are none.
        """
        if not self.has_died:
            return self.status.state
        return work.state if (work := self.unfollowed_work) else "failed"

    @property
    def active(self) -> bool:
        """Whether a worker waits, starts or runs it."""
        return self.state in self.kind.active_states

    @property
    def has_pending_or_remote_worker(self) -> bool:
        """Whether a worker is about to begin, or runs it on another host.

        That is all its lock cannot tell: for who holds that, so that no worker of this host does.
        """
        return self._claims_active and is_worker_alive(self.status, held=False)

    @property
    def _claims_active(self) -> bool:
        return self.status.state in self.kind.active_states

    @property
    def message(self) -> str:
        """One or two sentences on the state, possibly empty."""
        if not self.has_died:
            return self.status.message
        if work := self.unfollowed_work:
            return work.message
        return describe_worker_death(self.path, self.kind, self.status.share)


def request_job_stop(job: Job) -> bool:
    """Ask a job's worker to stop; whether there was one to ask.

    One that has ended meanwhile has stopped as well: asking too late is no error. Where only its
    tasks at a scheduler are there, they are asked.

    Raises:
      AccessError: it is somebody else's.
      RunError: its folder cannot be written.
    """
    if not job.active:
        return False
    again = is_stop_requested(job)
    with change_job_files(job.path, action=Action.STOP):
        (job.path / STOP_FILE).touch()
    if job.unfollowed_work:
        load_entry_point(_STOP_UNFOLLOWED)(job, again)
    return True


def is_stop_requested(job: Job) -> bool:
    """Whether somebody asked this job to stop."""
    return (job.path / STOP_FILE).exists()


def clear_stop_request(job_folder: Path) -> None:
    """Let a job that is to begin (again) not stop at once."""
    (job_folder / STOP_FILE).unlink(missing_ok=True)
