"""Trials: their runs trained here, alone or several at once; their epochs told to the pruner."""

import dataclasses
import math
import traceback
from collections.abc import Callable

from ensemble import runs
from ensemble.config import varying
from ensemble.errors import RunError
from ensemble.jobs.folders import changing
from ensemble.jobs.job import STOP_FILE
from ensemble.jobs.outcome import StopRequest
from ensemble.jobs.queue import without_worker
from ensemble.jobs.status import write_status
from ensemble.machine.lanes import lanes_here
from ensemble.runs.training import packed
from ensemble.storage.reading import opened_to_append
from ensemble.sweeps.archive import WAITING, Archive
from ensemble.sweeps.claims import Claim, claim_more, release, settle
from ensemble.sweeps.objectives import at_epoch
from ensemble.sweeps.settings import SweepConfig
from ensemble.sweeps.store import Sweep, find

# Trials at once, where the next are chosen, or ended early, by what others came to.
FEW = 4


class TrialStop(StopRequest):
    """Whether to stop a trial's run: as any run is, or with the sweep, or by the pruner.

    Args:
      run: the trial's.
      outer: whether the sweep is to stop.

    Attributes:
      outer: as given.
      pruned: why the pruner ends it; "" where it does not.
    """

    def __init__(self, run: runs.Run, outer: Callable[[], bool]) -> None:
        super().__init__(run.path / STOP_FILE)
        self.outer = outer
        self.pruned = ""

    def __call__(self) -> bool:
        """Whether it is time to stop."""
        return bool(self.pruned) or self.outer() or super().__call__()


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


def train_claimed(
    sweep: Sweep, archive: Archive, claimed: Claim, outer: StopRequest
) -> list[runs.Run]:
    """Bring a claimed trial to its end, with more beside it in one program where that is faster.

    This is where that is decided, for each new trial, by what the sweep (`at_once`) and the machine
    (`machine.lanes`) are; nobody is asked. One that was cut off goes on alone.

    Returns:
      The runs that ended, of those that no other process was at.
    """
    more: list[Claim] = []
    if claimed.fresh:
        config = find(sweep.id).config
        begun = sum(one.state != WAITING for one in archive.trials()) - 1
        more = claim_more(sweep, archive, at_once(config, begun, lanes_here(config.base)) - 1)
    if more:
        return train_together(archive, [claimed, *more], outer)
    run = train(archive, claimed, outer)
    return [run] if run else []


def at_once(config: SweepConfig, begun: int, lanes: int) -> int:
    """How many trials a worker takes at once: 1 where they are not packed.

    Few where a sampler or a pruner learns from trials that have ended: those of a pack know nothing
    of each other. Other workers are left their share.

    Args:
      config: the sweep's.
      begun: how many trials of it have begun.
      lanes: how many members may be trained in one program, faster than one trial after another.
    """
    members = config.base.members
    if not can_be_packed(config) or lanes < 2 * members:
        return 1
    most = lanes // members
    if config.sampler == "tpe" or config.pruner != "none":
        most = min(most, FEW)
    left = max(1, config.wanted - begun)
    # Packs of one size: each size is compiled.
    share = math.ceil(left / config.workers)
    return math.ceil(share / math.ceil(share / most))


def can_be_packed(config: SweepConfig) -> bool:
    """Whether trials differ in nothing but numbers of their members, and seconds are no matter."""
    alike = set(config.axes) <= set(varying.NAMES)
    return alike and config.base.groups == 1 and "seconds" not in config.goals


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
    return _told(archive, claimed, run, stop)


def train_together(archive: Archive, claimed: list[Claim], outer: StopRequest) -> list[runs.Run]:
    """Bring claimed trials to their ends side by side in one program; each is told of as it ends.

    Those that failed are tried again, each alone: what all of them need may have been too much.

    Args:
      archive: the sweep's.
      claimed: new trials, whose runs differ in numbers of their members alone.
      outer: as of `train`.

    Returns:
      The runs as they ended, of those that no other process was at.
    """
    every = {one.run_id: one for one in claimed}
    stops = {run_id: TrialStop(runs.find(run_id), outer) for run_id in every}
    watches = [Watch(archive, one, stops[one.run_id]) for one in claimed]
    told: dict[str, runs.Run] = {}

    def tell(run: runs.Run) -> None:
        if run.state == "failed":
            return
        try:
            told[run.id] = _told(archive, every[run.id], run, stops[run.id])
        except Exception:
            # A storage that does not answer now is asked again once all have ended.
            traceback.print_exc()

    try:
        packed.work(list(every), [one.see for one in watches], list(stops.values()), tell)
    except Exception:
        for run_id in every:
            _log(run_id)
    for run_id, one in every.items():
        if run_id not in told and (run := _left(archive, one, stops[run_id], outer)):
            told[run_id] = run
    return list(told.values())


def _left(archive: Archive, claimed: Claim, stop: TrialStop, outer: StopRequest) -> runs.Run | None:
    """What a trial came to that was not told of; None where another process is at it."""
    try:
        if (run := runs.find(claimed.run_id)).state == "failed":
            runs.requeue(run.id)
            return train(archive, claimed, outer)
    except RunError:
        return None
    return None if run.active else _told(archive, claimed, run, stop)


def _told(archive: Archive, claimed: Claim, run: runs.Run, stop: TrialStop) -> runs.Run:
    """Say what a trial came to whose run has ended; one that the sweep's stop ended is left."""
    if run.state == "stopped" and not stop.pruned and stop.outer():
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
