"""A sweep's workers as tasks of Slurm's: an array of them, which outlives whoever follows it."""

import sys

from ensemble import cluster
from ensemble.cluster import SlurmConfig
from ensemble.errors import ClusterError, RunError
from ensemble.jobs.placement import SLURM, read_placement
from ensemble.jobs.remote import inside
from ensemble.storage.atomic import read_json, write_json
from ensemble.sweeps.store import Sweep

FILE, FOLDER = "tasks.json", "slurm"
# Slurm has to say so often in a row that no task is left.
SURE = 3


class WorkerTasks:
    """The tasks of one sweep. Slurm itself requeues one that it took its node from.

    Args:
      sweep: placed on Slurm.

    Raises:
      RunError: where it is placed cannot be read.
      ConfigError: what is asked for is out of its range.
    """

    def __init__(self, sweep: Sweep) -> None:
        self._sweep, self._none_left = sweep, 0
        try:
            placement = read_placement(sweep.path)
            known = read_json(sweep.path / FILE) if (sweep.path / FILE).exists() else {}
        except (OSError, ValueError) as error:
            raise RunError(
                f"Where the sweep “{sweep.id}” is to run cannot be read ({error}): launch it again."
            ) from error
        if placement is None or placement.on != SLURM:
            raise RunError(f"The sweep “{sweep.id}” is on no cluster: launch it again.")
        self._config = SlurmConfig.from_dict(placement.settings)
        self._ids = [str(one) for one in known.get("ids", [])]

    def start(self) -> None:
        """Submit as many as there are to be workers, less those that wait or work still.

        Raises:
          ClusterError, ConfigError: Slurm does not take them, with what to do.
        """
        left = [one for one, state in self._states().items() if state != "ended"]
        missing = self._sweep.config.workers - len(left)
        made: list[str] = []
        if missing > 0:
            made = cluster.submit(
                [[self._sweep.kind.command, self._sweep.id]] * missing,
                self._sweep.path / FOLDER, self._config, name=self._sweep.id,
                environment={inside.VARIABLE: inside.word(self._sweep)}, nodes=1,
            )  # fmt: skip
        self._ids = [*left, *made]
        write_json(self._sweep.path / FILE, {"ids": self._ids})

    def gone(self) -> bool:
        """Whether all have ended: Slurm said so several times; not where it does not answer."""
        try:
            states = self._states()
        except ClusterError as error:
            print(f"Slurm could not be asked: {error}", file=sys.stderr)
            return False
        over = all(states[one] == "ended" for one in self._ids)
        self._none_left = self._none_left + 1 if over else 0
        return self._none_left >= SURE

    def take_back(self) -> None:
        """Cancel those that wait; those that work stop of themselves."""
        try:
            if waiting := [one for one, state in self._states().items() if state == "waiting"]:
                cluster.cancel(waiting)
        except ClusterError as error:
            print(f"Tasks could not be taken back: {error}", file=sys.stderr)

    def _states(self) -> dict[str, str]:
        """How each stands; one of another name is none of ours."""
        there = cluster.queue()
        return {
            one: known.state if (known := there.get(one)) and known.name == self._sweep.id
            else "ended" for one in self._ids
        }  # fmt: skip
