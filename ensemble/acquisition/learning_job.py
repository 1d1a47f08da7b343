"""Experiments with hidden labels: their settings, status, folders, and their kind of job."""

import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from ensemble.acquisition.next_labels import DEFAULT_STRATEGY
from ensemble.analysis.acquisition.image_choice import STRATEGIES, translate_strategy
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.jobs.folders import StoredConfig, read_run_name
from ensemble.jobs.kinds import ONLY_TASK_ENTRY, JobKind
from ensemble.jobs.placement import Placement
from ensemble.jobs.status import StoredStatus
from ensemble.jobs.store import JobStore, StoredJob, write_job_files
from ensemble.settings import Settings, declare_setting, list_setting_fields
from ensemble.storage.atomic_files import read_json
from ensemble.storage.records.field_checks import Count

LEARNING = JobKind(
    name="learning",
    title="Comparing chosen labels with random ones",
    noun="the label experiment",
    working_state="learning",
    command="work-learning",
    config_kind="learning",
    progress_field="done",
    total_field="trainings",
    remedy="resume it",
    kept_clause="every completed training is kept",
    memory_advice="try fewer members or candidates",
    nice=True,
    work_entry="ensemble.acquisition.learning_worker:execute_learning",
    tasks_entry=ONLY_TASK_ENTRY,
)
# Of few labels, unless said otherwise: small batches take a low rate.
_DEFAULT_EPOCHS, DEFAULT_BATCH_SIZE, _DEFAULT_LEARNING_RATE = 30, 16, 0.02
UNUSED_SETTINGS = ("validation", "folds", "teacher", "patience", "swa_epochs", "cycles", "groups")
_ARM_SEEDS = EnsembleConfig.__dataclass_fields__["seed"].metadata["high"] + 1


@dataclass(frozen=True)
class LearningConfig(Settings):
    """Settings of one experiment, checked when made.

    Attributes:
      base: the settings that every training shares; its seed is the first one.

    Raises:
      ConfigError: a value of the wrong type or out of its range, or settings that do not fit
        together; the message says what to choose.
    """

    by: str = declare_setting(DEFAULT_STRATEGY, "What the images of one arm are chosen by.", choices=tuple(STRATEGIES))
    first: int = declare_setting(40, "Labels to begin with.", low=2, high=100_000)
    step: int = declare_setting(20, "Labels that each round adds, in either arm.", low=1, high=10_000)
    rounds: int = declare_setting(5, "Rounds of labelling.", low=1, high=100)
    seeds: int = declare_setting(5, "Seeds, each with first labels and networks of its own.", low=2, high=100)
    candidates: int = declare_setting(
        2_000, "Training images that take part, drawn by each seed.", low=10, high=1_000_000
    )
    base: EnsembleConfig = field(
        default_factory=lambda: EnsembleConfig(
            epochs=_DEFAULT_EPOCHS, batch_size=DEFAULT_BATCH_SIZE, learning_rate=_DEFAULT_LEARNING_RATE
        )
    )

    def __post_init__(self) -> None:
        self.check()
        if self.label_counts[-1] > self.candidates:
            raise ConfigError(
                f"first {self.first}, step {self.step} and rounds {self.rounds} come to "
                f"{self.label_counts[-1]:,} labels, and candidates is {self.candidates:,}: choose "
                "fewer rounds, or more candidates."
            )
        if self.base.members == 1 and STRATEGIES[self.by].needs_members:
            raise ConfigError(
                f"One member alone cannot disagree with others, which by {self.by} goes by: set "
                "members to 2 or more, or by to entropy."
            )
        for name in UNUSED_SETTINGS:
            value = getattr(self.base, name)
            if value != EnsembleConfig.__dataclass_fields__[name].default:
                raise ConfigError(
                    f"{name} is {value}, which goes with no training on so few labels: no image is "
                    "held out of them, and the members of the last epoch are judged. Leave it out."
                )

    @property
    def label_counts(self) -> tuple[int, ...]:
        """How many labels there are before the first round, and after each."""
        return tuple(self.first + self.step * number for number in range(self.rounds + 1))

    @property
    def training_count(self) -> int:
        """How many ensembles are trained: both arms share the one before the first round."""
        return self.seeds * (1 + 2 * self.rounds)

    def build_training_config(self, place: int, labels: int) -> EnsembleConfig:
        """The settings of a training with so many labels.

        Args:
          place: which of the seeds, from 0.
          labels: how many; a batch is no larger.
        """
        seed = (self.base.seed + place) % _ARM_SEEDS
        return replace(self.base, seed=seed, batch_size=min(self.base.batch_size, labels))

    def as_dict(self) -> dict[str, Any]:
        """The settings by name, ready for JSON; those of every training under `base`."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """As `Settings.from_dict`."""
        return cls._from_values(values, EnsembleConfig.from_dict)

    @classmethod
    def from_disk(cls, values: dict[str, Any]) -> Self:
        """As `Settings.from_disk`; the strategy may have its name of an earlier version."""
        by = {"by": translate_strategy(values["by"])} if isinstance(values.get("by"), str) else {}
        return cls._from_values({**values, **by}, EnsembleConfig.from_disk)

    @classmethod
    def _from_values(cls, values: dict[str, Any], read: Any) -> Self:
        names = {each.name for each in list_setting_fields(cls)} | {"base"}
        base = values.get("base", {})
        if unknown := sorted(set(values) - names) or not isinstance(base, dict):
            raise ConfigError(f"An experiment with labels has no such settings: {unknown!r:.200}.")
        return cls(**{**values, "base": read(base)})


@dataclass(frozen=True)
class LearningStatus(StoredStatus):
    """What an experiment's status.json says.

    Attributes:
      done: ensembles that are trained.
      trainings: of how many.
    """

    kind: ClassVar[JobKind] = LEARNING

    done: Count = 0
    trainings: Count = 0


@dataclass(frozen=True)
class LearningExperiment(StoredJob):
    """One experiment as it stood when it was read.

    Attributes:
      id: the folder's name, and its name in addresses and on the command line.
      name: what a person called it, else the id.
      path: its folder.
      config: its settings.
      status: what its worker last wrote.
    """

    id: str
    name: str
    path: Path
    config: LearningConfig
    status: LearningStatus
    kind: JobKind = LEARNING


class _LearningStore(JobStore[LearningExperiment, LearningConfig, LearningConfig]):
    """All experiments with labels."""

    kind, noun, config_kinds = LEARNING, "experiment", (LEARNING.config_kind,)
    wrong_kind_sentence = "is not a label experiment: choose one of `label curves`."

    def parse_config(self, config: StoredConfig) -> LearningConfig:
        """Its settings."""
        return LearningConfig.from_disk(config.settings)

    def read_job(self, folder: Path, parsed_config: LearningConfig) -> LearningExperiment:
        """The experiment in a folder."""
        status = LearningStatus.from_dict(read_json(folder / "status.json"))
        return LearningExperiment(folder.name, read_run_name(folder), folder, parsed_config, status)

    def write_folder(self, folder: Path, config: LearningConfig, placement: Placement | None) -> None:
        """Write the files of a new experiment."""
        now = time.time()
        status = LearningStatus(created=now, queued=now, updated=now, trainings=config.training_count)
        write_job_files(folder, status, config.as_dict(), placement)

    def explain_final_state(self, job: LearningExperiment) -> str:
        """It has all its trainings."""
        return "it has ended." if job.status.state == "finished" else ""


LEARNING_STORE = _LearningStore()


def create_learning(config: LearningConfig, placement: Placement | None = None) -> LearningExperiment:
    """Create an experiment that nothing works on yet; see `JobStore.create`."""
    return LEARNING_STORE.create(config, placement)


def launch_learning(config: LearningConfig, placement: Placement | None = None) -> LearningExperiment:
    """Create an experiment and start its worker."""
    return LEARNING_STORE.launch(config, placement)


def find_learning(experiment_id: str) -> LearningExperiment:
    """Find the experiment with this id.

    Raises:
      UnknownRunError: it does not exist, or is of another kind.
      RunError: its files cannot be read.
    """
    return LEARNING_STORE.find(experiment_id)


def list_learnings() -> list[LearningExperiment]:
    """List all readable experiments, newest first."""
    return LEARNING_STORE.list_jobs()


def resume_learning(experiment_id: str) -> LearningExperiment:
    """Start a worker on an experiment that has trainings left."""
    return LEARNING_STORE.resume(experiment_id)


def requeue_learning(experiment_id: str) -> LearningExperiment:
    """Set an experiment with trainings left to `queued`, without a worker."""
    return LEARNING_STORE.requeue(experiment_id)


def delete_learning(experiment_id: str) -> None:
    """Delete an experiment and all its files; see `JobStore.delete`."""
    LEARNING_STORE.delete(experiment_id)
