"""The sweeps in the folder of runs: make, find, list, queue, stop, delete."""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ensemble.jobs.folders import Config, read_name
from ensemble.jobs.kinds import SWEEP, Kind
from ensemble.jobs.placement import Placement
from ensemble.jobs.store import JobStore, StoredJob, write_job
from ensemble.sweeps.settings import SweepConfig, chosen_storage
from ensemble.sweeps.status import SweepStatus, read_sweep_status


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
    kind: Kind = SWEEP


class SweepStore(JobStore[Sweep, SweepConfig, SweepConfig]):
    """All sweeps; the runs of their trials are no part of them, and outlive them."""

    kind, noun, kept_as = SWEEP, "sweep", (SWEEP.kept_as,)
    of_another_kind = "is no sweep: choose one of `sweep --list`."

    def parse(self, config: Config) -> SweepConfig:
        """Its settings."""
        return SweepConfig.from_disk(config.settings)

    def read(self, folder: Path, known: SweepConfig) -> Sweep:
        """The sweep in a folder."""
        return Sweep(folder.name, read_name(folder), folder, known, read_sweep_status(folder))

    def prepare(self, config: SweepConfig) -> SweepConfig:
        """Its trials are written down where the environment says."""
        return replace(config, storage=chosen_storage())

    def fill(self, folder: Path, config: SweepConfig, placement: Placement | None) -> None:
        """Write what the folder of a new one holds, and make its study.

        Raises:
          RunError: the database cannot be reached.
        """
        from ensemble.sweeps.archive import Archive

        # A database may have sweeps of other folders, whose ids are no others than here.
        own = f"-{secrets.token_hex(4)}" if config.storage == "database" else ""
        config = replace(config, study=folder.name + own)
        Archive.create(folder.name, folder, config)
        now = time.time()
        status = SweepStatus(created=now, queued=now, updated=now, trials=config.wanted)
        write_job(folder, status, config.as_dict(), placement)

    def why_over(self, job: Sweep) -> str:
        """It has all its trials."""
        if job.status.state == "finished" and job.status.done >= job.config.wanted:
            return "all its trials have ended. Give it more with --enlarge."
        return ""

    def renewed(self, job: Sweep) -> Mapping[str, Any]:
        """It may have been given more trials."""
        return {"trials": job.config.wanted}


SWEEPS = SweepStore()
create, find, delete = SWEEPS.create, SWEEPS.find, SWEEPS.delete
list_sweeps, unreadable_sweeps = SWEEPS.list_jobs, SWEEPS.list_unreadable
launch, resume, requeue = SWEEPS.launch, SWEEPS.resume, SWEEPS.requeue
request_stop = SWEEPS.request_stop
