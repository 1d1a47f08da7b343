"""Scripts of arrays for schedulers that take no tasks from here: PBS, LSF and HTCondor.

Each task is a group of a run's members, and does what a pod of Kubernetes does: the first makes
the run, and merges what all of them write into its folder, which they share. Nothing here talks to
a cluster: a person hands in what is printed.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ensemble.machine.python_command import SAFE_PATH_LINES, build_python_environment
from ensemble.settings import Settings, declare_setting

NAME_FORM = (
    r"[a-zA-Z]([a-zA-Z0-9-]{0,38}[a-zA-Z0-9])?",
    "letters, digits and hyphens, a letter first, at most 40 characters",
)
QUEUE_FORM = (r"([A-Za-z0-9][A-Za-z0-9_.@-]{0,99})?", "a name of letters, digits and . _ @ -")
# Of `ensemble work-pod`: nothing that is tried again would mend the first two.
EXIT_REFUSED, EXIT_DIVERGED, EXIT_RESTART = 2, 3, 75
RETRY_SECONDS = 10


@dataclass(frozen=True)
class ArrayConfig(Settings):
    """What is asked of a scheduler for each task, checked when made.

    Raises:
      ConfigError: a value of the wrong type, form or range.
    """

    name: str = declare_setting("ensemble", "Name of the array in the scheduler's lists.", form=NAME_FORM)
    cpus: int = declare_setting(2, "Processor cores of each task.", low=1, high=1024)
    memory: int = declare_setting(4, "Memory of each task, in GiB.", low=1, high=16384)
    gpus: int = declare_setting(0, "GPUs of each task.", low=0, high=64)
    retries: int = declare_setting(20, "How often a failed task is begun anew.", low=0, high=1000)
    time: int = declare_setting(
        60, "PBS, LSF: minutes that a task may run; submitted again, it continues.", low=2, high=525_600
    )
    queue: str = declare_setting("", "PBS, LSF: the queue; its default if left out.", form=QUEUE_FORM)

    def __post_init__(self) -> None:
        self.check()


@dataclass(frozen=True)
class ArrayTask:
    """What the tasks of an array do.

    Attributes:
      run_id: the run, which they make.
      groups: how many groups it has, and so how many tasks there are.
      command: what each is started with, from the program on.
      environment: variables that each is given.
    """

    run_id: str
    groups: int
    command: Sequence[str]
    environment: Mapping[str, str]


def render_pbs_script(config: ArrayConfig, task: ArrayTask) -> str:
    """The script that `qsub` takes, of PBS Professional and OpenPBS."""
    gpus = f":ngpus={config.gpus}" if config.gpus else ""
    options = [
        f"-N {config.name}",
        *([f"-J 0-{task.groups - 1}"] if task.groups > 1 else []),  # none takes an array of one
        f"-l select=1:ncpus={config.cpus}:mem={config.memory}gb{gpus}",
        f"-l walltime={config.time // 60:02}:{config.time % 60:02}:00",
        "-r y",
        "-j oe",
        *([f"-q {config.queue}"] if config.queue else []),
    ]
    # "1234[5].server" of an array's task, "1234.server" of a job.
    places = ("${PBS_ARRAY_INDEX:-0}", "${PBS_JOBID%%[!0-9]*}", "${PBS_O_WORKDIR:-.}")
    return _render_script("PBS", "qsub FILE", [f"#PBS {line}" for line in options], places, task, config)


def render_lsf_script(config: ArrayConfig, task: ArrayTask) -> str:
    """The script that `bsub` takes on its standard input."""
    options = [
        f'-J "{config.name}[1-{task.groups}]"',
        f"-n {config.cpus}",
        f'-R "span[hosts=1] rusage[mem={config.memory}GB]"',
        f"-M {config.memory}GB",
        *([f'-gpu "num={config.gpus}"'] if config.gpus else []),
        f"-W {config.time}",
        f"-o {config.name}.%J.%I.out",
        "-r",
        f'-Q "{EXIT_RESTART}"',
        *([f"-q {config.queue}"] if config.queue else []),
    ]
    places = ("$((LSB_JOBINDEX - 1))", "$LSB_JOBID", "${LS_SUBCWD:-.}")
    return _render_script("LSF", "bsub <FILE", [f"#BSUB {line}" for line in options], places, task, config)


def render_htcondor_file(config: ArrayConfig, task: ArrayTask) -> str:
    """The submit description that `condor_submit` takes; its folders are on a shared disk."""
    variables = {
        **build_python_environment(task.environment),
        "JAX_NUM_CPU_DEVICES": str(config.cpus),
        "JOB_COMPLETION_INDEX": "$(Process)",
        "ENSEMBLE_SUBMISSION": "$(Cluster)",
    }
    given = " ".join(f"{name}={_quote_condor(value)}" for name, value in variables.items())
    program, *words = task.command
    done = " || ".join(f"ExitCode == {code}" for code in (0, EXIT_REFUSED, EXIT_DIVERGED))
    lines = [
        *_render_comments("HTCondor", "condor_submit FILE", task),
        f"batch_name = {config.name}",
        "universe = vanilla",
        f"executable = {_escape_condor(program)}",
        f'arguments = "{" ".join(map(_quote_condor, words))}"',
        f'environment = "{given}"',
        "transfer_executable = false",
        "should_transfer_files = NO",
        f"request_cpus = {config.cpus}",
        f"request_memory = {config.memory}GB",
        *([f"request_gpus = {config.gpus}"] if config.gpus else []),
        f"max_retries = {config.retries}",
        f"retry_until = {done}",
        f"output = {config.name}.$(Cluster).$(Process).out",
        f"error = {config.name}.$(Cluster).$(Process).out",
        f"log = {config.name}.$(Cluster).log",
        f"queue {task.groups}",
    ]
    return "\n".join(lines) + "\n"


RENDERERS: dict[str, Callable[[ArrayConfig, ArrayTask], str]] = {
    "pbs": render_pbs_script,
    "lsf": render_lsf_script,
    "htcondor": render_htcondor_file,
}


def _render_comments(title: str, submit: str, task: ArrayTask) -> list[str]:
    tasks = f"{task.groups} tasks" if task.groups > 1 else "one task"
    return [
        f"# Trains the run {task.run_id} as {tasks} of {title}:",
        f"#   {submit}",
        "# Submitted again after a stop or a failure, it continues from the last checkpoint.",
        "# The folders that are named below have to be on a disk that all nodes share.",
    ]


def _render_script(
    title: str,
    submit: str,
    directives: Sequence[str],
    places: tuple[str, str, str],
    task: ArrayTask,
    config: ArrayConfig,
) -> str:
    """A script of Bash: its directives, what tells the task which it is, and the command.

    Args:
      title: of the scheduler.
      submit: how the script is handed in.
      directives: for the scheduler.
      places: in the shell's words, the task's index from 0, the number of the array, and the
        folder that it was submitted in.
      task: what is done.
      config: what is asked for.
    """
    index, submission, folder = places
    variables = {**task.environment, "JAX_NUM_CPU_DEVICES": str(config.cpus)}
    lines = [
        "#!/bin/bash",
        *directives,
        *_render_comments(title, submit, task),
        f'cd "{folder}" || exit 1',
        *(f"export {name}={shlex.quote(value)}" for name, value in variables.items()),
        *SAFE_PATH_LINES,
        f'export JOB_COMPLETION_INDEX="{index}"',
        f'export ENSEMBLE_SUBMISSION="{submission}"',
        "# The scheduler tells a task to end: it writes a checkpoint first.",
        "told=",
        "trap 'told=1; kill -TERM $child 2>/dev/null' TERM USR2",
        f"for try in {{0..{config.retries}}}; do",
        f'  if [ -n "$told" ]; then exit {EXIT_RESTART}; fi',
        f"  {shlex.join(task.command)} &",
        "  child=$!",
        "  wait $child; status=$?",
        "  while kill -0 $child 2>/dev/null; do wait $child; status=$?; done",
        f"  case $status in 0|{EXIT_REFUSED}|{EXIT_DIVERGED}) exit $status ;; esac",
        f'  if [ -n "$told" ]; then exit {EXIT_RESTART}; fi',
        f"  sleep {RETRY_SECONDS}",
        "done",
        "exit $status",
    ]
    return "\n".join(lines) + "\n"


def _escape_condor(text: str) -> str:
    return text.replace("$", "$(DOLLAR)")


def _quote_condor(text: str) -> str:
    """A word within HTCondor's double quotes; its own macros of this module stay as they are."""
    if text in ("$(Process)", "$(Cluster)"):
        return text
    return "'" + _escape_condor(text).replace("'", "''").replace('"', '""') + "'"
