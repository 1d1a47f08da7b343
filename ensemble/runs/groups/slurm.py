"""Tasks of groups on a cluster with Slurm: an array of them, found again by whoever resumes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ensemble import cluster
from ensemble.cluster import SlurmConfig
from ensemble.errors import ClusterError
from ensemble.runs.groups.part import FOLDER, Group
from ensemble.runs.groups.tasks import Task, read_tasks
from ensemble.runs.store import Run

LOGS = "slurm"
# Slurm has to say so often in a row that a task has ended, or is not known to it.
SURE = 3


class SlurmTasks:
    """Tasks on the nodes of a cluster. Slurm itself requeues one that it took its node from.

    They outlive this process. Another one for the same run finds them by what the last one noted,
    and starts none for a group whose task waits or works still.

    Args:
      run: whose groups they are.
      config: what each task asks for.
    """

    where = "Slurm"

    def __init__(self, run: Run, config: SlurmConfig) -> None:
        self._run, self._config = run, config
        self._found = {number: task for number, task in read_tasks(run.path).items() if task.id}
        self._asked_away: set[str] = set()
        self._gone: dict[int, int] = {}
        self._ending = False

    def start(self, groups: Sequence[Group]) -> None:
        """Submit tasks for those of these groups that have none.

        Raises:
          ClusterError: Slurm does not answer, or refuses.
          ConfigError: the settings do not fit this cluster.
        """
        self._ending = False
        there = cluster.queue()
        missing = [one for one in groups if not self._goes_on(one, there)]
        if not missing:
            return
        ids = cluster.submit(
            [[one.kind.command, one.id] for one in missing], self._folder, self._config,
            name=self._run.id, environment={}, nodes=self._config.nodes,
            logs=[one.path / "log.txt" for one in missing],
        )  # fmt: skip
        for group, task in zip(missing, ids, strict=True):
            self._found[group.number] = Task("waiting", task)
            self._gone.pop(group.number, None)

    def look(self) -> Mapping[int, Task]:
        """How they stand by Slurm's last answer."""
        try:
            there = cluster.queue()
        except ClusterError:
            return dict(self._found)  # It is none of the tasks' business.
        for number, task in self._found.items():
            self._found[number] = self._now(number, task, self._known(task, there))
        if self._ending:
            self._take_back()
        return dict(self._found)

    def end(self) -> None:
        """Take back those that wait; Slurm may put one of those that work into its queue yet."""
        self._ending = True
        self._take_back()

    def kill(self, group: Group) -> None:
        """Have Slurm end the task of a group that does not answer."""
        task = self._found.get(group.number)
        if task and task.state != "ended" and task.id not in self._asked_away:
            self._asked_away.add(task.id)
            self._cancel([task.id])

    @property
    def _folder(self) -> Path:
        return self._run.path / FOLDER / LOGS

    def _goes_on(self, group: Group, there: Mapping[str, cluster.Task]) -> bool:
        task = self._found.get(group.number)
        known = self._known(task, there) if task else None
        return bool(known and known.state != "ended")

    def _known(self, task: Task, there: Mapping[str, cluster.Task]) -> cluster.Task | None:
        """What Slurm says of a task of this run.

        Another cluster, another time or the run that this one's folder was copied from may have
        had the same id: that task is none of ours, and never to be cancelled.
        """
        known = there.get(task.id)
        return known if known and known.name == self._run.id else None

    def _now(self, number: int, task: Task, known: cluster.Task | None) -> Task:
        if known and known.state != "ended":
            self._gone[number] = 0
            return Task(known.state, task.id, known.nodes, known.reason)
        self._gone[number] = self._gone.get(number, 0) + 1
        sure = task.state == "ended" or self._gone[number] >= SURE
        return Task("ended", task.id, task.node) if sure else task

    def _take_back(self) -> None:
        waiting = [task.id for task in self._found.values() if task.state == "waiting"]
        if waiting:
            self._cancel(waiting)

    def _cancel(self, ids: list[str]) -> None:
        try:
            cluster.cancel(ids)
        except ClusterError as error:
            print(f"Tasks could not be taken back: {error}", flush=True)
