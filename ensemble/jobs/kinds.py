"""Kinds of jobs: what is peculiar to each, in one table; all else of a job is the same for all.

A kind is plain data, and names what does its work as "module:function": so the queue knows
every kind there is, and nothing down here imports the workloads.
"""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

_STARTING_STATES = ("queued", "starting")
ENDED_STATES = ("finished", "stopped", "failed")
# `kind` in the config.json of a run that was trained elsewhere: no worker ever ran it.
IMPORTED = "imported"
# How a worker died, where nothing more is known.
UNKNOWN_DEATH = "it was killed, or the machine restarted"
# Of those that one task does.
_UNFOLLOWED_JOB = "ensemble.jobs.remote.unfollowed_job:read_unfollowed_job"
_STOP_UNFOLLOWED_JOB = "ensemble.jobs.remote.unfollowed_job:stop_unfollowed_job"


@dataclass(frozen=True)
class JobKind:
    """What is peculiar to one kind of job.

    Attributes:
      name: its word in lists.
      title: the same for people, to begin a line with.
      working_state: its state while it runs; before that it is queued, then starting.
      command: the hidden word on the command line that does it.
      subfolder: where its files lie in the folder of a run: "" for the folder itself.
      config_kind: `kind` in the config.json of such a run; None if there is none.
      progress_field, total_field: the fields of its status that say how far it is; `total_field` ""
        where `progress_field` is a share already.
      takes_turns: whether it waits for a slot of the machine.
      one_task: whether on a cluster one task does its command, and its worker here follows that;
        a run's worker sees to tasks of its groups itself.
      nice: whether the page and its browser go first, on a processor that all share.
      resumable: states from which its work continues where it stopped.
      resume_advice: what to do once there is room on the disk again.
      activity, kept_clause: what an unexpected error ended, and what is kept.
      death_clause: that its worker exited unexpectedly; how it died comes behind a colon.
      death_advice: what is kept then, and what to do.
      unfollowed_entry, stop_tasks_entry: how one stands by what its tasks at a scheduler write,
        and how they are stopped, where the process that followed them is there no more: functions
        of the job, as "module:function"; "" where it has none.
      saved_progress_entry: a function of the job's folder, as "module:function": a sentence on how
        far it is kept. Without one `kept_clause` and `death_advice` say it, whatever lies there.
      memory_advice: what to do where memory ran out.
      stop_help, stopping_help: what Stop keeps, and when it comes to pass.
      preload: modules that a warm worker imports beforehand.
      work_entry: what a worker does, a function of the job's id; "" where none works on it here.
      compile_entry: what a warm worker compiles beforehand, a function of settings.
      follow_up_entry: what a worker's process does once the job has ended, a function of its id.
      ended_states: the states in which its work is over.
    """

    name: str
    title: str
    working_state: str
    command: str
    subfolder: str
    config_kind: str | None
    progress_field: str
    total_field: str
    resumable: tuple[str, ...]
    resume_advice: str
    activity: str
    kept_clause: str
    death_clause: str
    memory_advice: str
    stop_help: str
    stopping_help: str
    death_advice: str = ""
    takes_turns: bool = True
    one_task: bool = True
    nice: bool = False
    preload: tuple[str, ...] = ()
    work_entry: str = ""
    compile_entry: str = ""
    follow_up_entry: str = ""
    saved_progress_entry: str = ""
    unfollowed_entry: str = ""
    stop_tasks_entry: str = ""
    ended_states: tuple[str, ...] = ENDED_STATES

    @property
    def states(self) -> tuple[str, ...]:
        """All that it can be in, in their order."""
        return (*self.active_states, *self.ended_states)

    @property
    def active_states(self) -> tuple[str, ...]:
        """The states in which a worker waits, starts or runs it."""
        return (*_STARTING_STATES, self.working_state)

    def describe_kept_work(self, folder: Path) -> str:
        """A sentence on what is kept of a job that broke off."""
        if self.saved_progress_entry:
            return str(load_entry_point(self.saved_progress_entry)(folder))
        return f"{self.kept_clause[0].upper()}{self.kept_clause[1:]}."

    def describe_death(self, folder: Path, reason: str = UNKNOWN_DEATH) -> str:
        """What to say of a job whose worker exited unexpectedly.

        Args:
          folder: the job's.
          reason: how it died, as it stands behind a colon.
        """
        kept = self.describe_kept_work(folder) if self.saved_progress_entry else self.death_advice
        return f"{self.death_clause}: {reason}. {kept}"

    def compute_share(self, status: Any) -> float:
        """How much is done, in [0, 1], as a status of this kind (or its JSON) says it."""
        values = status if isinstance(status, dict) else vars(status)
        done = values.get(self.progress_field) or 0.0
        whole = (values.get(self.total_field) or 0.0) if self.total_field else 1.0
        return min(max(done / whole, 0.0), 1.0) if whole else 0.0


def load_entry_point(name: str) -> Any:
    """What "module:function" names; imports the module."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


TRAINING = JobKind(
    name="training",
    title="Training",
    working_state="training",
    command="work",
    subfolder="",
    config_kind=None,
    progress_field="step",
    total_field="steps",
    resumable=("stopped", "failed"),
    resume_advice="resume",
    activity="the training",
    kept_clause="what was trained so far is kept",
    death_clause="The training process exited unexpectedly",
    memory_advice="try fewer members or a smaller batch",
    stop_help="What has been learnt so far is kept, and the run can be resumed.",
    stopping_help="After the current chunk of steps",
    one_task=False,
    nice=True,
    preload=("ensemble.runs.training.session", "filelock"),
    work_entry="ensemble.runs.training.worker:execute_run",
    compile_entry="ensemble.runs.training.worker:compile_likely_run",
    unfollowed_entry="ensemble.runs.groups.unfollowed_run:read_unfollowed_run",
    stop_tasks_entry="ensemble.runs.groups.unfollowed_run:stop_unfollowed_run",
    follow_up_entry="ensemble.recognition.calibration_job:calibrate_finished_run",
    saved_progress_entry="ensemble.runs.checkpoints.folders:describe_saved_progress",
    ended_states=("finished", "stopped", "diverged", "failed", "imported"),
)
GROUP = JobKind(
    name="group",
    title="Training a group",
    working_state="training",
    command="work-group",
    subfolder="",
    config_kind=None,
    progress_field="step",
    total_field="steps",
    resumable=("stopped", "failed"),
    resume_advice="resume",
    activity="the training of this group",
    kept_clause="what was trained so far is kept",
    death_clause="Its process exited unexpectedly",
    memory_advice="try more groups or a smaller batch",
    stop_help="What has been learnt so far is kept, and the run can be resumed.",
    stopping_help="After the current chunk of steps",
    takes_turns=False,
    one_task=False,
    nice=True,
    work_entry="ensemble.runs.groups.worker:execute_group",
    saved_progress_entry="ensemble.runs.checkpoints.folders:describe_saved_progress",
    ended_states=("finished", "stopped", "diverged", "failed"),
)
STRESS = JobKind(
    name="stress",
    title="Measuring under shift",
    working_state="measuring",
    command="work-stress",
    subfolder="stress",
    config_kind=None,
    progress_field="progress",
    total_field="",
    resumable=("stopped", "failed"),
    resume_advice="start it again",
    activity="the measuring",
    kept_clause="what was measured so far is kept",
    death_clause="The process exited unexpectedly",
    death_advice="What it had measured is kept; start it again to continue from there.",
    memory_advice="limit it to fewer test images, or close other programs",
    stop_help="What has been measured so far is kept.",
    stopping_help="Within a second or two",
    work_entry="ensemble.shift.commands:work_stress",
    unfollowed_entry=_UNFOLLOWED_JOB,
    stop_tasks_entry=_STOP_UNFOLLOWED_JOB,
)
REGRESSION = JobKind(
    name="regression",
    title="Regression",
    working_state="solving",
    command="work-lbfgs",
    subfolder="",
    config_kind="lbfgs",
    progress_field="iteration",
    total_field="iterations",
    resumable=(),
    resume_advice="launch it again",
    activity="the regression",
    kept_clause="what was measured so far is kept",
    death_clause="The process exited unexpectedly",
    death_advice="What it had measured is kept; launch it again to measure the rest.",
    memory_advice="take fewer samples or features",
    stop_help="What has been measured so far is kept.",
    stopping_help="After the current iteration",
    work_entry="ensemble.regression.worker:run_regression_worker",
    unfollowed_entry=_UNFOLLOWED_JOB,
    stop_tasks_entry=_STOP_UNFOLLOWED_JOB,
)
FETCH = JobKind(
    name="fetch",
    title="Fetching a dataset",
    working_state="running",
    command="work-fetch",
    subfolder="",
    config_kind=None,
    progress_field="fraction",
    total_field="",
    resumable=("stopped", "failed"),
    resume_advice="fetch it again",
    activity="the fetching",
    kept_clause="what has arrived is kept",
    death_clause="The download was interrupted",
    death_advice="Press the button to continue; what has arrived is kept.",
    memory_advice="close other programs, then fetch it again",
    stop_help="What has arrived is kept.",
    stopping_help="Within a second or two",
    takes_turns=False,
    work_entry="ensemble.jobs.dataset_fetch:execute_fetch",
    ended_states=("done", "stopped", "failed"),
)
UPLOAD = JobKind(
    name="upload",
    title="Reading an upload",
    working_state="running",
    command="work-upload",
    subfolder="",
    config_kind=None,
    progress_field="fraction",
    total_field="",
    resumable=(),
    resume_advice="upload it again",
    activity="the reading",
    kept_clause="nothing was added to your datasets",
    death_clause="Reading the upload was interrupted",
    death_advice="Upload the file again; nothing was added.",
    memory_advice="choose a smaller size, or take fewer images",
    stop_help="Nothing is added.",
    stopping_help="Within a second or two",
    takes_turns=False,
    nice=True,
    work_entry="ensemble.jobs.uploads.dataset_upload:execute_upload",
    ended_states=("done", "stopped", "failed"),
)
SWEEP = JobKind(
    name="sweep",
    title="Searching for settings",
    working_state="searching",
    command="work-sweep",
    subfolder="",
    config_kind="sweep",
    progress_field="done",
    total_field="trials",
    resumable=("stopped", "failed"),
    resume_advice="resume it",
    activity="the search",
    kept_clause="every trial is kept",
    death_clause="The process of the sweep exited unexpectedly",
    death_advice="Every trial is kept; resume the sweep to continue.",
    memory_advice="search fewer members or a smaller batch",
    stop_help="Every trial is kept, and the sweep can be resumed.",
    stopping_help="After the current chunk of steps",
    one_task=False,
    nice=True,
    work_entry="ensemble.sweeps.worker:work_on_sweep",
)
LEARNING = JobKind(
    name="learning",
    title="Comparing chosen labels with random ones",
    working_state="learning",
    command="work-learning",
    subfolder="",
    config_kind="learning",
    progress_field="done",
    total_field="trainings",
    resumable=("stopped", "failed"),
    resume_advice="resume it",
    activity="the experiment",
    kept_clause="every training that had ended is kept",
    death_clause="The process of the experiment exited unexpectedly",
    death_advice="Every training that had ended is kept; resume the experiment to continue.",
    memory_advice="try fewer members or candidates",
    stop_help="Every training that has ended is kept, and the experiment can be resumed.",
    stopping_help="Within a second or two",
    nice=True,
    work_entry="ensemble.acquisition.learning_worker:execute_learning",
    unfollowed_entry=_UNFOLLOWED_JOB,
    stop_tasks_entry=_STOP_UNFOLLOWED_JOB,
)
CALIBRATION = JobKind(
    name="calibration",
    title="Setting what is rejected",
    working_state="running",
    command="work-calibration",
    subfolder="",
    config_kind=None,
    progress_field="progress",
    total_field="",
    resumable=("stopped", "failed"),
    resume_advice="open Classify again",
    activity="the setting of what is rejected",
    kept_clause="what was computed so far is kept",
    death_clause="The process that sets what is rejected exited unexpectedly",
    death_advice="Open Classify again to start it anew.",
    memory_advice="close other programs, then open Classify again",
    stop_help="What was computed so far is kept.",
    stopping_help="Within a few seconds",
    takes_turns=False,
    nice=True,
    work_entry="ensemble.recognition.calibration_job:execute_calibration",
)

NUMERIC = JobKind(
    name="numeric",
    title="Training to predict numbers",
    working_state="training",
    command="work-numeric",
    subfolder="",
    config_kind="numeric",
    progress_field="step",
    total_field="steps",
    resumable=("stopped", "failed"),
    resume_advice="resume",
    activity="the training",
    kept_clause="what was trained so far is kept",
    death_clause="The training process exited unexpectedly",
    death_advice="What was trained up to its last checkpoint is kept; resume it to continue.",
    memory_advice="try fewer members or a smaller batch",
    stop_help="What has been learnt so far is kept, and the run can be resumed.",
    stopping_help="After the current chunk of steps",
    nice=True,
    work_entry="ensemble.numeric.training.numeric_worker:execute_numeric_run",
    ended_states=("finished", "stopped", "diverged", "failed", IMPORTED),
)

KINDS = (TRAINING, GROUP, STRESS, REGRESSION, FETCH, UPLOAD, SWEEP, CALIBRATION, NUMERIC, LEARNING)
