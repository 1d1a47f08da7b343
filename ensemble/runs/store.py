"""The folder of runs: make, find, list, queue, stop, delete.

A run's id is made here and checked wherever one comes in: it is a name, never a path.
"""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ensemble.access import Action, check_permission
from ensemble.cluster.schedulers import EXTERNAL_TARGETS
from ensemble.config import EnsembleConfig, ImportedConfig
from ensemble.datasets import registry
from ensemble.datasets.record import parse_dataset_record
from ensemble.datasets.registry import DatasetEntry
from ensemble.errors import RunError
from ensemble.jobs.folders import StoredConfig, change_job_files, find_run_folder, is_run_id, read_run_name
from ensemble.jobs.kinds import GROUP, IMPORTED, NUMERIC, TRAINING, JobKind
from ensemble.jobs.launch import build_worker_environment, track_child
from ensemble.jobs.network_probe import write_network_advice
from ensemble.jobs.placement import KEEP_PLACEMENT, NewPlacement, Placement, read_place_name, write_placement
from ensemble.jobs.placement import PLACEMENT_FILE as PLACEMENT
from ensemble.jobs.store import JobStore, StoredJob
from ensemble.jobs.warm_worker import WarmWorker
from ensemble.machine.group_count import choose_group_count
from ensemble.runs.annotations.baseline import forget_baseline
from ensemble.runs.annotations.tags import TAGS_FILE as TAGS
from ensemble.runs.annotations.tags import normalize_tags, read_tags, write_tags_file
from ensemble.runs.run_folder import write_run_folder
from ensemble.runs.start_weights import StartWeights, write_start_weights
from ensemble.runs.status import RESUMABLE, Status, list_remaining_members, read_run_status
from ensemble.storage.folder_index import INDEXED_FILES
from ensemble.storage.plain_files import open_plain_append

GROUPS_FOLDER = "groups"  # in the folder of a run whose members are shared out among tasks
# How a run that cannot go on has ended, and what to do instead.
_FINAL_STATE_REASONS = {
    "finished": "it has finished. Launch a new one for more epochs.",
    "imported": "it was trained elsewhere. Continue training there, then import its predictions.",
    "diverged": "the same numbers would diverge again. Launch a new one with a lower learning rate.",
}


@dataclass(frozen=True)
class Run(StoredJob):
    """One run as it stood when it was read.

    Attributes:
      id: the run's folder name, and its name in URLs and on the command line.
      name: what a person called it, else the id.
      path: its folder.
      config: its settings.
      status: what its worker last wrote.
      data: what is known of the images that it learns and is tested on.
      member_names: what its members are called, M of them; none where they only have numbers.
      tags: words by which it is found and compared with others.
      origin: of one that came in a report: its id where it was made; else "".
      weights: "float16" of one whose members came in a report rounded to it; else "".
    """

    id: str
    name: str
    path: Path
    config: EnsembleConfig | ImportedConfig
    status: Status
    data: DatasetEntry
    member_names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    origin: str = ""
    weights: str = ""
    kind: JobKind = TRAINING

    @property
    def member_numbers(self) -> range:
        """Its members by number, from 0: those that its worker trains."""
        return range(self.config.members)

    @property
    def has_all_members(self) -> bool:
        """Whether these are all members of the ensemble."""
        return True

    @property
    def in_groups(self) -> bool:
        """Whether its members are shared out among tasks; see `runs.groups`."""
        if self.training_config is None or self.origin:
            return False
        if self.training_config.groups > 1 or (self.path / PLACEMENT).exists():
            return True
        return (self.path / GROUPS_FOLDER).is_dir()  # once it was placed, and has come back here

    @property
    def can_resume(self) -> bool:
        """Whether its training can go on here: not of one that came without its checkpoints."""
        return self.state in RESUMABLE and not self.origin

    def remaining_members(self, epoch: int | None = None) -> tuple[int, ...]:
        """Its members, from 0, except those diverged by the end of this epoch; by now for None.

        In this order stand the members in what is read of an epoch: predictions, parameters.
        """
        return list_remaining_members(self.status, self.config.members, epoch)

    @property
    def training_config(self) -> EnsembleConfig | None:
        """The settings that it was trained with here; None if it was trained elsewhere."""
        return self.config if isinstance(self.config, EnsembleConfig) else None


def require_training_config(run: Run) -> EnsembleConfig:
    """The settings that the run was trained with.

    Raises:
      RunError: it was trained elsewhere, and brought predictions alone.
    """
    if run.training_config is None:
        raise RunError(
            f"The run “{run.id}” was trained elsewhere: only its predictions are here, not its "
            "members. Choose a run that was trained here."
        )
    return run.training_config


def _change_run_placement(run: Run, placement: Placement | None) -> None:
    """Record where a run continues; RunError if it cannot continue there."""
    if placement is None:
        (run.path / PLACEMENT).unlink(missing_ok=True)
        return
    if not run.in_groups and run.status.step:
        raise RunError(
            f"The run “{run.id}” is trained by one process of this machine, not in tasks: resume "
            "it here, or launch it anew with --on."
        )
    write_placement(run.path, placement)


class _ParsedRunConfig(NamedTuple):
    config: EnsembleConfig | ImportedConfig
    data: DatasetEntry | None
    member_names: tuple[str, ...]
    origin: str
    weights: str


class _RunStore(JobStore[Run, EnsembleConfig, _ParsedRunConfig]):
    """All runs, those that were trained elsewhere among them."""

    kind, noun, config_kinds = TRAINING, "run", (TRAINING.config_kind, IMPORTED)
    wrong_kind_sentence = "is not an ensemble: it is a run of the kind “{kind}”."
    files = (*INDEXED_FILES, TAGS)

    def __init__(self) -> None:
        super().__init__()
        self.warm_worker = WarmWorker()

    def parse_config(self, config: StoredConfig) -> _ParsedRunConfig:
        """What is known of it beside how it stands."""
        data = None if config.dataset is None else parse_dataset_record(config.dataset)
        origin = config.origin if isinstance(config.origin, str) and is_run_id(config.origin) else ""
        if config.kind == IMPORTED:
            if data is None:
                raise ValueError("it does not name its images")
            names = tuple(config.member_names or ())
            imported_config = ImportedConfig.from_dict(config.settings)
            return _ParsedRunConfig(imported_config, data, names, origin, "")
        weights = "float16" if config.weights == "float16" else ""
        ensemble_config = EnsembleConfig.from_disk(config.settings)
        return _ParsedRunConfig(ensemble_config, data, (), origin, weights)

    def read_job(self, folder: Path, parsed_config: _ParsedRunConfig) -> Run:
        """The run in a folder."""
        return Run(
            id=folder.name,
            name=read_run_name(folder),
            path=folder,
            config=parsed_config.config,
            status=read_run_status(folder),
            data=parsed_config.data or registry.find_dataset_entry(parsed_config.config.dataset),
            member_names=parsed_config.member_names,
            tags=read_tags(folder),
            origin=parsed_config.origin,
            weights=parsed_config.weights,
        )

    def describe_wrong_kind(self, kind: str) -> str:
        """As of every job; of a run that predicts numbers where it is shown."""
        if kind == NUMERIC.config_kind:
            return (
                "predicts numbers, and this is for classes: the page Numbers, `ensemble inspect` "
                "and `ensemble report` show it."
            )
        return super().describe_wrong_kind(kind)

    def complete_config(self, config: EnsembleConfig) -> EnsembleConfig:
        """In as many groups as are best here, where nobody says how many."""
        if config.groups:
            return config
        images = registry.find_dataset_entry(config.dataset).train_size
        return replace(config, groups=choose_group_count(config, images))

    def id_prefix(self, config: EnsembleConfig) -> str:
        """The id of a run begins with what it learns."""
        return config.dataset

    def write_folder(self, folder: Path, config: EnsembleConfig, placement: Placement | None) -> None:
        """Write what the folder of a new one holds."""
        write_network_advice(folder, config)
        write_run_folder(folder, config, placement)

    def create(
        self,
        config: EnsembleConfig,
        placement: Placement | None = None,
        tags: Iterable[str] = (),
        start: StartWeights | None = None,
    ) -> Run:
        """A new run's folder, state `queued`; nothing works on it yet.

        Args:
          config: its settings.
          placement: where it is to be trained; by default on this machine.
          tags: words to find it by.
          start: what its members start from; by default what they draw.

        Raises:
          AccessError: whoever asks may not, or has enough of them.
          RunError: the folder cannot be written, or a tag is too long.
        """
        tags = normalize_tags(tags)

        def prepare_folder(folder: Path) -> None:
            write_tags_file(folder, tags)
            if start:
                write_start_weights(folder, start)

        return self._create_job(config, placement, prepare_folder)

    def launch(
        self, config: EnsembleConfig, placement: Placement | None = None, start: StartWeights | None = None
    ) -> Run:
        """Make a run and start its worker, which waits in the queue; otherwise as `create`."""
        run = self.create(config, placement, start=start)
        self.start_worker(run)
        return run

    def start_worker(self, job: Run) -> None:
        """Start its worker: the one that waits for it, where there is one."""
        check_permission(Action.LAUNCH)
        # The warm worker could tell nobody that its log cannot be written.
        with change_job_files(job.path, action=None):
            open_plain_append(job.path / "log.txt").close()
        if child := self.warm_worker.assign_run(job, build_worker_environment()):
            track_child(child)
        else:
            super().start_worker(job)

    def keep_warm_worker(self, likely: EnsembleConfig | None = None) -> None:
        """See to it that a process waits for the next run, so that it starts at once.

        Args:
          likely: settings that it may have; give them only where training will be on a CPU.
        """
        self.warm_worker.keep_ready(build_worker_environment(), likely)

    def requeue(self, job_id: str, on: str = "", placement: NewPlacement = KEEP_PLACEMENT) -> Run:
        """Put a run that can go on back into state `queued`.

        Args:
          job_id: which.
          on: the place that asks, as the run's placement names it.
          placement: where it goes on; by default where it was.

        Raises:
          AccessError: it is somebody else's, or whoever asks has enough of them.
          RunError: it is active, finished, or would diverge again; or cannot be written; or goes
            on only where its scheduler starts its tasks.
        """
        before = self.find(job_id)
        place = read_place_name(before.path)
        # Asked before this process holds the worker's lock, which would make any run look active.
        if placement != KEEP_PLACEMENT and before.active:
            raise RunError(f"The tasks of the run “{job_id}” are still there: stop it, then resume it elsewhere.")
        if place in EXTERNAL_TARGETS and on != place:
            target = EXTERNAL_TARGETS[place]
            raise RunError(
                f"The run “{job_id}” is trained by {target.title} and cannot be resumed here: {target.resubmit}. "
                "Training then continues from its checkpoint."
            )

        def change_placement(run: Run) -> None:
            if placement != KEEP_PLACEMENT:
                _change_run_placement(run, placement)

        return self._requeue_job(job_id, change_placement)

    def resume(self, job_id: str, placement: NewPlacement = KEEP_PLACEMENT) -> Run:
        """Start a worker again on a run that can go on, which continues from its checkpoint.

        Args:
          job_id: which.
          placement: where it goes on; by default where it was.

        Raises:
          AccessError, RunError: as `requeue`.
        """
        run = self.requeue(job_id, placement=placement)
        self.start_worker(run)
        return run

    def request_stop(self, job_id: str) -> bool:
        """Ask a run's worker to stop; it does within about a second of training.

        Raises:
          RunError: the run is not active.
        """
        if not super().request_stop(job_id):
            state = self.find(job_id).state
            raise RunError(f"The run “{job_id}” is {state}: there is nothing to stop.")
        return True

    def explain_final_state(self, job: Run) -> str:
        """It has come to its end, or is not trained here."""
        if job.origin:
            return "it was imported from a report, which holds no checkpoints. Launch a new one with its settings."
        return _FINAL_STATE_REASONS.get(job.status.state, "")

    def find_deletable_folder(self, job_id: str) -> Path:
        """Its folder, and that of a run of any kind whose files cannot be read."""
        return find_run_folder(job_id)

    def explain_delete_refusal(self, job_id: str, kind: JobKind) -> str:
        """Why it is not deleted while it is trained, a part of it is, or it is measured."""
        if kind is GROUP:
            return (
                f"A task of the run “{job_id}” is still training some of its members: resume "
                "the run, stop it, then delete it."
            )
        if kind.subfolder:
            return (
                f"The run “{job_id}” is being measured under shift: stop that on Inspect or "
                "let it end, then delete the run."
            )
        return super().explain_delete_refusal(job_id, kind)

    def delete(self, job_id: str) -> None:
        """As every job; a baseline that it was, it is no more."""
        super().delete(job_id)
        with contextlib.suppress(RunError):  # It is gone, and read as none, all the same.
            forget_baseline(job_id)


RUN_STORE = _RunStore()


def create_run(
    config: EnsembleConfig,
    placement: Placement | None = None,
    tags: Iterable[str] = (),
    start: StartWeights | None = None,
) -> Run:
    """Create a run that nothing works on yet; see `_RunStore.create`."""
    return RUN_STORE.create(config, placement, tags, start)


def launch_run(config: EnsembleConfig, placement: Placement | None = None, start: StartWeights | None = None) -> Run:
    """Create a run and start its worker; see `_RunStore.launch`."""
    return RUN_STORE.launch(config, placement, start)


def find_run(run_id: str) -> Run:
    """Find the run with this id.

    Raises:
      UnknownRunError: it does not exist, or is of another kind.
      RunError: its files cannot be read.
    """
    return RUN_STORE.find(run_id)


def list_runs() -> list[Run]:
    """List all readable runs, newest first."""
    return RUN_STORE.list_jobs()


def list_unreadable_runs() -> dict[str, str]:
    """List the folders that look like runs and cannot be read: name and reason."""
    return RUN_STORE.list_unreadable()


def resume_run(run_id: str, placement: NewPlacement = KEEP_PLACEMENT) -> Run:
    """Resume a run from its checkpoint; see `_RunStore.resume`."""
    return RUN_STORE.resume(run_id, placement)


def requeue_run(run_id: str, on: str = "", placement: NewPlacement = KEEP_PLACEMENT) -> Run:
    """Set a run that can be resumed to `queued`, without a worker; see `_RunStore.requeue`."""
    return RUN_STORE.requeue(run_id, on, placement)


def request_run_stop(run_id: str) -> bool:
    """Ask a run's worker to stop; see `_RunStore.request_stop`."""
    return RUN_STORE.request_stop(run_id)


def delete_run(run_id: str) -> None:
    """Delete a run and all its files; see `JobStore.delete`."""
    RUN_STORE.delete(run_id)


def keep_warm_worker(likely: EnsembleConfig | None = None) -> None:
    """Keep a process ready for the next run; see `_RunStore.keep_warm_worker`."""
    RUN_STORE.keep_warm_worker(likely)
