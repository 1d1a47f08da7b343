"""The folder of runs: make, find, list, queue, stop, delete.

A run's id is made here and checked wherever one comes in: it is a name, never a path.
"""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from ensemble.access import Action, check_permission
from ensemble.analysis.numeric.ensemble_forms import FORMS
from ensemble.cluster.schedulers import EXTERNAL_TARGETS
from ensemble.config import (
    CLASSIFICATION,
    REGRESSION,
    AnyConfig,
    AnyTrainingConfig,
    EnsembleConfig,
    ImportedConfig,
    RegressionConfig,
)
from ensemble.datasets import registry
from ensemble.datasets.record import parse_dataset_record
from ensemble.datasets.registry import DatasetEntry
from ensemble.errors import RunError, UnknownRunError
from ensemble.jobs.folders import StoredConfig, change_job_files, find_run_folder, is_run_id, read_run_name
from ensemble.jobs.kinds import GROUP, IMPORTED, TRAINING, JobKind
from ensemble.jobs.launch import build_worker_environment, track_child
from ensemble.jobs.network_probe import write_network_advice
from ensemble.jobs.placement import KEEP_PLACEMENT, NewPlacement, Placement, read_place_name, write_placement
from ensemble.jobs.placement import PLACEMENT_FILE as PLACEMENT
from ensemble.jobs.store import JobStore, StoredJob
from ensemble.jobs.warm_worker import WarmWorker
from ensemble.machine.group_count import choose_group_count
from ensemble.runs.annotations.baseline import forget_baseline
from ensemble.runs.annotations.notes import read_run_note
from ensemble.runs.annotations.tags import TAGS_FILE as TAGS
from ensemble.runs.annotations.tags import normalize_tags, read_tags, write_tags_file
from ensemble.runs.run_folder import write_regression_folder, write_run_folder
from ensemble.runs.start_weights import StartWeights, write_start_weights
from ensemble.runs.status import RESUMABLE, Status, list_remaining_members, read_run_status
from ensemble.storage.folder_index import INDEXED_FILES
from ensemble.storage.plain_files import open_plain_append
from ensemble.storage.records.field_checks import Count, Share, parse_dataclass
from ensemble.tables.prepared_table import read_table_description

GROUPS_FOLDER = "groups"  # in the folder of a run whose members are shared out among tasks
# How a run that cannot go on has ended, and what to do instead.
_FINAL_STATE_REASONS = {
    "finished": "it has finished. Launch a new one for more epochs.",
    "imported": "it was trained elsewhere. Continue training there, then import its predictions.",
    "diverged": "the same numbers would diverge again. Launch a new one with a lower learning rate.",
}


@dataclass(frozen=True)
class RegressionTarget:
    """What a regression predicts, and how.

    Attributes:
      members: M.
      target_name: what is predicted: "price"; "" where nobody said.
      unit: of the targets: "m/s"; "" where nobody said.
      member_names: M of them; none where they only have numbers.
      form: what a member predicts: one of `FORMS`.
      levels: of the quantiles, where it predicts those.
    """

    members: Count = 1
    target_name: str = ""
    unit: str = ""
    member_names: list[str] = field(default_factory=list)
    form: str = "normal"
    levels: list[Share] = field(default_factory=list)


@dataclass(frozen=True)
class Run(StoredJob):
    """One run as it stood when it was read.

    Attributes:
      id: the run's folder name, and its name in URLs and on the command line.
      name: what a person called it, else the id.
      path: its folder.
      config: its settings.
      status: what its worker last wrote.
      entry: of a classification, what is known of the images that it learns and is tested on.
      target: of a regression, what it predicts.
      member_names: what its members are called, M of them; none where they only have numbers.
      tags: words by which it is found and compared with others.
      origin: of one that came in a report: its id where it was made; else "".
      weights: "float16" of one whose members came in a report rounded to it; else "".
    """

    id: str
    name: str
    path: Path
    config: AnyConfig
    status: Status
    entry: DatasetEntry | None = None
    target: RegressionTarget | None = None
    member_names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    origin: str = ""
    weights: str = ""
    kind: JobKind = TRAINING

    @property
    def task(self) -> str:
        """What it learns: "classification" or "regression"."""
        return REGRESSION if self.target else CLASSIFICATION

    @property
    def data(self) -> DatasetEntry:
        """What is known of its images; RunError of a regression, which has a table instead."""
        if self.entry is None:
            raise RunError(explain_wrong_task(self, CLASSIFICATION))
        return self.entry

    @property
    def numbers(self) -> RegressionTarget:
        """What a regression predicts; RunError of a classification."""
        if self.target is None:
            raise RunError(explain_wrong_task(self, REGRESSION))
        return self.target

    @property
    def target_name(self) -> str:
        """What a regression predicts; "" where nobody said."""
        return self.target.target_name if self.target else ""

    @property
    def unit(self) -> str:
        """The unit of a regression's targets; "" where nobody said."""
        return self.target.unit if self.target else ""

    @property
    def note(self) -> str:
        """What a person wrote about it; "" where nobody did."""
        return read_run_note(self)

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
        if self.settings is None or self.origin:
            return False
        if self.settings.groups > 1 or (self.path / PLACEMENT).exists():
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
    def settings(self) -> AnyTrainingConfig | None:
        """The settings that it was trained with here; None if it was trained elsewhere."""
        return None if isinstance(self.config, ImportedConfig) else self.config

    @property
    def training_config(self) -> EnsembleConfig | None:
        """The settings of a classification that was trained here; None of another run."""
        return self.config if isinstance(self.config, EnsembleConfig) else None


def explain_wrong_task(run: Run, task: str) -> str:
    """Why a run is not of this task, a sentence; "" if it is."""
    if run.task == task:
        return ""
    if run.task == REGRESSION:
        return (
            f"“{run.id}” predicts numbers, and this is for classes: the page Numbers, `ensemble inspect` and "
            f"`ensemble report` show it, and `ensemble export {run.id} predictions.npz` writes its predictions."
        )
    return f"“{run.id}” does not predict numbers: open it on Inspect or Runs."


def require_training_config(run: Run) -> EnsembleConfig:
    """The settings that a classification was trained with.

    Raises:
      RunError: it is a regression; or it was trained elsewhere, and brought predictions alone.
    """
    if sentence := explain_wrong_task(run, CLASSIFICATION):
        raise RunError(sentence)
    config = require_run_settings(run)
    assert isinstance(config, EnsembleConfig)
    return config


def require_regression_config(run: Run) -> RegressionConfig:
    """The settings that a regression was trained with; otherwise as `require_training_config`."""
    if sentence := explain_wrong_task(run, REGRESSION):
        raise RunError(sentence)
    config = require_run_settings(run)
    assert isinstance(config, RegressionConfig)
    return config


def require_run_settings(run: Run) -> AnyTrainingConfig:
    """The settings that a run of any task was trained with.

    Raises:
      RunError: it was trained elsewhere, and brought predictions alone.
    """
    if run.settings is None:
        raise RunError(
            f"The run “{run.id}” was trained elsewhere: only its predictions are here, not its "
            "members. Choose a run that was trained here."
        )
    return run.settings


def locate_table_folder(run: Run) -> Path:
    """The folder of a regression's table: the run's own, also for a group of it."""
    return run.path if run.has_all_members else run.path.parents[1]


def list_regression_member_names(run: Run, epoch: int | None = None) -> Sequence[str]:
    """What the members of a regression are called; after an epoch without those diverged by then."""
    return [run.member_names[member] for member in run.remaining_members(epoch)]


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
    config: AnyConfig
    data: DatasetEntry | None = None
    target: RegressionTarget | None = None
    member_names: tuple[str, ...] = ()
    origin: str = ""
    weights: str = ""


def _parse_regression_config(config: StoredConfig) -> _ParsedRunConfig:
    target = parse_dataclass(RegressionTarget, config.numbers)
    if not target.members or len(target.member_names) not in (0, target.members):
        raise ValueError("its members and their names do not fit")
    if target.form not in FORMS or (target.form == "quantiles") != bool(target.levels):
        raise ValueError("what its members predict is not known")
    settings: RegressionConfig | ImportedConfig = ImportedConfig(members=target.members)
    if config.kind != IMPORTED:
        settings = RegressionConfig.from_disk(config.settings)
        if settings.members != target.members:
            raise ValueError("its settings and its members do not fit")
    names = tuple(target.member_names) or tuple(f"member {number}" for number in range(1, target.members + 1))
    return _ParsedRunConfig(settings, target=target, member_names=names)


class _RunStore(JobStore[Run, AnyTrainingConfig, _ParsedRunConfig]):
    """All runs of every task, those that were trained elsewhere among them."""

    kind, noun, config_kinds = TRAINING, "run", (TRAINING.config_kind, IMPORTED)
    wrong_kind_sentence = "is not an ensemble: it is a run of the kind “{kind}”."
    files = (*INDEXED_FILES, TAGS)

    def __init__(self) -> None:
        super().__init__()
        self.warm_worker = WarmWorker()

    def parse_config(self, config: StoredConfig) -> _ParsedRunConfig:
        """What is known of it beside how it stands."""
        if config.task == REGRESSION:
            return _parse_regression_config(config)
        if config.task != CLASSIFICATION:
            raise ValueError(f"its task is {config.task!r:.40}")
        data = None if config.dataset is None else parse_dataset_record(config.dataset)
        origin = config.origin if isinstance(config.origin, str) and is_run_id(config.origin) else ""
        if config.kind == IMPORTED:
            if data is None:
                raise ValueError("it does not name its images")
            names = tuple(config.member_names or ())
            imported_config = ImportedConfig.from_dict(config.settings)
            return _ParsedRunConfig(imported_config, data, member_names=names, origin=origin)
        weights = "float16" if config.weights == "float16" else ""
        ensemble_config = EnsembleConfig.from_disk(config.settings)
        return _ParsedRunConfig(ensemble_config, data, origin=origin, weights=weights)

    def read_job(self, folder: Path, parsed_config: _ParsedRunConfig) -> Run:
        """The run in a folder."""
        entry = parsed_config.data
        if entry is None and parsed_config.target is None:
            entry = registry.find_dataset_entry(parsed_config.config.dataset)
        return Run(
            id=folder.name,
            name=read_run_name(folder),
            path=folder,
            config=parsed_config.config,
            status=read_run_status(folder),
            entry=entry,
            target=parsed_config.target,
            member_names=parsed_config.member_names,
            tags=read_tags(folder),
            origin=parsed_config.origin,
            weights=parsed_config.weights,
        )

    def complete_config(self, config: AnyTrainingConfig) -> AnyTrainingConfig:
        """In as many groups as are best here, where nobody says how many."""
        if config.groups or not isinstance(config, EnsembleConfig):
            return config
        images = registry.find_dataset_entry(config.dataset).train_size
        return replace(config, groups=choose_group_count(config, images))

    def id_prefix(self, config: AnyTrainingConfig) -> str:
        """The id of a run begins with what it learns from."""
        return config.dataset

    def write_folder(self, folder: Path, config: AnyTrainingConfig, placement: Placement | None) -> None:
        """Write what the folder of a new one holds, in which the table of a regression lies already."""
        if isinstance(config, RegressionConfig):
            target = RegressionTarget(config.members, read_table_description(folder).target)
            write_regression_folder(folder, config, placement, asdict(target))
            return
        write_network_advice(folder, config)
        write_run_folder(folder, config, placement)

    def create(
        self,
        config: AnyTrainingConfig,
        placement: Placement | None = None,
        tags: Iterable[str] = (),
        start: StartWeights | None = None,
        write_table: Callable[[Path], None] | None = None,
    ) -> Run:
        """A new run's folder, state `queued`; nothing works on it yet.

        Args:
          config: its settings.
          placement: where it is to be trained; by default on this machine.
          tags: words to find it by.
          start: what its members start from; by default what they draw.
          write_table: writes the table of a regression into its folder.

        Raises:
          AccessError: whoever asks may not, or has enough of them.
          RunError: the folder cannot be written, or a tag is too long.
        """
        tags = normalize_tags(tags)

        def prepare_folder(folder: Path) -> None:
            write_tags_file(folder, tags)
            if start:
                write_start_weights(folder, start)
            if write_table:
                write_table(folder)

        return self._create_job(config, placement, prepare_folder)

    def launch(
        self, config: AnyTrainingConfig, placement: Placement | None = None, start: StartWeights | None = None
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


def find_regression_run(run_id: str) -> Run:
    """Find a run that predicts numbers; UnknownRunError also of a classification."""
    run = find_run(run_id)
    if sentence := explain_wrong_task(run, REGRESSION):
        raise UnknownRunError(sentence)
    return run


def read_regression_run(run_id: str) -> Run | None:
    """A run that predicts numbers; None where there is none that can be read."""
    try:
        return find_regression_run(run_id)
    except RunError:
        return None


def list_runs(task: str | None = None) -> list[Run]:
    """List all readable runs, newest first: those of this task, or of any."""
    return [run for run in RUN_STORE.list_jobs() if task in (None, run.task)]


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
