"""The sweeps in the folder of runs: make, find, list, queue, stop, delete."""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ensemble.config import REGRESSION
from ensemble.errors import ConfigError
from ensemble.jobs.folders import StoredConfig, read_run_name
from ensemble.jobs.kinds import SWEEP, JobKind
from ensemble.jobs.placement import Placement
from ensemble.jobs.store import JobStore, StoredJob, write_job_files
from ensemble.sweeps.settings import MAX_LOCAL_WORKERS, SweepConfig, read_storage_kind
from ensemble.sweeps.status import SweepStatus, read_sweep_status
from ensemble.tables.prepared_table import PreparedTable

_JOURNAL_CHOICE = "Its trials are stored in a journal: SQLite is not safe on a disk that several nodes share."


@dataclass(frozen=True)
class Sweep(StoredJob):
    """One sweep as it stood when it was read.

    Attributes:
      id: the folder's name, its name in URLs and on the command line, and the tag of its trials.
      name: what a person called it, else the id.
      path: its folder.
      config: its settings.
      status: what its worker last wrote.
    """

    id: str
    name: str
    path: Path
    config: SweepConfig
    status: SweepStatus
    kind: JobKind = SWEEP


class _SweepStore(JobStore[Sweep, SweepConfig, SweepConfig]):
    """All sweeps; the runs of their trials are no part of them, and outlive them."""

    kind, noun, config_kinds = SWEEP, "sweep", (SWEEP.config_kind,)
    wrong_kind_sentence = "is not a sweep: choose one of `sweep --list`."

    def parse_config(self, config: StoredConfig) -> SweepConfig:
        """Its settings."""
        return SweepConfig.from_disk(config.settings)

    def read_job(self, folder: Path, parsed_config: SweepConfig) -> Sweep:
        """The sweep in a folder."""
        return Sweep(folder.name, read_run_name(folder), folder, parsed_config, read_sweep_status(folder))

    def complete_config(self, config: SweepConfig) -> SweepConfig:
        """Its trials are written down where the environment says."""
        return replace(config, storage=read_storage_kind())

    def create(
        self, config: SweepConfig, placement: Placement | None = None, table: PreparedTable | None = None
    ) -> Sweep:
        """A new sweep; of regressions with the table that all trials learn from.

        Raises:
          ConfigError: regressions without a table, or a table that does not fit (`check_table_fits`).
          AccessError, RunError: as of every job.
        """
        if (config.base.task == REGRESSION) != (table is not None):
            raise ConfigError("A sweep of regressions needs a table, and another sweep has none.")
        if table:
            check_table_fits(config, table)
        from ensemble.runs.numeric.numeric_launch import build_table_writer  # It imports SciPy.

        return self._create_job(config, placement, build_table_writer(table) if table else lambda folder: None)

    def write_folder(self, folder: Path, config: SweepConfig, placement: Placement | None) -> None:
        """Write what the folder of a new one holds, and make its study.

        Raises:
          ConfigError: it has more workers than one machine may have.
          RunError: the database cannot be reached.
        """
        if placement is None and config.workers > MAX_LOCAL_WORKERS:
            raise ConfigError(
                f"workers is {config.workers:,}, but a sweep on one machine has at most {MAX_LOCAL_WORKERS}: choose "
                "fewer, or a cluster with --on."
            )
        from ensemble.sweeps.study import SweepStudy

        # A database may have sweeps of other folders, whose ids are no others than here.
        own = f"-{secrets.token_hex(4)}" if config.storage == "database" else ""
        config = replace(config, study=folder.name + own)
        on_sqlite = placement is not None and config.storage == "sqlite"
        if on_sqlite:
            config = replace(config, storage="journal")
        SweepStudy.create(folder.name, folder, config)
        now = time.time()
        status = SweepStatus(
            created=now,
            queued=now,
            updated=now,
            trials=config.trial_count,
            message=_JOURNAL_CHOICE if on_sqlite else "",
        )
        write_job_files(folder, status, config.as_dict(), placement)

    def explain_final_state(self, job: Sweep) -> str:
        """It has all its trials."""
        if job.status.state == "finished" and job.status.done >= job.config.trial_count:
            return "all its trials have ended. Give it more with --enlarge."
        return ""

    def build_requeue_changes(self, job: Sweep) -> Mapping[str, Any]:
        """It may have been given more trials."""
        return {"trials": job.config.trial_count}


SWEEP_STORE = _SweepStore()


def create_sweep(config: SweepConfig, placement: Placement | None = None, table: PreparedTable | None = None) -> Sweep:
    """Create a sweep that nothing works on yet; see `_SweepStore.create`."""
    return SWEEP_STORE.create(config, placement, table)


def launch_sweep(config: SweepConfig, placement: Placement | None = None, table: PreparedTable | None = None) -> Sweep:
    """Create a sweep and start its worker."""
    sweep = create_sweep(config, placement, table)
    SWEEP_STORE.start_worker(sweep)
    return sweep


def check_table_fits(config: SweepConfig, table: PreparedTable) -> None:
    """Check that a table holds out rows to choose by, if the objectives need some.

    Raises:
      ConfigError: it has too few.
    """
    if not len(table.split.validation) and set(config.objective_names) != {"seconds"}:
        raise ConfigError(
            f"A validation share of {config.base.validation:g} holds out too few rows of “{table.source}” to choose "
            "settings by: choose a larger share, or give more rows."
        )


def find_sweep(sweep_id: str) -> Sweep:
    """Find the sweep with this id.

    Raises:
      UnknownRunError: it does not exist, or is of another kind.
      RunError: its files cannot be read.
    """
    return SWEEP_STORE.find(sweep_id)


def list_sweeps() -> list[Sweep]:
    """List all readable sweeps, newest first."""
    return SWEEP_STORE.list_jobs()


def resume_sweep(sweep_id: str) -> Sweep:
    """Start a worker on a sweep that has ended and has trials left."""
    return SWEEP_STORE.resume(sweep_id)


def requeue_sweep(sweep_id: str) -> Sweep:
    """Set a sweep with trials left to `queued`, without a worker; see `JobStore.requeue`."""
    return SWEEP_STORE.requeue(sweep_id)


def request_sweep_stop(sweep_id: str) -> bool:
    """Ask a sweep's worker to stop; whether it has one."""
    return SWEEP_STORE.request_stop(sweep_id)


def delete_sweep(sweep_id: str) -> None:
    """Delete a sweep, but not the runs of its trials; see `JobStore.delete`."""
    SWEEP_STORE.delete(sweep_id)
