"""One Bash script for schedulers that take no tasks from here: PBS, LSF, HTCondor and others.

Each of its tasks is a group of a run's members, as a pod of Kubernetes is. Nothing here talks to a
cluster: a person submits what is printed.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ensemble.machine.python_command import SAFE_PATH_LINES
from ensemble.settings import Settings, declare_setting

_NAME_FORM = (
    r"[a-zA-Z]([a-zA-Z0-9-]{0,38}[a-zA-Z0-9])?",
    "letters, digits and hyphens, a letter first, at most 40 characters",
)
_QUEUE_FORM = (r"([A-Za-z0-9][A-Za-z0-9_.@-]{0,99})?", "a name of letters, digits and . _ @ -")

_TEMPLATE = r"""#!/bin/bash
{directives}
# Trains the run {run} as tasks with the indices 0 to {last}. The first creates the run and merges
# what all of them write. Submit this file, whose name is FILE here, with the command of your scheduler:
#   PBS          qsub FILE
#   LSF          bsub <FILE
#   Grid Engine  qsub -cwd -t 1-{groups} FILE
#   HTCondor     condor_submit, with this description:
#     executable = /bin/bash
#     arguments = FILE $(Process) $(Cluster)
#     should_transfer_files = NO
#     request_cpus = {cpus}
#     request_memory = {memory}GB{condor_gpus}
#     queue {groups}
#   any other    bash FILE INDEX NUMBER in each task; all have the same NUMBER, another one each time you
#                submit. Here: now=$(date +%s); for i in {{0..{last}}}; do bash FILE $i $now & done; wait
# After a stop or a failure, submit it again: training continues from the last checkpoint.
# The folders that are named below have to be on a disk that all nodes share.
if [ -n "$1" ]; then index=$1; number=$2
elif [ -n "$PBS_JOBID" ]; then index=${{PBS_ARRAY_INDEX:-0}}; number=${{PBS_JOBID%%[!0-9]*}}
elif [ -n "$LSB_JOBID" ]; then index=$((LSB_JOBINDEX - 1)); number=$LSB_JOBID
elif [ -n "$SGE_TASK_ID" ]; then index=$((SGE_TASK_ID - 1)); number=$JOB_ID
fi
export JOB_COMPLETION_INDEX=${{index:?no scheduler is known: call bash FILE INDEX NUMBER}}
export ENSEMBLE_SUBMISSION=${{number:?it is missing: call bash FILE INDEX NUMBER}}
cd "${{PBS_O_WORKDIR:-${{LS_SUBCWD:-.}}}}" || exit 1
{exports}
# When the scheduler ends a task, the task writes a checkpoint first.
told=
trap 'told=1; kill -TERM $child 2>/dev/null' TERM USR2
for try in {{0..{retries}}}; do
  if [ -n "$told" ]; then exit 75; fi
  {command} &
  child=$!
  wait $child; status=$?
  while kill -0 $child 2>/dev/null; do wait $child; status=$?; done
  case $status in 0|2|3) exit $status ;; esac  # done, a bad value, diverged: another try changes nothing
  if [ -n "$told" ]; then exit 75; fi
  sleep 10
done
exit $status
"""


@dataclass(frozen=True)
class ArrayConfig(Settings):
    """What is asked of a scheduler for each task, checked when made.

    Raises:
      ConfigError: a value of the wrong type, form or range.
    """

    name: str = declare_setting("ensemble", "Name of the array in the scheduler's lists.", form=_NAME_FORM)
    cpus: int = declare_setting(2, "Processor cores of each task.", low=1, high=1024)
    memory: int = declare_setting(4, "Memory of each task, in GiB.", low=1, high=16384)
    gpus: int = declare_setting(0, "GPUs of each task.", low=0, high=64)
    retries: int = declare_setting(20, "How often a failed task is started again.", low=0, high=1000)
    time: int = declare_setting(
        60, "PBS, LSF: minutes that a task may run; submitted again, it continues.", low=2, high=525_600
    )
    queue: str = declare_setting("", "PBS, LSF: the queue; its default if left out.", form=_QUEUE_FORM)

    def __post_init__(self) -> None:
        self.check()


def render_array_script(
    config: ArrayConfig, run_id: str, groups: int, command: Sequence[str], environment: Mapping[str, str]
) -> str:
    """Return the script that trains a run, one task per group.

    Args:
      config: what each task asks for; as directives of PBS and LSF.
      run_id: the run.
      groups: how many groups it has.
      command: what each task is started with, from the program on.
      environment: variables that each task is given.
    """
    variables = {**environment, "JAX_NUM_CPU_DEVICES": str(config.cpus)}
    exports = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    return _TEMPLATE.format(
        directives="\n".join(_list_directives(config, groups)),
        run=run_id,
        groups=groups,
        last=groups - 1,
        cpus=config.cpus,
        memory=config.memory,
        condor_gpus=f"\n#     request_gpus = {config.gpus}" if config.gpus else "",
        exports="\n".join([*exports, *SAFE_PATH_LINES]),
        retries=config.retries,
        command=shlex.join(command),
    )


def _list_directives(config: ArrayConfig, groups: int) -> list[str]:
    gpus = config.gpus
    return [
        f"#PBS -N {config.name}",
        *([f"#PBS -J 0-{groups - 1}"] if groups > 1 else []),  # PBS has no arrays of one task
        f"#PBS -l select=1:ncpus={config.cpus}:mem={config.memory}gb{f':ngpus={gpus}' if gpus else ''}",
        f"#PBS -l walltime={config.time // 60:02}:{config.time % 60:02}:00",
        "#PBS -r y",
        "#PBS -j oe",
        *([f"#PBS -q {config.queue}"] if config.queue else []),
        f'#BSUB -J "{config.name}[1-{groups}]"',
        f"#BSUB -n {config.cpus}",
        f'#BSUB -R "span[hosts=1] rusage[mem={config.memory}GB]"',
        f"#BSUB -M {config.memory}GB",
        *([f'#BSUB -gpu "num={gpus}"'] if gpus else []),
        f"#BSUB -W {config.time}",
        f"#BSUB -o {config.name}.%J.%I.out",
        "#BSUB -r",
        '#BSUB -Q "75"',
        *([f"#BSUB -q {config.queue}"] if config.queue else []),
    ]
