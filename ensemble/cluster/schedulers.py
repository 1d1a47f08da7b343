"""The places that there are beside this machine, by their words: a new scheduler is added here."""

from ensemble.cluster import slurm, submission
from ensemble.cluster.scheduler import Place, Scheduler
from ensemble.cluster.settings import SlurmConfig
from ensemble.errors import ClusterError

SLURM = Scheduler(
    name="slurm",
    title="Slurm",
    settings=SlurmConfig,
    commands=slurm.NEEDED,
    available=slurm.available,
    partitions=slurm.partitions,
    queue=slurm.queue,
    check=submission.check,
    submit=submission.submit,
    cancel=slurm.cancel,
    log_file=submission.log_file,
)
# Its tasks are pods, which begin and end without being asked from here.
KUBERNETES = Place("kubernetes", "Kubernetes")

SCHEDULERS = {one.name: one for one in (SLURM,)}
PLACES: dict[str, Place] = {**SCHEDULERS, KUBERNETES.name: KUBERNETES}


def find_scheduler(name: str) -> Scheduler:
    """The scheduler of that name.

    Raises:
      ClusterError: there is none that takes tasks from here.
    """
    if name not in SCHEDULERS:
        others = " or ".join(f"--on {one}" for one in SCHEDULERS)
        raise ClusterError(f"It is for {name}, which takes no such task: say {others}.")
    return SCHEDULERS[name]
