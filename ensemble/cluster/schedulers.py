"""The places that there are beside this machine, by their words: a new scheduler is added here."""

from ensemble.cluster import slurm, slurm_submission
from ensemble.cluster.scheduler import ExecutionTarget, ExternalTarget, Scheduler
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
    end_word=slurm.read_slurm_end_word,
    log_file=slurm_submission.locate_slurm_log,
)
KUBERNETES = ExternalTarget("kubernetes", "Kubernetes", "delete its Job and apply the manifest again")
ARRAY = ExternalTarget("array", "the scheduler")
# Runs of earlier versions name their scheduler.
_EARLIER_TARGETS = (ExternalTarget("pbs", "PBS"), ExternalTarget("lsf", "LSF"), ExternalTarget("htcondor", "HTCondor"))

# Places that start tasks without being asked from here.
EXTERNAL_TARGETS = {target.name: target for target in (KUBERNETES, ARRAY, *_EARLIER_TARGETS)}
SCHEDULERS = {scheduler.name: scheduler for scheduler in (SLURM,)}
EXECUTION_TARGETS: dict[str, ExecutionTarget] = {**SCHEDULERS, **EXTERNAL_TARGETS}


def find_scheduler(name: str) -> Scheduler:
    """The scheduler of that name.

    Raises:
      ClusterError: there is none that takes tasks from here.
    """
    if name not in SCHEDULERS:
        alternatives = " or ".join(f"--on {scheduler_name}" for scheduler_name in SCHEDULERS)
        raise ClusterError(f"It is for {name}, which does not support this: choose {alternatives}.")
    return SCHEDULERS[name]
