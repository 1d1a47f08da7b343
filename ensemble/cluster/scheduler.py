"""What a scheduler is to this program: a value that says what it is called and what it can do."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ensemble.cluster.settings import SlurmConfig

TaskState = Literal["waiting", "running", "ended"]


@dataclass(frozen=True)
class Partition:
    """What a partition has, free or not.

    Attributes:
      name: as `--partition` takes it.
      default: whether a task goes there that names none.
      up: whether tasks are started there.
      minutes: that a task may take at most; None if there is no limit.
      nodes: that it has; free_nodes of them have no task at all.
      cpus: as nodes.
      gpus: as nodes; free ones may be on nodes that have tasks.
      memory_gb: of its largest node.
    """

    name: str
    default: bool
    up: bool
    minutes: int | None
    nodes: int
    free_nodes: int
    cpus: int
    free_cpus: int
    gpus: int
    free_gpus: int
    memory_gb: float


@dataclass(frozen=True)
class QueueEntry:
    """One of this user's tasks, as a scheduler lists it.

    Attributes:
      id: "1234", or "1234_0" of an array.
      state: whether it waits, also for its turn to be started again; works; or has ended. Ended
        ones are forgotten after some minutes.
      reason: why it waits, or does not work though it has begun, in words; else "".
      nodes: where it works, as the scheduler writes it: "node7", "node[1-4]"; "" if it does not.
      name: what it was called when it was submitted.
      word: the scheduler's own for how it ended, as `task_ends` has them; "" if it has not.
    """

    id: str
    state: TaskState
    reason: str
    nodes: str
    name: str
    word: str = ""


@dataclass(frozen=True)
class ExecutionTarget:
    """Where jobs may be done beside this machine.

    Attributes:
      name: its word in `placement.json`, in options, in addresses and in `ensemble.toml`.
      title: what people call it.
    """

    name: str
    title: str


@dataclass(frozen=True)
class ExternalTarget(ExecutionTarget):
    """A place that starts tasks without being asked from here.

    Attributes:
      resubmit: how a person has its tasks started again.
    """

    resubmit: str = "submit its script again"


@dataclass(frozen=True)
class Scheduler(ExecutionTarget):
    """A place that takes tasks from here.

    Every function raises ClusterError where the scheduler is not here, does not answer or refuses.

    Attributes:
      settings: what each task can ask for.
      commands: its programs; without the first of them it is not on this machine.
      available: whether it is here; also where it does not answer just now.
      partitions: those of the cluster, in its order.
      queue: a user's tasks by id, those that ended minutes ago included; takes the user's number,
        by default of whoever asks.
      check: see that the cluster has what is asked for; ConfigError where it has not.
      submit: hand in commands, each as a task that is put back until its command has ended; as
        `submit_slurm_tasks`.
      cancel: end tasks by their ids: a waiting one at once, a working one after it was asked.
      end_word: of a task's log and the word for its end in the queue: a more exact one, if any.
      log_file: where what a task prints goes, of the folder of a job's tasks and the task's id.
    """

    settings: type[SlurmConfig]
    commands: tuple[str, ...]
    available: Callable[[], bool]
    partitions: Callable[[], list[Partition]]
    queue: Callable[..., dict[str, QueueEntry]]
    check: Callable[[SlurmConfig], None]
    submit: Callable[..., list[str]]
    cancel: Callable[[Iterable[str]], None]
    end_word: Callable[[Path, str], str]
    log_file: Callable[[Path, str], Path]
