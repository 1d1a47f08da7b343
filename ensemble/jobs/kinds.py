"""Kinds of jobs: what is peculiar to each, in one table; all else of a job is the same for all.

A kind is plain data, and names what does its work as "module:function": so the queue knows
every kind there is, and nothing down here imports the workloads.
"""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

STARTING = ("queued", "starting")
ENDED = ("finished", "stopped", "failed")
# `kind` in the config.json of a run that was trained elsewhere: no worker was ever at it.
IMPORTED = "imported"


@dataclass(frozen=True)
class Kind:
    """What is peculiar to one kind of job.

    Attributes:
      name: its word in lists.
      title: the same for people, to begin a line with.
      working: its state while it is at it; before that it is queued, then starting.
      command: the hidden word on the command line that does it.
      part: where its files lie in the folder of a run: "" for the folder itself.
      kept_as: `kind` in the config.json of such a run; None where there is none.
      step, steps: the fields of its status that say how far it is; `steps` "" where `step` is
        a share already.
      takes_turns: whether it waits for a slot of the machine.
      one_task: whether on a cluster one task does its command, and its worker here follows that;
        a run's worker sees to tasks of its groups itself.
      nice: whether the page and its browser go first, on a processor that all share.
      resumable: states from which its work goes on where it was.
      go_on: what to do once there is room on the disk again.
      doing, kept: what an unexpected error ended, and what is kept.
      dead: what to say where its worker ended without a word.
      kept_in: a function of the job's folder, as "module:function": a sentence on how far it is
        kept. Without one `kept` and `dead` say it, whatever lies there.
      too_large: what to do where memory ran out.
      stop_help, stopping_help: what Stop keeps, and when it comes to pass.
      preload: modules that a warm worker imports beforehand.
      work: what a worker does, a function of the job's id.
      compile: what a warm worker compiles beforehand, a function of settings.
      ended: the states in which its work is over.
    """

    name: str
    title: str
    working: str
    command: str
    part: str
    kept_as: str | None
    step: str
    steps: str
    resumable: tuple[str, ...]
    go_on: str
    doing: str
    kept: str
    dead: str
    too_large: str
    stop_help: str
    stopping_help: str
    takes_turns: bool = True
    one_task: bool = True
    nice: bool = False
    preload: tuple[str, ...] = ()
    work: str = ""
    compile: str = ""
    kept_in: str = ""
    ended: tuple[str, ...] = ENDED

    @property
    def states(self) -> tuple[str, ...]:
        """All that it can be in, in their order."""
        return (*self.active, *self.ended)

    @property
    def active(self) -> tuple[str, ...]:
        """The states in which a worker waits, starts or is at it."""
        return (*STARTING, self.working)

    def what_is_kept(self, folder: Path) -> str:
        """A sentence on what is kept of a job that broke off."""
        if self.kept_in:
            return str(entry(self.kept_in)(folder))
        return f"{self.kept[0].upper()}{self.kept[1:]}."

    def how_it_died(self, folder: Path) -> str:
        """What to say of a job whose worker ended without a word."""
        return f"{self.dead} {self.what_is_kept(folder)}" if self.kept_in else self.dead

    def share(self, status: Any) -> float:
        """How much is done, in [0, 1], as a status of this kind (or its JSON) says it."""
        values = status if isinstance(status, dict) else vars(status)
        done = values.get(self.step) or 0.0
        whole = (values.get(self.steps) or 0.0) if self.steps else 1.0
        return min(max(done / whole, 0.0), 1.0) if whole else 0.0


def entry(name: str) -> Any:
    """What "module:function" names; imports the module."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


TRAINING = Kind(
    name="training",
    title="Training",
    working="training",
    command="work",
    part="",
    kept_as=None,
    step="step",
    steps="steps",
    resumable=("stopped", "failed"),
    go_on="resume",
    doing="the training",
    kept="what was trained so far is kept",
    dead="The training process ended without a word: it was killed, or the machine restarted.",
    too_large="try fewer members or a smaller batch",
    stop_help="What is learnt so far is kept, and the run can be resumed.",
    stopping_help="After the current chunk of steps",
    one_task=False,
    nice=True,
    preload=("ensemble.runs.training.session", "filelock"),
    work="ensemble.runs.training.worker:work",
    compile="ensemble.runs.training.worker:compile_for",
    kept_in="ensemble.runs.checkpoints.folders:what_is_kept",
    ended=("finished", "stopped", "diverged", "failed", "imported"),
)
GROUP = Kind(
    name="group",
    title="Training a group",
    working="training",
    command="work-group",
    part="",
    kept_as=None,
    step="step",
    steps="steps",
    resumable=("stopped", "failed"),
    go_on="resume",
    doing="the training of this group",
    kept="what was trained so far is kept",
    dead="Its process ended without a word: it was killed, or its machine restarted.",
    too_large="try more groups or a smaller batch",
    stop_help="What is learnt so far is kept, and the run can be resumed.",
    stopping_help="After the current chunk of steps",
    takes_turns=False,
    one_task=False,
    nice=True,
    work="ensemble.runs.groups.worker:work",
    kept_in="ensemble.runs.checkpoints.folders:what_is_kept",
    ended=("finished", "stopped", "diverged", "failed"),
)
STRESS = Kind(
    name="stress",
    title="Measuring under shift",
    working="measuring",
    command="work-stress",
    part="stress",
    kept_as=None,
    step="progress",
    steps="",
    resumable=("stopped", "failed"),
    go_on="start it again",
    doing="the measuring",
    kept="what was measured so far is kept",
    dead="The process ended without a word: it was killed, or the machine restarted. What it had "
    "measured is kept; starting it again goes on from there.",
    too_large="limit it to fewer test images, or close other programs",
    stop_help="What is measured so far is kept.",
    stopping_help="Within a second or two",
    work="ensemble.shift.commands:work_stress",
)
REGRESSION = Kind(
    name="regression",
    title="Regression",
    working="solving",
    command="work-lbfgs",
    part="",
    kept_as="lbfgs",
    step="iteration",
    steps="iterations",
    resumable=(),
    go_on="launch it again",
    doing="the regression",
    kept="what was measured so far is kept",
    dead="The process ended without a word: it was killed, or the machine restarted. What it had "
    "measured is kept; launch it again to have it whole.",
    too_large="take fewer samples or features",
    stop_help="What is measured so far is kept.",
    stopping_help="After the current iteration",
    work="ensemble.regression.worker:work_solve",
)
RACE = Kind(
    name="race",
    title="Measuring this machine",
    working="racing",
    command="work-race",
    part="",
    kept_as=None,
    step="progress",
    steps="",
    resumable=(),
    go_on="start it again",
    doing="the measuring",
    kept="what earlier races found is kept",
    dead="The process ended without a word: it was killed, or the machine restarted. What earlier "
    "races found is kept; start it again.",
    too_large="race with fewer members",
    stop_help="What earlier races found is kept.",
    stopping_help="Within a second",
    work="ensemble.race.commands:work_queued",
)
FETCH = Kind(
    name="fetch",
    title="Fetching a dataset",
    working="running",
    command="work-fetch",
    part="",
    kept_as=None,
    step="fraction",
    steps="",
    resumable=("stopped", "failed"),
    go_on="fetch it again",
    doing="the fetching",
    kept="what has arrived is kept",
    dead="Fetching was cut off. Press the button to go on; what had arrived is kept.",
    too_large="close other programs, then fetch it again",
    stop_help="What has arrived is kept.",
    stopping_help="Within a second or two",
    takes_turns=False,
    work="ensemble.jobs.dataset_fetch:work",
    ended=("done", "stopped", "failed"),
)
UPLOAD = Kind(
    name="upload",
    title="Reading an upload",
    working="running",
    command="work-upload",
    part="",
    kept_as=None,
    step="fraction",
    steps="",
    resumable=(),
    go_on="upload it again",
    doing="the reading",
    kept="nothing of it was added to your datasets",
    dead="Reading the upload was cut off: its process was killed, or the machine restarted. Upload "
    "the file again; nothing was added.",
    too_large="choose a smaller size, or take fewer images",
    stop_help="Nothing of it is added.",
    stopping_help="Within a second or two",
    takes_turns=False,
    nice=True,
    work="ensemble.jobs.uploads.dataset_upload:work",
    ended=("done", "stopped", "failed"),
)
SWEEP = Kind(
    name="sweep",
    title="Searching for settings",
    working="searching",
    command="work-sweep",
    part="",
    kept_as="sweep",
    step="done",
    steps="trials",
    resumable=("stopped", "failed"),
    go_on="resume it",
    doing="the search",
    kept="every trial is kept",
    dead="The process of the sweep ended without a word: it was killed, or the machine restarted. "
    "Every trial is kept; resume it to go on.",
    too_large="search fewer members or a smaller batch",
    stop_help="Every trial is kept, and the sweep can be resumed.",
    stopping_help="After the current chunk of steps",
    one_task=False,
    nice=True,
    work="ensemble.sweeps.worker:work",
)

KINDS = (TRAINING, GROUP, STRESS, REGRESSION, RACE, FETCH, UPLOAD, SWEEP)
