"""Jobs that have a folder of their own among the runs: runs, sweeps and regressions.

How they are made, found, listed, queued, stopped and deleted stands here once. What is peculiar
to a kind is said by its own `JobStore`, beside what it is read into.
"""

import functools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from ensemble.access import Action, limits, owners
from ensemble.errors import ConfigError, RunError, UnknownRunError
from ensemble.jobs import job as jobs
from ensemble.jobs.folders import (
    Config,
    changing,
    folder_of,
    new_run,
    not_readable,
    read_whole_config,
    remove,
    write_config,
)
from ensemble.jobs.job import Job
from ensemble.jobs.kinds import Kind
from ensemble.jobs.launch import start_worker
from ensemble.jobs.placement import Placement, write_placement
from ensemble.jobs.queue import active_in, jobs_in, queueing, without_worker
from ensemble.jobs.status import JobStatus, StoredStatus, write_status
from ensemble.storage.folder_index import FILES, FolderIndex

J = TypeVar("J", bound="StoredJob")
C = TypeVar("C")
Known = TypeVar("Known")


class StoredJob(Job):
    """A job that has a folder of its own among the runs."""

    status: StoredStatus


class JobStore(ABC, Generic[J, C, Known]):
    """All jobs of one kind that has folders of its own among the runs.

    J is what such a job is read into, C what one is made with, Known what is kept of the
    `config.json` of each.

    Attributes:
      kind: which.
      noun: what people call such a job, in sentences: "run".
      of_another_kind: how the sentence ends that begins with the id of a folder of another kind;
        {kind} in it is that.
      kept_as: what stands for `kind` in the `config.json` of those that are read here.
      files: those in its folder that `read` reads.
      within: other kinds of jobs whose files lie in its folder, and go with it.
      again: what people call it that one is put into the queue again.
      action: what they have to be allowed for that.
    """

    kind: ClassVar[Kind]
    noun: ClassVar[str]
    of_another_kind: ClassVar[str]
    kept_as: ClassVar[tuple[str | None, ...]]
    files: ClassVar[tuple[str, ...]] = FILES
    within: ClassVar[tuple[Kind, ...]] = ()
    again: ClassVar[str] = "resumed"
    action: ClassVar[Action] = Action.RESUME

    def __init__(self) -> None:
        self._known = functools.lru_cache(maxsize=4096)(self._read_config)
        self._index = FolderIndex(self.find, self.files)

    @abstractmethod
    def parse(self, config: Config) -> Known:
        """What is kept of a `config.json`; ConfigError or ValueError where it makes no sense."""

    @abstractmethod
    def read(self, folder: Path, known: Known) -> J:
        """The job in a folder; OSError, ConfigError or ValueError where it cannot be read."""

    @abstractmethod
    def fill(self, folder: Path, config: C, placement: Placement | None) -> None:
        """Write what a new folder holds, with `write_job` at the end of it."""

    def prepare(self, config: C) -> C:
        """The config of a job that is about to be made, with what this machine says of it."""
        return config

    def stem(self, config: C) -> str:
        """What the id of a new job begins with."""
        return str(self.kind.kept_as)

    def why_over(self, job: J) -> str:
        """Why one that has ended cannot go on, to end a sentence with; "" where it can."""
        return ""

    def why_not_again(self, job: J, active: bool) -> str:
        """Why one is not put into the queue again, to end a sentence with; "" where it is.

        Args:
          job: which.
          active: whether a worker is at it, or about to be.
        """
        return f"it is {job.status.state} already." if active else self.why_over(job)

    def renewed(self, job: J) -> Mapping[str, Any]:
        """What else is new in its status once it is in the queue again."""
        return {}

    def start(self, job: J) -> None:
        """Start the worker of a queued job."""
        start_worker(job)

    def find_to_delete(self, job_id: str) -> Path:
        """The folder of one that is to be deleted: of one that can be read."""
        return self.find(job_id).path

    def why_kept(self, job_id: str, kind: Kind) -> str:
        """Why it is not deleted as long as a job of this kind is at work in its folder."""
        return f"The {self.noun} “{job_id}” is still active: stop it, then delete it."

    def create(self, config: C, placement: Placement | None = None) -> J:
        """A new job's folder, state `queued`; nothing works on it yet.

        Args:
          config: its settings.
          placement: where it is to be done; by default on this machine.

        Raises:
          AccessError: whoever asks may not, or has enough of them.
          RunError: the folder cannot be written.
        """
        return self._create(config, placement)

    def find(self, job_id: str) -> J:
        """The job with this id.

        Raises:
          UnknownRunError: there is none of this kind.
          RunError: its files cannot be read.
        """
        folder = folder_of(job_id)
        try:
            known = self._known(folder, (folder / "config.json").stat().st_mtime_ns)
            return self.read(folder, known)
        except (OSError, ValueError, ConfigError) as error:
            raise not_readable(job_id, folder, error) from error

    def list_jobs(self) -> list[J]:
        """All that can be read, newest first."""
        found, _ = self._index.look()
        return sorted(found, key=lambda one: (one.status.created, one.id), reverse=True)

    def list_unreadable(self) -> dict[str, str]:
        """Folders that look like one and cannot be read: their name, and why in a sentence."""
        _, errors = self._index.look()
        return {
            name: str(error)
            for name, error in sorted(errors.items())
            if not isinstance(error, UnknownRunError)
        }

    def launch(self, config: C, placement: Placement | None = None) -> J:
        """Make a job and start its worker, which waits its turn; otherwise as `create`."""
        job = self.create(config, placement)
        self.start(job)
        return job

    def resume(self, job_id: str) -> J:
        """Start a worker again on one that has ended, which goes on where it was."""
        job = self.requeue(job_id)
        self.start(job)
        return job

    def requeue(self, job_id: str) -> J:
        """Put one that can go on back into state `queued`.

        Raises:
          AccessError: it is somebody else's, or whoever asks has enough of them.
          RunError: it is active, or its work is over; or its folder cannot be written.
        """
        job = self._find_again(job_id)
        asked = limits.launching() if self.action is Action.RESUME else nullcontext()
        busy = f"{self._cannot(job_id)}a worker is at it still. Stop it first."
        look = functools.partial(self._find_again, job_id, alone=True)
        with asked, changing(job.path, action=self.action), queueing(job.path, busy, look) as job:
            now = time.time()
            status = replace(
                job.status,
                state="queued",
                queued=now,
                updated=now,
                pid=None,
                message="",
                seconds_left=None,
                **self.renewed(job),
            )
            write_status(job.path, status)
        return self.find(job_id)

    def request_stop(self, job_id: str) -> bool:
        """Ask its worker to stop, as `Kind.stopping_help` says when; whether there is one."""
        return jobs.request_stop(self.find(job_id))

    def delete(self, job_id: str) -> None:
        """Delete one and all its files.

        Raises:
          AccessError: it is somebody else's.
          RunError: a worker is at it: stop it first.
        """
        folder = self.find_to_delete(job_id)
        owners.check_own(Action.DELETE, folder)
        for job in active_in(folder):
            raise RunError(self.why_kept(job_id, job.kind))
        with ExitStack() as held:
            held.enter_context(without_worker(folder, self.why_kept(job_id, self.kind)))
            for kind in self.within:
                if not folder.is_symlink():  # What a link leads to stays as it is.
                    with suppress(OSError):
                        (folder / kind.part).mkdir(exist_ok=True)  # So that nobody begins there.
                busy = self.why_kept(job_id, kind)
                held.enter_context(without_worker(folder / kind.part, busy))
            for job in jobs_in(folder):
                if job.awaited:
                    raise RunError(self.why_kept(job_id, job.kind))
            remove(folder)

    def _create(
        self,
        config: C,
        placement: Placement | None,
        prepare_folder: Callable[[Path], None] = lambda folder: None,
    ) -> J:
        config = self.prepare(config)
        with new_run(self.stem(config), time.time()) as folder:
            prepare_folder(folder)
            self.fill(folder, config, placement)
        return self.find(folder.name)

    def _cannot(self, job_id: str) -> str:
        return f"The {self.noun} “{job_id}” cannot be {self.again}: "

    def _find_again(self, job_id: str, alone: bool = False) -> J:
        """The job that is to be put into the queue again, unless it cannot be.

        Args:
          job_id: which.
          alone: whether who asks holds the worker's lock, so that none of this host does.
        """
        job = self.find(job_id)
        if why := self.why_not_again(job, job.awaited if alone else job.active):
            raise RunError(self._cannot(job_id) + why)
        return job

    def _read_config(self, folder: Path, mtime_ns: int) -> Known:
        config = read_whole_config(folder)
        if (config.kind or None) not in self.kept_as:
            end = self.of_another_kind.format(kind=config.kind)
            raise UnknownRunError(f"“{folder.name}” {end}")
        return self.parse(config)


def write_job(
    folder: Path,
    status: JobStatus,
    settings: dict[str, Any],
    placement: Placement | None,
    **more: Any,
) -> None:
    """Make a job of a folder: whatever else it needs lies there already.

    Args:
      folder: a new one.
      status: of the job, in state `queued`.
      settings: of the job, ready for JSON.
      placement: where it is to be done; None for this machine.
      more: what else its `config.json` says.

    Raises:
      OSError: it cannot be written.
    """
    write_status(folder, status)
    if placement:
        write_placement(folder, placement)
    # config.json comes last: a folder without it is not yet a run.
    write_config(folder, status.kind, settings, **more)
