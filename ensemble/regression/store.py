"""The regressions in the folder of runs: make, find, list, delete."""

import time
from dataclasses import dataclass
from pathlib import Path

from ensemble.access import Action
from ensemble.jobs.folders import Config, read_name
from ensemble.jobs.kinds import REGRESSION, Kind
from ensemble.jobs.placement import Placement
from ensemble.jobs.store import JobStore, StoredJob, write_job
from ensemble.regression.settings import LbfgsConfig
from ensemble.regression.status import SolveStatus, read_solve_status


@dataclass(frozen=True)
class Solve(StoredJob):
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
    status: SolveStatus
    kind: Kind = REGRESSION


class SolveStore(JobStore[Solve, LbfgsConfig, LbfgsConfig]):
    """All regressions.

    One is launched again to have it whole. But where its task on a cluster has outlived the
    worker here, another can follow that, and finds it again or what it came to.
    """

    kind, noun, kept_as = REGRESSION, "run", (REGRESSION.kept_as,)
    of_another_kind = "is no regression: it is an ensemble."
    again, action = "followed", Action.CHANGE

    def parse(self, config: Config) -> LbfgsConfig:
        """Its settings."""
        return LbfgsConfig.from_disk(config.settings)

    def read(self, folder: Path, known: LbfgsConfig) -> Solve:
        """The regression in a folder."""
        return Solve(folder.name, read_name(folder), folder, known, read_solve_status(folder))

    def fill(self, folder: Path, config: LbfgsConfig, placement: Placement | None) -> None:
        """Write what the folder of a new one holds."""
        now = time.time()
        status = SolveStatus(created=now, queued=now, updated=now)
        write_job(folder, status, config.as_dict(), placement)

    def why_not_again(self, job: Solve, active: bool) -> str:
        """Why it cannot be followed."""
        if not job.placed:
            return "it is on no cluster. Launch it again to have it whole."
        if active:
            return "it is followed already."
        ended = job.status.state not in self.kind.active
        return f"it has ended, {job.status.state}." if ended else ""


SOLVES = SolveStore()
create_solve, find_solve = SOLVES.create, SOLVES.find
list_solves, unreadable_solves = SOLVES.list_jobs, SOLVES.list_unreadable
launch_solve, follow_solve = SOLVES.launch, SOLVES.requeue
stop_solve, delete_solve = SOLVES.request_stop, SOLVES.delete
