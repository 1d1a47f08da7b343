"""Tasks of groups that somebody else starts, and starts again: the pods of a Kubernetes Job.

They do not end with the process that follows them, which may be begun anew as each of them may.
"""

import time
from collections.abc import Mapping, Sequence

from ensemble.jobs.job import stop_requested
from ensemble.jobs.outcome import Outcome
from ensemble.runs.groups.coordinator import Coordinator
from ensemble.runs.groups.hearing import Hearing
from ensemble.runs.groups.part import Group, groups_of
from ensemble.runs.groups.tasks import Task
from ensemble.runs.store import Run

# A group that failed, or of which nothing is heard, is begun anew within minutes where it is to be
# at all: Kubernetes waits six at most between tries. One that was told to end may wait for a node
# for as long as that takes.
LOST_SECONDS = 3600.0


class ExternalTasks:
    """Tasks that begin and end without being asked from here; all that is known of them is files.

    Args:
      run: whose groups they train.
      place: what people call where they are.
    """

    def __init__(self, run: Run, place: str) -> None:
        self.where = place
        self._run = run
        self._since = dict.fromkeys(range(1, len(groups_of(run)) + 1), time.monotonic())
        self._taken_back = False
        self._hearing = Hearing()

    def start(self, groups: Sequence[Group]) -> None:
        """Expect them from now on: nothing here could start them."""
        self._since |= {group.number: time.monotonic() for group in groups}

    def look(self) -> Mapping[int, Task]:
        """How they stand, as the groups' own files say."""
        groups = groups_of(self._run)
        self._hearing.listen(groups)
        return {group.number: self._task(group) for group in groups}

    def end(self) -> None:
        """Expect no more: whichever begins after this ends at once, as it is told to stop."""
        self._taken_back = True

    def kill(self, group: Group) -> None:
        """Nothing: they are Kubernetes' own."""

    def _task(self, group: Group) -> Task:
        if self._hearing.at_work(group):
            self._since[group.number] = time.monotonic()
            return Task("running", node=group.status.host)
        over = group.status.state in ("finished", "diverged")
        silent = time.monotonic() - self._since[group.number] > LOST_SECONDS
        lost = silent and group.state == "failed"
        return Task("ended" if over or lost or self._taken_back else "waiting")


class Follower(Coordinator):
    """Merges what such tasks write, and passes a person's Stop on.

    A signal is for this process alone: the tasks have their own.
    """

    def _begin(self) -> None:
        # Whoever trains a group writes its status: one may be beginning just now.
        self._tasks.start(self._groups)

    def _look(self) -> bool:
        return super()._look() or self._left

    def _end_all(self) -> None:
        if stop_requested(self._run) or self._merger.over or self._diverged:
            super()._end_all()

    def _outcome(self) -> Outcome:
        if self._left and not self._merger.over:
            return Outcome(
                "stopped",
                f"What merges the groups was told to end. {self._tasks.where} begins it anew, "
                "unless its Job was deleted: then apply the manifest again to go on.",
            )
        return super()._outcome()

    @property
    def _left(self) -> bool:
        """Whether this process is to end, and no other."""
        return self._stop() and not stop_requested(self._run)
