"""The experiments with labels in the folder of runs: make, find, list, queue, stop, delete."""

import time
from dataclasses import dataclass
from pathlib import Path

from ensemble.acquisition.learning_settings import LearningConfig
from ensemble.acquisition.learning_status import LearningStatus, read_learning_status
from ensemble.jobs.folders import StoredConfig, read_run_name
from ensemble.jobs.kinds import LEARNING, JobKind
from ensemble.jobs.placement import Placement
from ensemble.jobs.store import JobStore, StoredJob, write_job_files


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
    wrong_kind_sentence = "is no experiment with labels: choose one of `label curves`."

    def parse_config(self, config: StoredConfig) -> LearningConfig:
        """Its settings."""
        return LearningConfig.from_disk(config.settings)

    def read_job(self, folder: Path, parsed_config: LearningConfig) -> LearningExperiment:
        """The experiment in a folder."""
        return LearningExperiment(
            folder.name, read_run_name(folder), folder, parsed_config, read_learning_status(folder)
        )

    def write_folder(self, folder: Path, config: LearningConfig, placement: Placement | None) -> None:
        """Write what the folder of a new one holds."""
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
