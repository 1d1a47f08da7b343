"""The regressions in the folder of runs: make, find, list, delete."""

import time
from dataclasses import dataclass
from pathlib import Path

from ensemble.access import Action
from ensemble.errors import UnknownRunError
from ensemble.jobs.folders import StoredConfig, read_run_name
from ensemble.jobs.kinds import REGRESSION, JobKind
from ensemble.jobs.placement import Placement
from ensemble.jobs.store import JobStore, StoredJob, write_job_files
from ensemble.regression.settings import LbfgsConfig
from ensemble.regression.status import RegressionStatus, read_regression_status


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
        return Regression(folder.name, read_run_name(folder), folder, parsed_config, read_regression_status(folder))

    def write_folder(self, folder: Path, config: LbfgsConfig, placement: Placement | None) -> None:
        """Write what the folder of a new one holds."""
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
    """The regression with this id; None where there is none of that kind.

    Raises:
      RunError: its files cannot be read.
    """
    try:
        return find_regression(solve_id)
    except UnknownRunError:
        return None
