"""The folder of runs: make, find, list, queue, stop, delete.

A run's id is made here and checked wherever one comes in: it is a name, never a path.
"""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ensemble.access import Action, check
from ensemble.cluster.schedulers import KUBERNETES
from ensemble.config import EnsembleConfig, ImportedConfig
from ensemble.datasets import registry
from ensemble.datasets.record import entry_from
from ensemble.datasets.registry import Entry
from ensemble.errors import RunError
from ensemble.jobs.folders import Config, changing, folder_of, is_id, read_name
from ensemble.jobs.kinds import GROUP, IMPORTED, STRESS, TRAINING, Kind
from ensemble.jobs.launch import keep_child, worker_environment
from ensemble.jobs.placement import FILE as PLACEMENT
from ensemble.jobs.placement import Placement, placed_on
from ensemble.jobs.store import JobStore, StoredJob
from ensemble.jobs.warm_worker import WarmWorker
from ensemble.machine.arrangement import groups_here
from ensemble.runs.annotations.baseline import forget_baseline
from ensemble.runs.annotations.tags import FILE as TAGS
from ensemble.runs.annotations.tags import checked_tags, keep_tags, read_tags
from ensemble.runs.contents import fill
from ensemble.runs.status import RESUMABLE, Status, read_status, remaining
from ensemble.storage.folder_index import FILES
from ensemble.storage.reading import opened_to_append

# How a run that cannot go on has ended, and what to do instead.
WHY_OVER = {
    "finished": "it has finished. Launch a new one for more epochs.",
    "imported": "it was trained elsewhere. Train it on there, and import what it predicts then.",
    "diverged": "the same numbers would diverge again. Launch a new one with a lower learning "
    "rate.",
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
    """

    id: str
    name: str
    path: Path
    config: EnsembleConfig | ImportedConfig
    status: Status
    data: Entry
    member_names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    origin: str = ""
    kind: Kind = TRAINING

    @property
    def numbers(self) -> range:
        """Its members by number, from 0: those that its worker trains."""
        return range(self.config.members)

    @property
    def whole(self) -> bool:
        """Whether these are all members of the ensemble."""
        return True

    @property
    def in_groups(self) -> bool:
        """Whether its members are shared out among tasks; see `runs.groups`."""
        if self.trained is None or self.origin:
            return False
        return self.trained.groups > 1 or (self.path / PLACEMENT).exists()

    @property
    def may_resume(self) -> bool:
        """Whether its training can go on here: not of one that came without its checkpoints."""
        return self.state in RESUMABLE and not self.origin

    def remaining(self, epoch: int | None = None) -> tuple[int, ...]:
        """Its members, from 0, but for those set aside by the end of this epoch; by now for None.

        In this order stand the members in what is read of an epoch: predictions, parameters.
        """
        return remaining(self.status, self.config.members, epoch)

    @property
    def trained(self) -> EnsembleConfig | None:
        """The settings that it was trained with here; None where it was trained elsewhere."""
        return self.config if isinstance(self.config, EnsembleConfig) else None


def trained_here(run: Run) -> EnsembleConfig:
    """The settings that the run was trained with.

    Raises:
      RunError: it was trained elsewhere, and brought predictions alone.
    """
    if run.trained is None:
        raise RunError(
            f"The run “{run.id}” was trained elsewhere: its predictions are here, but not its "
            "members. Choose a run that was trained here."
        )
    return run.trained


class _Known(NamedTuple):
    config: EnsembleConfig | ImportedConfig
    data: Entry | None
    member_names: tuple[str, ...]
    origin: str


class RunStore(JobStore[Run, EnsembleConfig, _Known]):
    """All runs, those that were trained elsewhere among them."""

    kind, noun, kept_as = TRAINING, "run", (TRAINING.kept_as, IMPORTED)
    of_another_kind = "is no ensemble: it is a run of the kind “{kind}”."
    files, within = (*FILES, TAGS), (STRESS,)

    def __init__(self) -> None:
        super().__init__()
        self.warm_worker = WarmWorker()

    def parse(self, config: Config) -> _Known:
        """What is known of it beside how it stands."""
        data = None if config.dataset is None else entry_from(config.dataset)
        origin = config.origin if isinstance(config.origin, str) and is_id(config.origin) else ""
        if config.kind == IMPORTED:
            if data is None:
                raise ValueError("it does not say what its images are")
            names = tuple(config.member_names or ())
            return _Known(ImportedConfig.from_dict(config.settings), data, names, origin)
        return _Known(EnsembleConfig.from_disk(config.settings), data, (), origin)

    def read(self, folder: Path, known: _Known) -> Run:
        """The run in a folder."""
        return Run(
            folder.name,
            read_name(folder),
            folder,
            known.config,
            read_status(folder),
            known.data or registry.find(known.config.dataset),
            known.member_names,
            read_tags(folder),
            known.origin,
        )

    def prepare(self, config: EnsembleConfig) -> EnsembleConfig:
        """In as many groups as are best here, where nobody says how many."""
        if config.groups:
            return config
        images = registry.find(config.dataset).train_size
        return replace(config, groups=groups_here(config, images))

    def stem(self, config: EnsembleConfig) -> str:
        """The id of a run begins with what it learns."""
        return config.dataset

    def fill(self, folder: Path, config: EnsembleConfig, placement: Placement | None) -> None:
        """Write what the folder of a new one holds."""
        fill(folder, config, placement)

    def create(
        self,
        config: EnsembleConfig,
        placement: Placement | None = None,
        tags: Iterable[str] = (),
    ) -> Run:
        """A new run's folder, state `queued`; nothing works on it yet.

        Args:
          config: its settings.
          placement: where it is to be trained; by default on this machine.
          tags: words to find it by.

        Raises:
          AccessError: whoever asks may not, or has enough of them.
          RunError: the folder cannot be written, or a tag is too long.
        """
        tags = checked_tags(tags)
        return self._create(config, placement, lambda folder: keep_tags(folder, tags))

    def start(self, job: Run) -> None:
        """Start its worker: the one that waits for it, where there is one."""
        check(Action.LAUNCH)
        # The warm worker could tell nobody that its log cannot be written.
        with changing(job.path, action=None):
            opened_to_append(job.path / "log.txt").close()
        if child := self.warm_worker.give(job, worker_environment()):
            keep_child(child)
        else:
            super().start(job)

    def keep_warm_worker(self, likely: EnsembleConfig | None = None) -> None:
        """See to it that a process waits for the next run, so that it starts at once.

        Args:
          likely: settings that it may have; give them only where training will be on a CPU.
        """
        self.warm_worker.keep_ready(worker_environment(), likely)

    def requeue(self, job_id: str, on: str = "") -> Run:
        """Put a run that can go on back into state `queued`.

        Args:
          job_id: which.
          on: the place that asks, as the run's placement names it.

        Raises:
          AccessError: it is somebody else's, or whoever asks has enough of them.
          RunError: it is active, finished, or would diverge again; or cannot be written; or goes
            on where pods are made for it, and nowhere else.
        """
        if on != KUBERNETES.name and placed_on(self.find(job_id).path) == KUBERNETES.name:
            raise RunError(
                f"The run “{job_id}” is trained on Kubernetes, and not from here: delete its Job, "
                "and apply the manifest again. It then goes on where it was."
            )
        return super().requeue(job_id)

    def request_stop(self, job_id: str) -> bool:
        """Ask a run's worker to stop; it does within about a second of training.

        Raises:
          RunError: the run is not active.
        """
        if not super().request_stop(job_id):
            state = self.find(job_id).state
            raise RunError(f"The run “{job_id}” is {state}: there is nothing to stop.")
        return True

    def why_over(self, job: Run) -> str:
        """It has come to its end, or is not trained here."""
        if job.origin:
            return (
                "it came in a report, which holds no checkpoints. Launch a new one with its "
                "settings."
            )
        return WHY_OVER.get(job.status.state, "")

    def find_to_delete(self, job_id: str) -> Path:
        """Its folder, and that of a run of any kind whose files cannot be read."""
        return folder_of(job_id)

    def why_kept(self, job_id: str, kind: Kind) -> str:
        """Why it is not deleted while it is trained, a part of it is, or it is measured."""
        if kind is GROUP:
            return (
                f"A task of the run “{job_id}” trains a part of its members still: resume the "
                "run, stop it, then delete it."
            )
        if kind is STRESS:
            return (
                f"The run “{job_id}” is being measured under shift: stop that on Inspect, or let "
                "it end, then delete the run."
            )
        return super().why_kept(job_id, kind)

    def delete(self, job_id: str) -> None:
        """As every job; a baseline that it was, it is no more."""
        super().delete(job_id)
        with contextlib.suppress(RunError):  # It is gone, and read as none, all the same.
            forget_baseline(job_id)


RUNS = RunStore()
create, find, delete = RUNS.create, RUNS.find, RUNS.delete
list_runs, unreadable = RUNS.list_jobs, RUNS.list_unreadable
launch, resume, requeue = RUNS.launch, RUNS.resume, RUNS.requeue
request_stop, keep_warm_worker = RUNS.request_stop, RUNS.keep_warm_worker
