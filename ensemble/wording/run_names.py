"""What a run is called where a person reads of it: by its name, else by what it is."""

import re

from ensemble.config import EnsembleConfig, ImportedConfig
from ensemble.datasets import registry
from ensemble.errors import ConfigError
from ensemble.jobs.folders import read_config
from ensemble.jobs.job import Job
from ensemble.jobs.kinds import IMPORTED, REGRESSION, STRESS, SWEEP
from ensemble.regression.settings import LbfgsConfig
from ensemble.runs.store import Run
from ensemble.sweeps.settings import SweepConfig
from ensemble.wording import formats
from ensemble.wording.runs import networks, varied
from ensemble.wording.runs.regression import shape

# The end of an id says when its run was made, and which of that second's it is.
MADE = re.compile(r"-(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)(?:-(\d+))?$")
# The settings that a run is called by.
LEARNER = ("members", "network", "learning_rate", "dataset", "vary")
Known = EnsembleConfig | ImportedConfig | LbfgsConfig | SweepConfig
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def called(job: Job) -> str:
    """What a person calls a job's run: the name they gave it, else what it is.

    Two runs may be called the same: where one of several is chosen, see `told_apart`.
    """
    if job.name != job.id:
        return job.name
    config = settings_of(job)
    if isinstance(config, ImportedConfig):
        return f"{formats.count(config.members, 'member')} · imported"
    if isinstance(config, EnsembleConfig):
        return ensemble(config)
    if isinstance(config, SweepConfig):
        return sweep(config)
    return regression(config) if config else job.name


def came_from(run: Run) -> str:
    """Where a run came from that came in a report, as one does not train it here; else ""."""
    return f"imported from {run.origin} of a report" if run.origin else ""


def told_apart(job: Job) -> str:
    """What it is called, and when it was made or else its id: no two runs read the same.

    The browser sends a choice back by its words: nothing in them changes while a run goes on,
    at midnight, or when another run begins.
    """
    if job.name != job.id:
        return f"{called(job)} · {job.id}"
    how = "imported " if getattr(job, "origin", "") else ""
    return f"{called(job)} · {how}{made(job.id)}"


def made(run_id: str) -> str:
    """When a run was made, as its id has it, "22 Nov 14:05:12"; else the id itself."""
    found = MADE.search(run_id)
    if not found or not 1 <= int(found[1]) <= 12:
        return run_id
    more = f" ({found[6]})" if found[6] else ""
    return f"{int(found[2])} {MONTHS[int(found[1]) - 1]} {found[3]}:{found[4]}:{found[5]}{more}"


def settings_of(job: Job) -> Known | None:
    """The settings of a job's run: those it has been read with, else of its folder, else none."""
    known = getattr(job, "config", None)
    if isinstance(known, Known):
        return known
    try:
        kind, values = read_config(job.path.parent if job.kind is STRESS else job.path)
        if kind == IMPORTED:
            return ImportedConfig.from_dict(values)
        if kind == SWEEP.kept_as:
            return SweepConfig.from_disk(values)
        known = LbfgsConfig if kind == REGRESSION.kept_as else EnsembleConfig
        return known.from_disk(values)
    except (OSError, ValueError, ConfigError):
        return None


def ensemble(config: EnsembleConfig) -> str:
    """An ensemble by what it is: "4 members · rate 0.1 · digits".

    Of another network than the HOWTO's: "4 members · ResNet-20 · rate 0.1 · leaves".
    """
    return learner(*(getattr(config, name) for name in LEARNER))


def learner(members: int, network: str, rate: float, dataset: str, vary: str = "") -> str:
    """As `ensemble`, of these settings, though others may not go with them.

    Where rates differ from member to member: "8 members · rate 0.01 to 1 · digits".
    """
    # A rate that a sweep drew has ten digits, of which a name needs four.
    rates = varied.differing(vary, members).get("learning_rate", (float(f"{rate:.4g}"),))
    said = [formats.count(members, "member"), *networks.in_a_name(network)]
    return " · ".join([*said, f"rate {varied.spread(rates)}", learnt(dataset)])


def regression(config: LbfgsConfig) -> str:
    """A regression by what it is: "50,000 × 784 · 100 iterations · synthetic"."""
    steps = formats.count(config.iterations, "iteration")
    return f"{shape(config)} · {steps} · {learnt(config.dataset)}"


def sweep(config: SweepConfig) -> str:
    """A sweep by what it is: "12 trials of learning rate, momentum · digits"."""
    said = ", ".join(config.axes).replace("_", " ")
    return f"{formats.count(config.wanted, 'trial')} of {said} · {learnt(config.base.dataset)}"


def learnt(dataset: str) -> str:
    """A dataset within a line: "digits", but "MNIST", which is a name.

    One that is not there, as one's own that has been removed, goes by the name that it had.
    """
    title = registry.title_of(dataset)
    if title == dataset:
        return title
    return title.lower() if title.isalpha() and title == title.capitalize() else title
