"""A cluster with Slurm: what it has and what of ours is in its queue, and how work gets there.

Knows neither runs nor JAX: a task is a command of this program, and its files say what came of it.
"""

from ensemble.cluster.settings import SlurmConfig
from ensemble.cluster.slurm import Partition, Task, available, cancel, partitions, queue
from ensemble.cluster.submission import check, submit

__all__ = [
    "Partition",
    "SlurmConfig",
    "Task",
    "available",
    "cancel",
    "check",
    "partitions",
    "queue",
    "submit",
]
