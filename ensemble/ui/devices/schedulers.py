"""What schedulers say of themselves, as pages have it: asked aside, so that no page waits."""

import shutil
import threading
import time
from dataclasses import dataclass

from ensemble.cluster import settings
from ensemble.cluster.scheduler import Partition, QueueEntry, Scheduler
from ensemble.cluster.schedulers import SCHEDULERS, SLURM
from ensemble.cluster.slurm_commands import SlurmNotSetUpError
from ensemble.errors import ClusterError, ConfigError

# An answer is used for so long, and one that there is no cluster; the first is waited for so long.
_FRESH_SECONDS, _ABSENT_SECONDS, PATIENCE_SECONDS = 5.0, 60.0, 0.4


@dataclass(frozen=True)
class _SchedulerSnapshot:
    """What is known of a scheduler by now.

    Attributes:
      scheduler: which.
      partitions: those of the cluster, in its order; none where it does not answer.
      tasks: this user's, by id.
      problem: why it does not answer, or its settings cannot be read; "" where all is well.
      is_present: whether there is a cluster, or ensemble.toml names one: else nobody is told of it.
    """

    scheduler: Scheduler = SLURM
    partitions: tuple[Partition, ...] = ()
    tasks: tuple[QueueEntry, ...] = ()
    problem: str = ""
    is_present: bool = False


class _SchedulerPoller:
    """Asks a scheduler again and again, as somebody looks, and never twice at once."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._answer: _SchedulerSnapshot | None = None
        self._asked, self._waited = 0.0, False

    def read_snapshot(self) -> _SchedulerSnapshot:
        """The last answer; the first is waited for, but not for long."""
        if not shutil.which(self._scheduler.commands[0]):
            return _build_absent_snapshot(self._scheduler)
        with self._lock:
            lasts = _FRESH_SECONDS if self._answer is None or self._answer.is_present else _ABSENT_SECONDS
            stale = self._answer is None or time.monotonic() - self._asked > lasts
            if stale and not (self._thread and self._thread.is_alive()):
                self._thread = threading.Thread(target=self._update_snapshot, daemon=True)
                self._thread.start()
            first, self._waited = not self._waited, True
            thread = self._thread
        if first and thread:
            thread.join(PATIENCE_SECONDS)
        return self._answer or _build_absent_snapshot(self._scheduler)

    def invalidate_snapshot(self) -> None:
        with self._lock:
            self._answer, self._waited = None, False

    def _update_snapshot(self) -> None:
        try:
            snapshot = _query_scheduler(self._scheduler)
        finally:
            self._asked = time.monotonic()
        self._answer = snapshot


def _query_scheduler(scheduler: Scheduler) -> _SchedulerSnapshot:
    """What it answers now; as long as that takes."""
    try:
        partitions, tasks = scheduler.partitions(), scheduler.queue().values()
    except SlurmNotSetUpError:
        return _build_absent_snapshot(scheduler)
    except ClusterError as error:
        return _SchedulerSnapshot(scheduler, problem=str(error), is_present=True)
    return _SchedulerSnapshot(scheduler, tuple(partitions), tuple(tasks), is_present=True)


def _build_absent_snapshot(scheduler: Scheduler) -> _SchedulerSnapshot:
    """Where it does not answer: whether ensemble.toml names it all the same."""
    try:
        named = settings.read_settings_table(scheduler.name) is not None
    except ConfigError:
        named = False
    if not named:
        return _SchedulerSnapshot(scheduler)
    return _SchedulerSnapshot(
        scheduler,
        problem=f"ensemble.toml names {scheduler.title}, but there is none on this machine: start "
        "this on one of the cluster's.",
        is_present=True,
    )


_pollers = [_SchedulerPoller(scheduler) for scheduler in SCHEDULERS.values()]


def read_scheduler_snapshot() -> _SchedulerSnapshot:
    """Of the first scheduler that there is; of the first of all where there is none."""
    answers = [poller.read_snapshot() for poller in _pollers]
    return next((answer for answer in answers if answer.is_present), answers[0])


def invalidate_scheduler_snapshots() -> None:
    for poller in _pollers:
        poller.invalidate_snapshot()
