"""Logistic regressions by L-BFGS: their settings, status, folders, and their kind of job."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ensemble.access import Action
from ensemble.jobs.folders import StoredConfig, read_run_name
from ensemble.jobs.kinds import ONLY_TASK_ENTRY, JobKind
from ensemble.jobs.placement import Placement
from ensemble.jobs.status import StoredStatus
from ensemble.jobs.store import JobStore, StoredJob, write_job_files
from ensemble.settings import Settings, declare_setting
from ensemble.storage.atomic_files import read_json
from ensemble.storage.records.field_checks import Count

REGRESSION = JobKind(
    name="regression",
    title="Regression",
    noun="the regression",
    working_state="solving",
    command="work-lbfgs",
    config_kind="lbfgs",
    progress_field="iteration",
    total_field="iterations",
    resumable=(),
    remedy="launch it again",
    kept_clause="what was measured so far is kept",
    memory_advice="choose fewer samples or features",
    stop_delay="after the current iteration",
    work_entry="ensemble.regression.worker:run_regression_worker",
    tasks_entry=ONLY_TASK_ENTRY,
)
_PROBLEMS = ("synthetic", "digits", "mnist")
_LINESEARCHES = ("zoom", "backtracking")
_PMAP_CHOICES = ("both", "with", "without", "faster")


@dataclass(frozen=True)
class LbfgsConfig(Settings):
    """Settings of one logistic regression by L-BFGS, checked when made.

    Raises:
      ConfigError: a value of the wrong type or out of its range, named with that range.
    """

    dataset: str = declare_setting(
        "synthetic", "What to classify: drawn samples, or a dataset's pixels.", choices=_PROBLEMS
    )
    samples: int = declare_setting(50_000, "Samples to draw.", low=100, high=1_000_000)
    features: int = declare_setting(784, "Numbers in a sample.", low=8, high=10_000)
    classes: int = declare_setting(10, "Classes to draw.", low=2, high=100)
    iterations: int = declare_setting(100, "Iterations of L-BFGS.", low=1, high=10_000)
    linesearch: str = declare_setting(
        "zoom", "How a step's length is found: zoom (strong Wolfe) or backtracking (Armijo).", choices=_LINESEARCHES
    )
    stepsize: float = declare_setting(0.0, "A fixed step size; 0 searches.", low=0.0, high=100.0)
    l2: float = declare_setting(0.0, "Adds l2 / 2 · |W|² to the objective.", low=0.0, high=1000.0)
    history: int = declare_setting(10, "Steps that L-BFGS remembers.", low=1, high=100)
    seed: int = declare_setting(0, "Of the drawn samples.", low=0, high=2**31 - 1)
    pmap: str = declare_setting(
        "both",
        "Solve with pmap and without, in one way only, or in that which is faster on these "
        "samples when both are tried for a moment.",
        choices=_PMAP_CHOICES,
    )
    devices: int = declare_setting(0, "Devices to spread the samples over; 0 takes all.", low=0, high=1024)
    sweep: bool = declare_setting(True, "Measure the speed-up on 1, 2, 4 and 8 devices, too.")

    def __post_init__(self) -> None:
        self.check()


@dataclass(frozen=True)
class RegressionStatus(StoredStatus):
    """What a regression's status.json says.

    Attributes:
      iteration: iterations done, of all its solves.
      iterations: of how many.
      cores: processor cores of the machine.
      platform: "cpu", "gpu" or "tpu".
      devices: how many of them the solve with `pmap` has; 0 where there is none.
    """

    kind: ClassVar[JobKind] = REGRESSION

    iteration: Count = 0
    iterations: Count = 0
    cores: Count = 0
    platform: str = ""
    devices: Count = 0


@dataclass(frozen=True)
class Regression(StoredJob):
    """One regression, with and without `pmap`, as it stood when it was read.

    Attributes:
      id: the folder's name, and its name in URLs and on the command line.
      name: what a person called it, else the id.
      path: its folder.
      config: its settings.
      status: what its worker last wrote.
    """

    id: str
    name: str
    path: Path
    config: LbfgsConfig
    status: RegressionStatus
    kind: JobKind = REGRESSION


class _RegressionStore(JobStore[Regression, LbfgsConfig, LbfgsConfig]):
    """All regressions.

    One is launched again to have it whole. But where its task on a cluster has outlived the
    worker here, another can follow that, and finds it again or what it came to.
    """

    kind, noun, config_kinds = REGRESSION, "run", (REGRESSION.config_kind,)
    wrong_kind_sentence = "is not a regression: it is an ensemble."
    requeue_verb, requeue_action = "followed", Action.CHANGE

    def parse_config(self, config: StoredConfig) -> LbfgsConfig:
        """Its settings."""
        return LbfgsConfig.from_disk(config.settings)

    def read_job(self, folder: Path, parsed_config: LbfgsConfig) -> Regression:
        """The regression in a folder."""
        status = RegressionStatus.from_dict(read_json(folder / "status.json"))
        return Regression(folder.name, read_run_name(folder), folder, parsed_config, status)

    def write_folder(self, folder: Path, config: LbfgsConfig, placement: Placement | None) -> None:
        """Write the files of a new regression."""
        now = time.time()
        status = RegressionStatus(created=now, queued=now, updated=now)
        write_job_files(folder, status, config.as_dict(), placement)

    def explain_requeue_refusal(self, job: Regression, active: bool) -> str:
        """Why it cannot be followed."""
        if not job.is_placed:
            return "it is on no cluster. Launch it again to have it whole."
        if active:
            return "it is followed already."
        ended = job.status.state not in self.kind.active_states
        return f"it has ended, {job.status.state}." if ended else ""


REGRESSION_STORE = _RegressionStore()


def create_regression(config: LbfgsConfig, placement: Placement | None = None) -> Regression:
    """Create a regression that nothing works on yet; see `JobStore.create`."""
    return REGRESSION_STORE.create(config, placement)


def launch_regression(config: LbfgsConfig, placement: Placement | None = None) -> Regression:
    """Create a regression and start its worker."""
    return REGRESSION_STORE.launch(config, placement)


def find_regression(regression_id: str) -> Regression:
    """Find the regression with this id.

    Raises:
      UnknownRunError: it does not exist, or is of another kind.
      RunError: its files cannot be read.
    """
    return REGRESSION_STORE.find(regression_id)


def list_regressions() -> list[Regression]:
    return REGRESSION_STORE.list_jobs()


def list_unreadable_regressions() -> dict[str, str]:
    """List the regressions that cannot be read: name and reason."""
    return REGRESSION_STORE.list_unreadable()


def follow_regression(regression_id: str) -> Regression:
    """Queue a worker that follows a regression's task on its cluster."""
    return REGRESSION_STORE.requeue(regression_id)


def stop_regression(regression_id: str) -> bool:
    """Ask a regression's worker to stop; whether it has one."""
    return REGRESSION_STORE.request_stop(regression_id)


def delete_regression(regression_id: str) -> None:
    """Delete a regression and all its files; see `JobStore.delete`."""
    REGRESSION_STORE.delete(regression_id)


def find_any_regression(solve_id: str) -> Regression | None:
    """Return the regression with this id; None if there is none of that kind; see `JobStore.read`."""
    return REGRESSION_STORE.read(solve_id)
