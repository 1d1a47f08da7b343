"""Jobs that have a folder of their own among the runs: runs, sweeps and regressions.

How they are made, found, listed, queued, stopped and deleted stands here once. What is peculiar
to a kind is said by its own `JobStore`, beside what it is read into.
"""

import functools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from ensemble.access import Action, owners, usage_limits
from ensemble.errors import ConfigError, RunError, StorageError, UnknownRunError
from ensemble.jobs import job as jobs
from ensemble.jobs.folders import (
    StoredConfig,
    build_unreadable_error,
    change_job_files,
    create_run_folder,
    delete_run_folder,
    find_run_folder,
    read_stored_config,
    write_stored_config,
)
from ensemble.jobs.job import Job
from ensemble.jobs.kinds import JobKind, list_nested_kinds
from ensemble.jobs.launch import start_worker
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.placement import Placement, write_placement
from ensemble.jobs.queue import exclude_worker, list_active_run_jobs, list_run_jobs, prepare_requeue
from ensemble.jobs.status import JobStatus, StatusWriter, StoredStatus, write_status
from ensemble.jobs.worker import execute_job
from ensemble.machine.jax_environment import check_jax_environment
from ensemble.storage.atomic_files import write_json
from ensemble.storage.disk_errors import describe_os_error, describe_remedy
from ensemble.storage.folder_index import INDEXED_FILES, FolderIndex
from ensemble.storage.folders import data_folder

AnyJobT = TypeVar("AnyJobT", bound=Job)
JobT = TypeVar("JobT", bound="StoredJob")
ConfigT = TypeVar("ConfigT")
ParsedT = TypeVar("ParsedT")


class StoredJob(Job):
    """A job that has a folder of its own among the runs."""

    status: StoredStatus


def is_job_settled(job: Job) -> bool:
    """Whether a job says that it has ended: no worker writes into its files."""
    return job.status.state not in job.kind.active_states


class BaseJobStore(ABC, Generic[AnyJobT]):
    """The jobs of one kind, wherever their files are."""

    @abstractmethod
    def read(self, job_id: str) -> AnyJobT | None:
        """Return the job with this id; None if it does not exist or cannot be read."""

    def queue_job(self, job: AnyJobT, busy: str, prepare: Callable[[], object] = lambda: None) -> None:
        """Put a job with a folder into state `queued`, without a worker.

        Args:
          job: with the status to write.
          busy: what to say if a worker is running it.
          prepare: changes what else is new in its folder.

        Raises:
          RunError: a worker is running it, or its folder cannot be locked.
          OSError: its folder cannot be written.
        """
        with prepare_requeue(job.path, busy, lambda: self.read(job.id)):
            prepare()
            write_json(job.status_file, asdict(job.status))

    def launch_once(
        self,
        job: AnyJobT,
        busy: str,
        prepare: Callable[[], object] = lambda: None,
        action: Action | None = Action.LAUNCH,
    ) -> AnyJobT:
        """Queue a job in the data folder and start its worker; if it is active already, return it as it is.

        Args:
          job: with the status to write.
          busy: what to say if its last worker has not quite ended.
          prepare: changes what else is new in its folder.
          action: what the user must be allowed to do; None for the program's own upkeep.

        Raises:
          RunError: its last worker has not quite ended.
          StorageError: the data folder cannot be written.
        """
        if (active := self.read(job.id)) and active.active:
            return active
        try:
            job.path.mkdir(parents=True, exist_ok=True)
            try:
                self.queue_job(job, busy, prepare)
            except RunError:
                if (active := self.read(job.id)) and active.active:
                    return active  # It was launched twice at once.
                raise
            start_worker(job, action)
        except OSError as error:
            raise StorageError(
                f"Nothing can be saved in {data_folder()} ({describe_os_error(error)}): "
                f"{describe_remedy(error)}, or point ENSEMBLE_DATA at a folder that you can write to."
            ) from error
        return job

    def execute(self, job_id: str, work: Callable[[AnyJobT, StatusWriter[Any], StopRequest], Outcome]) -> None:
        """Do a queued job in this process, unless it no longer exists; see `jobs.worker.execute_job`."""
        if job := self.read(job_id):
            execute_job(job, lambda status, stop: work(job, status, stop), lambda status: None)


class JobStore(BaseJobStore[JobT], Generic[JobT, ConfigT, ParsedT]):
    """All jobs of one kind that has folders of its own among the runs.

    J is what such a job is read into, C what one is made with, Known what is kept of the
    `config.json` of each.

    Attributes:
      kind: which.
      noun: what people call such a job, in sentences: "run".
      wrong_kind_sentence: how the sentence ends that begins with the id of a folder of another
        kind; {kind} in it is that.
      config_kinds: what stands for `kind` in the `config.json` of those that are read here.
      files: those in its folder that `read_job` reads.
      requeue_verb: what people call it that one is put into the queue again.
      requeue_action: what they have to be allowed for that.
    """

    kind: ClassVar[JobKind]
    noun: ClassVar[str]
    wrong_kind_sentence: ClassVar[str]
    config_kinds: ClassVar[tuple[str | None, ...]]
    files: ClassVar[tuple[str, ...]] = INDEXED_FILES
    requeue_verb: ClassVar[str] = "resumed"
    requeue_action: ClassVar[Action] = Action.RESUME

    def __init__(self) -> None:
        self._known = functools.lru_cache(maxsize=4096)(self._parse_stored_config)
        self._index = FolderIndex(self.find, self.files, is_job_settled)

    @abstractmethod
    def parse_config(self, config: StoredConfig) -> ParsedT:
        """What is kept of a `config.json`; ConfigError or ValueError where it makes no sense."""

    @abstractmethod
    def read_job(self, folder: Path, parsed_config: ParsedT) -> JobT:
        """The job in a folder; OSError, ConfigError or ValueError where it cannot be read."""

    @abstractmethod
    def write_folder(self, folder: Path, config: ConfigT, placement: Placement | None) -> None:
        """Write what a new folder holds, with `write_job_files` at the end of it."""

    def describe_wrong_kind(self, kind: str) -> str:
        """How the sentence ends that begins with the id of a folder of another kind."""
        return self.wrong_kind_sentence.format(kind=kind)

    def complete_config(self, config: ConfigT) -> ConfigT:
        """The config of a job that is about to be made, with what this machine says of it."""
        return config

    def id_prefix(self, config: ConfigT) -> str:
        """What the id of a new job begins with."""
        return str(self.kind.config_kind)

    def explain_final_state(self, job: JobT) -> str:
        """Why one that has ended cannot go on, to end a sentence with; "" if it can."""
        return ""

    def explain_requeue_refusal(self, job: JobT, active: bool) -> str:
        """Why one is not put into the queue again, to end a sentence with; "" if it is.

        Args:
          job: which.
          active: whether a worker is running it, or about to be.
        """
        return f"it is already {job.status.state}." if active else self.explain_final_state(job)

    def build_requeue_changes(self, job: JobT) -> Mapping[str, Any]:
        """What else is new in its status once it is in the queue again."""
        return {}

    def start_worker(self, job: JobT) -> None:
        """Start the worker of a queued job."""
        start_worker(job)

    def find_deletable_folder(self, job_id: str) -> Path:
        """The folder of one that is to be deleted: of one that can be read."""
        return self.find(job_id).path

    def explain_delete_refusal(self, job_id: str, kind: JobKind) -> str:
        """Why it is not deleted as long as a job of this kind runs in its folder."""
        return f"The {self.noun} “{job_id}” is still active: stop it, then delete it."

    def create(self, config: ConfigT, placement: Placement | None = None) -> JobT:
        """A new job's folder, state `queued`; nothing works on it yet.

        Args:
          config: its settings.
          placement: where it is to be done; by default on this machine.

        Raises:
          AccessError: whoever asks may not, or has enough of them.
          RunError: the folder cannot be written.
        """
        return self._create_job(config, placement)

    def find(self, job_id: str) -> JobT:
        """The job with this id.

        Raises:
          UnknownRunError: there is none of this kind.
          RunError: its files cannot be read.
        """
        folder = find_run_folder(job_id, self.noun)
        try:
            parsed_config = self._known(folder, (folder / "config.json").stat().st_mtime_ns)
            return self.read_job(folder, parsed_config)
        except (OSError, ValueError, ConfigError) as error:
            raise build_unreadable_error(job_id, folder, error) from error

    def read(self, job_id: str) -> JobT | None:
        """Return the job with this id; None if none of this kind has it.

        Raises:
          RunError: its files cannot be read.
        """
        try:
            return self.find(job_id)
        except UnknownRunError:
            return None

    def list_jobs(self) -> list[JobT]:
        """All that can be read, newest first."""
        job_list, _ = self._index.list_items()
        return sorted(job_list, key=lambda job: (job.status.created, job.id), reverse=True)

    def list_unreadable(self) -> dict[str, str]:
        """Folders that look like one and cannot be read: their name, and why in a sentence."""
        _, errors = self._index.list_items()
        return {name: str(error) for name, error in sorted(errors.items()) if not isinstance(error, UnknownRunError)}

    def launch(self, config: ConfigT, placement: Placement | None = None) -> JobT:
        """Make a job and start its worker, which waits in the queue; otherwise as `create`."""
        job = self.create(config, placement)
        self.start_worker(job)
        return job

    def resume(self, job_id: str) -> JobT:
        """Start a worker again on one that has ended, which continues where it stopped."""
        job = self.requeue(job_id)
        self.start_worker(job)
        return job

    def requeue(self, job_id: str) -> JobT:
        """Put one that can go on back into state `queued`.

        Raises:
          AccessError: it is somebody else's, or whoever asks has enough of them.
          RunError: it is active, or its work is over; or its folder cannot be written.
        """
        return self._requeue_job(job_id)

    def _requeue_job(self, job_id: str, prepare_folder: Callable[[JobT], None] = lambda job: None) -> JobT:
        """As `requeue`; `prepare_folder` changes what else is new in its folder, or refuses."""
        job = self._find_requeueable(job_id)
        launch_limit = usage_limits.limit_launches() if self.requeue_action is Action.RESUME else nullcontext()
        busy = f"{self._begin_refusal(job_id)}it is still running. Stop it first."
        look = functools.partial(self._find_requeueable, job_id, alone=True)
        with (
            launch_limit,
            change_job_files(job.path, action=self.requeue_action),
            prepare_requeue(job.path, busy, look) as job,
        ):
            prepare_folder(job)
            now = time.time()
            status = replace(
                job.status,
                state="queued",
                queued=now,
                updated=now,
                pid=None,
                message="",
                seconds_left=None,
                **self.build_requeue_changes(job),
            )
            write_status(job.path, status)
        return self.find(job_id)

    def request_stop(self, job_id: str) -> bool:
        """Ask its worker to stop, as `JobKind.stop_delay` says when; whether there is one."""
        return jobs.request_job_stop(self.find(job_id))

    def delete(self, job_id: str) -> None:
        """Delete one and all its files.

        Raises:
          AccessError: it is somebody else's.
          RunError: a worker is running it: stop it first.
        """
        folder = self.find_deletable_folder(job_id)
        owners.check_folder_access(Action.DELETE, folder)
        for job in list_active_run_jobs(folder):
            raise RunError(self.explain_delete_refusal(job_id, job.kind))
        with ExitStack() as held:
            held.enter_context(exclude_worker(folder, self.explain_delete_refusal(job_id, self.kind)))
            for kind in list_nested_kinds():
                if not folder.is_symlink():  # What a link leads to stays as it is.
                    with suppress(OSError):
                        (folder / kind.subfolder).mkdir(exist_ok=True)  # So that nobody begins there.
                busy = self.explain_delete_refusal(job_id, kind)
                held.enter_context(exclude_worker(folder / kind.subfolder, busy))
            for job in list_run_jobs(folder):
                if job.has_pending_or_remote_worker:
                    raise RunError(self.explain_delete_refusal(job_id, job.kind))
            delete_run_folder(folder)

    def _create_job(
        self, config: ConfigT, placement: Placement | None, prepare_folder: Callable[[Path], None] = lambda folder: None
    ) -> JobT:
        if placement is None:
            check_jax_environment()  # before there is a job that could only fail
        config = self.complete_config(config)
        with create_run_folder(self.id_prefix(config), time.time()) as folder:
            prepare_folder(folder)
            self.write_folder(folder, config, placement)
        return self.find(folder.name)

    def _begin_refusal(self, job_id: str) -> str:
        return f"The {self.noun} “{job_id}” cannot be {self.requeue_verb}: "

    def _find_requeueable(self, job_id: str, alone: bool = False) -> JobT:
        """The job that is to be put into the queue again, unless it cannot be.

        Args:
          job_id: which.
          alone: whether who asks holds the worker's lock, so that none of this host does.
        """
        job = self.find(job_id)
        # Whose tasks alone are there can be followed again.
        active = job.active and not job.unfollowed_work
        if why := self.explain_requeue_refusal(job, job.has_pending_or_remote_worker if alone else active):
            raise RunError(self._begin_refusal(job_id) + why)
        return job

    def _parse_stored_config(self, folder: Path, mtime_ns: int) -> ParsedT:
        config = read_stored_config(folder)
        if (config.kind or None) not in self.config_kinds:
            end = self.describe_wrong_kind(str(config.kind))
            raise UnknownRunError(f"“{folder.name}” {end}")
        return self.parse_config(config)


def write_job_files(
    folder: Path, status: JobStatus, settings: dict[str, Any], placement: Placement | None, **more: Any
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
    write_stored_config(folder, status.kind, settings, **more)
