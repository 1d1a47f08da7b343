"""How commands of this program become tasks of Slurm's: an array, through submitit.

submitit writes each task down with pickle, in a folder that is this user's alone, and only its own
tasks read it: what came of a task is read from the files that the task's command writes.
"""

import math
import os
import re
import shlex
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from typing import Any

from ensemble.cluster import slurm
from ensemble.cluster.command import Command
from ensemble.cluster.settings import SlurmConfig
from ensemble.cluster.slurm_commands import clear_slurm_cache, raise_slurm_refusal
from ensemble.errors import ClusterError, ConfigError
from ensemble.extras import CLUSTER, CLUSTER_PACKAGES, require_packages
from ensemble.machine.python_command import PYTHON_COMMAND, SAFE_PATH_LINES, build_python_command
from ensemble.storage.folders import data_folder, runs_folder
from ensemble.storage.private_folder import create_private_folder

_MAX_TIMEOUTS = 1000  # ends of its time after which a task still goes on in another
_WARNING_SECONDS = 120  # before the end of its time that a task is warned, or a quarter of it
PROGRAM = build_python_command()
_MAX_ARRAY_SIZE = 1000  # tasks in one array: Slurm takes 1,000 unless it was set up otherwise

# What sbatch would take from its environment before what is asked for under this name.
_SBATCH_VARIABLES = {
    "time": ("SBATCH_TIMELIMIT",),
    "partition": ("SBATCH_PARTITION",),
    "account": ("SBATCH_ACCOUNT",),
    "constraint": ("SBATCH_CONSTRAINT",),
    "gres": ("SBATCH_GRES",),
    "qos": ("SBATCH_QOS",),
    "gpus_per_node": ("SBATCH_GPUS", "SBATCH_GPUS_PER_NODE", "SBATCH_GPUS_PER_TASK"),
    "mem": ("SBATCH_MEM_PER_NODE", "SBATCH_MEM_PER_CPU", "SBATCH_MEM_PER_GPU"),
    "cpus_per_task": ("SBATCH_CPUS_PER_TASK", "SBATCH_CPUS_PER_GPU"),
}
# What the tasks stand on, whatever is asked for: their names, logs, signals and way back.
_ALWAYS_SETTLED = (
    "SBATCH_ARRAY_INX",
    "SBATCH_ERROR",
    "SBATCH_INPUT",
    "SBATCH_JOB_NAME",
    "SBATCH_NO_REQUEUE",
    "SBATCH_NTASKS_PER_NODE",
    "SBATCH_OPEN_MODE",
    "SBATCH_OUTPUT",
    "SBATCH_REQUEUE",
    "SBATCH_SIGNAL",
    "SBATCH_WAIT",
)
_ID_READER = "_get_job_id_from_submission_command"
_SUBMITTED_PATTERN = re.compile(r"\bjob (\d+)")
_BARE_ID_PATTERN = re.compile(r"^\s*(\d+)(?:;\S*)?\s*$", re.MULTILINE)

# Submitting changes this process's environment for a moment.
_submission_lock = threading.Lock()


def submit_slurm_tasks(
    commands: Sequence[Sequence[str]],
    folder: Path,
    config: SlurmConfig,
    name: str,
    environment: Mapping[str, str],
    program: Sequence[str] = PROGRAM,
    logs: Sequence[Path] | None = None,
) -> list[str]:
    """Hand commands to Slurm, each as a task that is requeued until its command has ended.

    Args:
      commands: of each task the words behind `ensemble`.
      folder: where the tasks' logs go, `ID_0_log.out` and `.err`; on a disk that the nodes share.
        It is made, and closed to other users.
      config: what each task asks for.
      name: what Slurm's lists call them.
      environment: variables that the commands need, over those that are passed on anyway.
      program: what the words follow.
      logs: for each command a file at whose end goes what it writes, if not the task's log.

    Returns:
      One id for each command, in their order.

    Raises:
      ClusterError: there is no Slurm here, it does not answer, or it refuses.
      ConfigError: the settings do not fit this cluster, or `ensemble.toml` cannot be read.
      OSError: the folder cannot be made or written.
    """
    check_slurm_config(config)
    create_private_folder(folder)
    variables = {**_collect_passed_variables(), **environment}
    tasks = [
        Command([*program, *words], variables, log)
        for words, log in zip(commands, logs or repeat(None, len(commands)), strict=True)
    ]
    setup = config.setup or SlurmConfig.from_toml().setup
    parameters = build_submitit_parameters(config, name, setup)
    ids: list[str] = []
    try:
        for at in range(0, len(tasks), _MAX_ARRAY_SIZE):
            ids += _submit_task_array(tasks[at : at + _MAX_ARRAY_SIZE], folder, parameters)
    except ClusterError:
        slurm.cancel_slurm_tasks(ids)
        raise
    finally:
        clear_slurm_cache()
    return ids


def check_slurm_config(config: SlurmConfig) -> None:
    """See that the cluster has what is asked for, as far as it can be told beforehand.

    Raises:
      ClusterError: there is no Slurm here, or it does not answer.
      ConfigError: there is no such partition, or it has not enough; or what hands tasks in is not
        installed.
    """
    require_packages("Handing tasks to Slurm", CLUSTER_PACKAGES, CLUSTER)
    there = {partition.name: partition for partition in slurm.list_slurm_partitions()}
    wanted = config.partition.split(",") if config.partition else []
    if unknown := [name for name in wanted if name not in there]:
        raise ConfigError(f"This cluster has no partition {unknown[0]}: choose one of {', '.join(there)}.")
    chosen = [there[name] for name in wanted] or [partition for partition in there.values() if partition.default]
    if not chosen:
        raise ConfigError(f"This cluster has no default partition: choose one of {', '.join(there)}.")
    longest = max(partition.minutes or math.inf for partition in chosen)
    if config.time > longest:
        raise ConfigError(
            f"The partition {chosen[0].name} gives a task {longest:,} minutes at most: ask for "
            "no more; the work continues in another task."
        )


def locate_slurm_log(folder: Path, task_id: str) -> Path:
    """Where a task of a folder writes what it prints, beside submitit's own files."""
    return folder / f"{task_id}_0_log.out"


def _collect_passed_variables() -> dict[str, str]:
    """What the commands need of this process's environment: this project's variables."""
    own = {name: value for name, value in os.environ.items() if name.startswith("ENSEMBLE_")}
    return {**own, "ENSEMBLE_RUNS": str(runs_folder()), "ENSEMBLE_DATA": str(data_folder())}


def build_submitit_parameters(config: SlurmConfig, name: str, setup: Sequence[str]) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "job_name": name,
        "time": config.time,
        "nodes": 1,
        "ntasks_per_node": 1,
        "signal_delay_s": min(_WARNING_SECONDS, config.time * 15),
        "stderr_to_stdout": True,
        "srun_args": ["--input=none"],
        "setup": [*setup, *SAFE_PATH_LINES],
        "additional_parameters": {"requeue": True},
    }
    for setting in ("partition", "account", "constraint", "gres", "qos"):
        if value := getattr(config, setting):
            parameters[setting] = value
    if config.gpus:
        parameters["gpus_per_node"] = config.gpus
    if config.memory:
        parameters["mem"] = f"{config.memory}GB"
    if config.cpus:
        parameters["cpus_per_task"] = config.cpus
        # From 22.05 on srun does not take it from the task that it is started in.
        parameters["srun_args"].append(f"--cpus-per-task={config.cpus}")
    return parameters


def _submit_task_array(tasks: Sequence[Command], folder: Path, parameters: dict[str, Any]) -> list[str]:
    """The ids of tasks in one array; ClusterError where Slurm refuses them."""
    from submitit import SlurmExecutor  # imported only where something is submitted
    from submitit.core.utils import FailedJobError, FailedSubmissionError

    python = shlex.join(PYTHON_COMMAND)
    # An array is submitted by an executor of submitit's own class, whatever this one is.
    setattr(SlurmExecutor, _ID_READER, staticmethod(read_submitted_id))
    executor = SlurmExecutor(folder, max_num_timeout=_MAX_TIMEOUTS, python=python)
    executor.update_parameters(**parameters)
    try:
        with _submission_lock, hide_slurm_environment(), _hide_overruling_variables(parameters):
            jobs = executor.submit_array(tasks)
    except (FailedJobError, FailedSubmissionError) as error:
        raise_slurm_refusal("sbatch", str(error))
        raise
    return [str(job.job_id) for job in jobs]


def read_submitted_id(output: str | bytes) -> str:
    """The id in what sbatch, or a site's wrapper of it, printed when it took a task.

    Its last line is "Submitted batch job 17", perhaps with more behind it, or the bare id, with or
    without the cluster's name ("17;long"), as with `--parsable`.

    Raises:
      FailedSubmissionError: there is none in it.
    """
    from submitit.core.utils import FailedSubmissionError

    text = output if isinstance(output, str) else output.decode(errors="replace")
    matches = _SUBMITTED_PATTERN.findall(text) or _BARE_ID_PATTERN.findall(text)
    if not matches:
        raise FailedSubmissionError(
            f"it printed no id of a task ({text.strip()[-200:]!r}), and may have taken it: look into squeue"
        )
    return str(matches[-1])


@contextmanager
def hide_slurm_environment() -> Iterator[None]:
    """As if this process were not in a task of Slurm's itself, whose limits would be inherited."""
    own = ("SLURM_", "SLURMD_", "SRUN_", "SUBMITIT_")
    with _hide_variables(name for name in os.environ if name.startswith(own) and name != "SLURM_CONF"):
        yield


@contextmanager
def _hide_overruling_variables(parameters: Mapping[str, Any]) -> Iterator[None]:
    """Without the variables of sbatch that would win over what is asked for; the others are said.

    sbatch takes its variables before the lines of a script, in which submitit says everything.
    """
    settled = {
        variable for name, variables in _SBATCH_VARIABLES.items() if name in parameters for variable in variables
    }
    settled.update(_ALWAYS_SETTLED)
    left = sorted(
        f"{name}={value}" for name, value in os.environ.items() if name.startswith("SBATCH_") and name not in settled
    )
    if left:
        print(f"From the environment Slurm also takes {', '.join(left)}.", file=sys.stderr)
    with _hide_variables(settled):
        yield


@contextmanager
def _hide_variables(names: Iterable[str]) -> Iterator[None]:
    hidden = {name: os.environ.pop(name) for name in list(names) if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(hidden)
