"""What schedulers say of themselves, as pages have it: asked aside, so that no page waits."""

import shutil
import threading
import time
from dataclasses import dataclass

from ensemble.cluster import settings
from ensemble.cluster.asking import NotSetUpError
from ensemble.cluster.scheduler import Partition, QueueEntry, Scheduler
from ensemble.cluster.schedulers import SCHEDULERS, SLURM
from ensemble.errors import ClusterError, ConfigError

# An answer is used for so long, and one that there is no cluster; the first is waited for so long.
FRESH_SECONDS, ABSENT_SECONDS, PATIENCE_SECONDS = 5.0, 60.0, 0.4


@dataclass(frozen=True)
class Answer:
    """What is known of a scheduler by now.

    Attributes:
      scheduler: which.
      partitions: those of the cluster, in its order; none where it does not answer.
      tasks: this user's, by id.
      problem: why it does not answer, or its settings cannot be read; "" where all is well.
      there: whether there is a cluster, or ensemble.toml names one: else nobody is told of it.
    """

    scheduler: Scheduler = SLURM
    partitions: tuple[Partition, ...] = ()
    tasks: tuple[QueueEntry, ...] = ()
    problem: str = ""
    there: bool = False


class Question:
    """Asks a scheduler again and again, as somebody looks, and never twice at once."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._answer: Answer | None = None
        self._asked, self._waited = 0.0, False

    def look(self) -> Answer:
        """The last answer; the first is waited for, but not for long."""
        if not shutil.which(self._scheduler.commands[0]):
            return named_only(self._scheduler)
        with self._lock:
            lasts = FRESH_SECONDS if self._answer is None or self._answer.there else ABSENT_SECONDS
            stale = self._answer is None or time.monotonic() - self._asked > lasts
            if stale and not (self._thread and self._thread.is_alive()):
                self._thread = threading.Thread(target=self._ask, daemon=True)
                self._thread.start()
            first, self._waited = not self._waited, True
            thread = self._thread
        if first and thread:
            thread.join(PATIENCE_SECONDS)
        return self._answer or named_only(self._scheduler)

    def forget(self) -> None:
        """Ask anew at the next look."""
        with self._lock:
            self._answer, self._waited = None, False

    def _ask(self) -> None:
        try:
            found = asked(self._scheduler)
        finally:
            self._asked = time.monotonic()
        self._answer = found


def asked(scheduler: Scheduler) -> Answer:
    """What it answers now; as long as that takes."""
    try:
        partitions, tasks = scheduler.partitions(), scheduler.queue().values()
    except NotSetUpError:
        return named_only(scheduler)
    except ClusterError as error:
        return Answer(scheduler, problem=str(error), there=True)
    return Answer(scheduler, tuple(partitions), tuple(tasks), there=True)


def named_only(scheduler: Scheduler) -> Answer:
    """Where it does not answer: whether ensemble.toml names it all the same."""
    try:
        named = settings.table(scheduler.name) is not None
    except ConfigError:
        named = False
    if not named:
        return Answer(scheduler)
    return Answer(
        scheduler,
        problem=f"ensemble.toml names {scheduler.title}, but there is none on this machine: start "
        "this on one of the cluster's.",
        there=True,
    )


_questions = [Question(one) for one in SCHEDULERS.values()]


def look() -> Answer:
    """Of the first scheduler that there is; of the first of all where there is none."""
    answers = [one.look() for one in _questions]
    return next((one for one in answers if one.there), answers[0])


def forget() -> None:
    """Ask anew at the next look."""
    for one in _questions:
        one.forget()
