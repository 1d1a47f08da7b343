"""Schedulers of clusters, and the tasks that a job has there or on this machine (task_array.py).

A scheduler is a value (scheduler.py); those that there are stand in schedulers.py. Slurm: what it
has, what of ours is in its queue, how work gets there. Knows neither runs nor JAX: a task is a
command of this program, and its files say what came of it.
"""

from ensemble.cluster.scheduler import Partition, QueueEntry
from ensemble.cluster.settings import SlurmConfig
from ensemble.cluster.slurm import cancel_slurm_tasks, is_slurm_available, list_slurm_partitions, list_slurm_tasks
from ensemble.cluster.slurm_submission import check_slurm_config, submit_slurm_tasks

__all__ = [
    "Partition",
    "QueueEntry",
    "SlurmConfig",
    "cancel_slurm_tasks",
    "check_slurm_config",
    "is_slurm_available",
    "list_slurm_partitions",
    "list_slurm_tasks",
    "submit_slurm_tasks",
]
