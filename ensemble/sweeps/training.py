"""One trial: its run trained in this process, its epochs told to the pruner."""

import dataclasses
import math
import traceback
from collections.abc import Callable

from ensemble import runs
from ensemble.errors import RunError
from ensemble.jobs.folders import changing
from ensemble.jobs.job import STOP_FILE
from ensemble.jobs.outcome import StopRequest
from ensemble.jobs.queue import without_worker
from ensemble.jobs.status import write_status
from ensemble.storage.reading import opened_to_append
from ensemble.sweeps.archive import Archive
from ensemble.sweeps.claims import Claim, release, settle
from ensemble.sweeps.objectives import at_epoch


class TrialStop(StopRequest):
    """Whether to stop a trial's run: as any run is, or with the sweep, or by the pruner.

    Args:
      run: the trial's.
      outer: whether the sweep is to stop.
    """

    def __init__(self, run: runs.Run, outer: Callable[[], bool]) -> None:
        super().__init__(run.path / STOP_FILE)
        self._outer = outer
        self.pruned = ""

    def __call__(self) -> bool:
        """Whether it is time to stop."""
        return bool(self.pruned) or self._outer() or super().__call__()


class Watch:
    """Tells the pruner of every epoch of a trial, and has its run stop where that says so.

    Args:
      archive: the sweep's.
      claimed: the trial.
      stop: of its run.
    """

    def __init__(self, archive: Archive, claimed: Claim, stop: TrialStop) -> None:
        self._trial = archive.opened(claimed.trial)
        self._told = set(claimed.trial.intermediate_values)
        self._run_id, self._stop = claimed.run_id, stop
        self._goals = archive.config.goals
        self._prunes = archive.config.pruner != "none"

    def see(self, status: runs.Status) -> None:
        """Note a new status of the run."""
        told = status.epoch in self._told or not status.epoch
        if told or len(self._goals) > 1 or self._goals == ("seconds",):
            return
        try:
            self._tell(status.epoch)
        except Exception:
            # A storage that does not answer for a moment is no reason to end the training: what
            # was not told is told after the next epoch.
            traceback.print_exc()

    def _tell(self, epoch: int) -> None:
        run = runs.find(self._run_id)
        for line in runs.read_history(run.id):
            if line["kind"] == "epoch" and line["epoch"] not in self._told:
                value = at_epoch(run, line, self._goals[0])
                if math.isfinite(value):
                    self._trial.report(value, line["epoch"])
                self._told.add(line["epoch"])
        last = epoch >= run.config.epochs
        if self._prunes and not last and self._trial.should_prune():
            self._stop.pruned = (
                f"Pruned after epoch {epoch} of {run.config.epochs}: other trials of its sweep "
                "were better by then."
            )


def train(archive: Archive, claimed: Claim, outer: StopRequest) -> runs.Run | None:
    """Bring a claimed trial to its end, and say what it came to.

    Args:
      archive: the sweep's.
      claimed: the trial; it is released where the sweep is to stop before it has ended.
      outer: whether the sweep is to stop; is told of a signal that came meanwhile.

    Returns:
      Its run as it ended; None where another process was at it.
    """
    stop = TrialStop(runs.find(claimed.run_id), outer)
    watch = Watch(archive, claimed, stop)
    try:
        run = runs.work(claimed.run_id, watch.see, stop, turn=False)
    except RunError:
        return None  # Another process has it, or it was deleted: the next claim sees which.
    except Exception:
        # One trial's bug or lack of memory is no end of the others; its status says it.
        _log(claimed.run_id)
        run = runs.find(claimed.run_id)
    outer.signalled = outer.signalled or stop.signalled
    if run.state == "stopped" and not stop.pruned and outer():
        release(archive, claimed)
        return run
    if run.state == "stopped" and stop.pruned:
        _say(run, stop.pruned)
    by_hand = "Its run was stopped by hand." if run.state == "stopped" else ""
    with archive.alone():
        settle(archive, claimed.trial, run, stop.pruned or by_hand)
    return run


def _say(run: runs.Run, message: str) -> None:
    """Have the run's status say why it was stopped."""
    with changing(run.path), without_worker(run.path, f"“{run.id}” has a worker."):
        now = runs.find(run.id).status
        if now.state == "stopped":
            write_status(run.path, dataclasses.replace(now, message=message))


def _log(run_id: str) -> None:
    traceback.print_exc()
    with opened_to_append(runs.find(run_id).path / "log.txt") as file:
        file.write(traceback.format_exc().encode(errors="backslashreplace"))
