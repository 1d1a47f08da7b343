"""What Slurm says of itself, as pages have it: asked aside, so that no page waits for an answer."""

import shutil
import threading
import time
from dataclasses import dataclass

from ensemble.cluster import settings
from ensemble.cluster import slurm as cluster
from ensemble.cluster.asking import NotSetUpError
from ensemble.cluster.scheduler import Partition, QueueEntry
from ensemble.cluster.slurm import NEEDED
from ensemble.errors import ClusterError, ConfigError

# An answer is used for so long, and one that there is no cluster; the first is waited for so long.
FRESH_SECONDS, ABSENT_SECONDS, PATIENCE_SECONDS = 5.0, 60.0, 0.4


@dataclass(frozen=True)
class Answer:
    """What is known of Slurm by now.

    Attributes:
      partitions: those of the cluster, in its order; none where it does not answer.
      tasks: this user's, by id.
      problem: why it does not answer, or its settings cannot be read; "" where all is well.
      there: whether there is a cluster, or ensemble.toml names one: else nobody is told of it.
    """

    partitions: tuple[Partition, ...] = ()
    tasks: tuple[QueueEntry, ...] = ()
    problem: str = ""
    there: bool = False


class Question:
    """Asks Slurm again and again, as somebody looks, and never twice at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._answer: Answer | None = None
        self._asked, self._waited = 0.0, False

    def look(self) -> Answer:
        """The last answer; the first is waited for, but not for long."""
        if not shutil.which(NEEDED[0]):
            return named_only()
        with self._lock:
            lasts = FRESH_SECONDS if self._answer is None or self._answer.there else ABSENT_SECONDS
            stale = self._answer is None or time.monotonic() - self._asked > lasts
            if stale and not (self._thread and self._thread.is_alive()):
                self._thread = threading.Thread(target=self._ask, name="slurm", daemon=True)
                self._thread.start()
            first, self._waited = not self._waited, True
            thread = self._thread
        if first and thread:
            thread.join(PATIENCE_SECONDS)
        return self._answer or named_only()

    def forget(self) -> None:
        """Ask anew at the next look."""
        with self._lock:
            self._answer, self._waited = None, False

    def _ask(self) -> None:
        try:
            found = asked()
        finally:
            self._asked = time.monotonic()
        self._answer = found


def asked() -> Answer:
    """What Slurm answers now; as long as that takes."""
    try:
        return Answer(tuple(cluster.partitions()), tuple(cluster.queue().values()), there=True)
    except NotSetUpError:
        return named_only()
    except ClusterError as error:
        return Answer(problem=str(error), there=True)


def named_only() -> Answer:
    """Where no Slurm answers: whether ensemble.toml names one all the same."""
    try:
        if settings.table() is None:
            return Answer()
    except ConfigError:
        return Answer()
    return Answer(
        problem="ensemble.toml names Slurm, but there is none on this machine: start this on one "
        "of the cluster's.",
        there=True,
    )


_question = Question()
look, forget = _question.look, _question.forget
