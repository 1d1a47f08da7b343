"""The places that there are beside this machine, by their words: a new scheduler is added here."""

from ensemble.cluster import slurm, slurm_submission
from ensemble.cluster.scheduler import ExecutionTarget, Scheduler
from ensemble.cluster.settings import SlurmConfig
from ensemble.errors import ClusterError

SLURM = Scheduler(
    name="slurm",
    title="Slurm",
    settings=SlurmConfig,
    commands=slurm.SLURM_PROGRAMS,
    available=slurm.is_slurm_available,
    partitions=slurm.list_slurm_partitions,
    queue=slurm.list_slurm_tasks,
    check=slurm_submission.check_slurm_config,
    submit=slurm_submission.submit_slurm_tasks,
    cancel=slurm.cancel_slurm_tasks,
    log_file=slurm_submission.locate_slurm_log,
)
# Its tasks are pods, which begin and end without being asked from here.
KUBERNETES = ExecutionTarget("kubernetes", "Kubernetes")

SCHEDULERS = {one.name: one for one in (SLURM,)}
EXECUTION_TARGETS: dict[str, ExecutionTarget] = {**SCHEDULERS, KUBERNETES.name: KUBERNETES}


def find_scheduler(name: str) -> Scheduler:
    """The scheduler of that name.

    Raises:
      ClusterError: there is none that takes tasks from here.
    """
    if name not in SCHEDULERS:
        others = " or ".join(f"--on {one}" for one in SCHEDULERS)
        raise ClusterError(f"It is for {name}, which does not support this: choose {others}.")
    return SCHEDULERS[name]
