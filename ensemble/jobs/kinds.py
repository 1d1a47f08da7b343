"""Kinds of jobs: what differs between them; everything else about jobs is shared.

A kind is plain data and names its work as "module:function", so that the queue knows every kind
and nothing here imports the workloads. Its module holds the kind with its status, its store and
its settings; `_KIND_MODULES` lists these modules.
"""

import functools
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

_STARTING_STATES = ("queued", "starting")
ENDED_STATES = ("finished", "stopped", "failed")
# `kind` in the config.json of a run that was trained elsewhere: no worker ever ran it.
IMPORTED = "imported"
# Why a worker died if nothing more is known.
UNKNOWN_DEATH = "it was killed, or the machine restarted"
# For kinds whose whole work is one task on a cluster.
ONLY_TASK_ENTRY = "ensemble.jobs.remote.job_tasks:find_only_task"
# Modules of the other kinds, each with the name of its `JobKind`.
_KIND_MODULES = {
    "ensemble.shift.stress_job": "STRESS",
    "ensemble.regression.regression_job": "REGRESSION",
    "ensemble.jobs.dataset_fetch": "FETCH",
    "ensemble.jobs.uploads.dataset_upload": "UPLOAD",
    "ensemble.recognition.calibration_job": "CALIBRATION",
    "ensemble.acquisition.learning_job": "LEARNING",
}


@dataclass(frozen=True, kw_only=True)
class JobKind:
    """One kind of job.

    Attributes:
      name: its word in lists.
      title: the same for people, capitalized.
      noun: the job in a sentence: "the training".
      working_state: its state while it runs; before that it is queued, then starting.
      command: the hidden command of its worker.
      subfolder: the folder of its files within that of a run; "" for the folder itself.
      config_kind: `kind` in the config.json of its folder; None if it has none.
      progress_field, total_field: the fields of its status that count its progress; `total_field`
        is "" if `progress_field` is a share.
      takes_turns: whether it waits for a slot of the machine.
      one_task: whether one task on a cluster runs its command, and its worker here follows that
        task; a run's worker starts the tasks of its groups itself.
      nice: whether it runs at a lower priority than the page and its browser.
      resumable: states from which its work continues.
      remedy: what to do after it ended early: "resume it".
      kept_clause: what is kept then: "what was trained so far is kept".
      memory_advice: what to do if memory ran out.
      stop_delay: when it stops after Stop was pressed.
      tasks_entry: a function of the job, "module:function", that finds its tasks at a scheduler, to
        describe and stop them if the process that followed them is gone; "" for none.
      saved_progress_entry: a function of the job's folder, "module:function", that describes what
        is kept; without one `kept_clause` and `remedy` do.
      preload: modules that a warm worker imports in advance.
      work_entry: the work, a function of the job's id; "" if no worker here does it.
      compile_entry: what a warm worker compiles in advance, a function of settings.
      follow_up_entry: what a worker's process does after the job, a function of its id.
      ended_states: the states in which it has ended.
    """

    name: str
    title: str
    noun: str
    working_state: str
    command: str
    remedy: str
    kept_clause: str
    memory_advice: str
    stop_delay: str = "within a second or two"
    progress_field: str = "progress"
    total_field: str = ""
    subfolder: str = ""
    config_kind: str | None = None
    resumable: tuple[str, ...] = ("stopped", "failed")
    takes_turns: bool = True
    one_task: bool = True
    nice: bool = False
    preload: tuple[str, ...] = ()
    work_entry: str = ""
    compile_entry: str = ""
    follow_up_entry: str = ""
    saved_progress_entry: str = ""
    tasks_entry: str = ""
    ended_states: tuple[str, ...] = ENDED_STATES

    @property
    def states(self) -> tuple[str, ...]:
        """All states, in their order."""
        return (*self.active_states, *self.ended_states)

    @property
    def active_states(self) -> tuple[str, ...]:
        """The states in which a worker waits, starts or runs it."""
        return (*_STARTING_STATES, self.working_state)

    @property
    def kept_sentence(self) -> str:
        """What is kept of a job that ended early, and what to do."""
        return f"{_capitalize(self.kept_clause)}; {self.remedy}{' to continue' if self.resumable else ''}."

    @property
    def stop_help(self) -> str:
        """What Stop keeps."""
        return self.kept_sentence if self.resumable else f"{_capitalize(self.kept_clause)}."

    def describe_kept_work(self, folder: Path) -> str:
        """Describe what is kept of a job that ended early, and what to do."""
        if self.saved_progress_entry:
            return str(load_entry_point(self.saved_progress_entry)(folder))
        return self.kept_sentence

    def describe_death(self, folder: Path, reason: str = UNKNOWN_DEATH) -> str:
        """Report that a job's worker exited unexpectedly.

        Args:
          folder: the job's.
          reason: why, to follow a colon.
        """
        return f"The process of {self.noun} exited unexpectedly: {reason}. {self.describe_kept_work(folder)}"

    def compute_share(self, status: Any) -> float:
        """Compute the share that is done, in [0, 1], from a status of this kind or its JSON."""
        values = status if isinstance(status, dict) else vars(status)
        done = values.get(self.progress_field) or 0.0
        whole = (values.get(self.total_field) or 0.0) if self.total_field else 1.0
        return min(max(done / whole, 0.0), 1.0) if whole else 0.0


def load_entry_point(name: str) -> Any:
    """Import the module of "module:function" and return the function."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def _capitalize(clause: str) -> str:
    return clause[:1].upper() + clause[1:]


TRAINING = JobKind(
    name="training",
    title="Training",
    noun="the training",
    working_state="training",
    command="work",
    progress_field="step",
    total_field="steps",
    remedy="resume it",
    kept_clause="what was trained so far is kept",
    memory_advice="try fewer members or a smaller batch",
    stop_delay="after the current chunk of steps",
    one_task=False,
    nice=True,
    preload=("ensemble.runs.training.session", "filelock"),
    work_entry="ensemble.runs.training.worker:execute_run",
    compile_entry="ensemble.runs.training.worker:compile_likely_run",
    tasks_entry="ensemble.runs.groups.unfollowed_run:find_run_tasks",
    follow_up_entry="ensemble.recognition.calibration_job:calibrate_finished_run",
    saved_progress_entry="ensemble.runs.checkpoints.folders:describe_saved_progress",
    ended_states=("finished", "stopped", "diverged", "failed", "imported"),
)
GROUP = JobKind(
    name="group",
    title="Training a group",
    noun="the training of this group",
    working_state="training",
    command="work-group",
    progress_field="step",
    total_field="steps",
    remedy="resume the run",
    kept_clause="what was trained so far is kept",
    memory_advice="try more groups or a smaller batch",
    stop_delay="after the current chunk of steps",
    takes_turns=False,
    one_task=False,
    nice=True,
    work_entry="ensemble.runs.groups.worker:execute_group",
    saved_progress_entry="ensemble.runs.checkpoints.folders:describe_saved_progress",
    ended_states=("finished", "stopped", "diverged", "failed"),
)
SWEEP = JobKind(
    name="sweep",
    title="Searching for settings",
    noun="the sweep",
    working_state="searching",
    command="work-sweep",
    config_kind="sweep",
    progress_field="done",
    total_field="trials",
    remedy="resume it",
    kept_clause="every trial is kept",
    memory_advice="search fewer members or a smaller batch",
    stop_delay="after the current chunk of steps",
    one_task=False,
    nice=True,
    work_entry="ensemble.sweeps.worker:work_on_sweep",
    tasks_entry="ensemble.sweeps.worker_tasks:find_worker_tasks",
)


@functools.cache
def list_job_kinds() -> tuple[JobKind, ...]:
    """List all kinds."""
    others = (getattr(import_module(module), name) for module, name in _KIND_MODULES.items())
    return (TRAINING, GROUP, SWEEP, *others)


def list_nested_kinds() -> tuple[JobKind, ...]:
    """List the kinds whose jobs have a folder within that of a run."""
    return tuple(kind for kind in list_job_kinds() if kind.subfolder)
