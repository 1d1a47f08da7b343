"""What a run is called where a person reads of it: by its name, else by what it is."""

import re
import sys

from ensemble.acquisition.learning_job import LEARNING, LearningConfig
from ensemble.config import REGRESSION as REGRESSION_TASK
from ensemble.config import EnsembleConfig, ImportedConfig, RegressionConfig
from ensemble.config.regression_config import NUMERIC_NETWORK
from ensemble.datasets import registry
from ensemble.errors import ConfigError
from ensemble.jobs.folders import read_stored_config
from ensemble.jobs.job import Job
from ensemble.jobs.kinds import IMPORTED, SWEEP
from ensemble.regression.regression_job import REGRESSION, LbfgsConfig
from ensemble.runs.store import Run, read_regression_run
from ensemble.sweeps.settings import SweepConfig
from ensemble.wording import formats
from ensemble.wording.runs import member_settings, networks
from ensemble.wording.runs.regression import format_problem_size

# The end of an id says when its run was made, and which of that second's it is.
_RUN_ID_TIME = re.compile(r"-(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)(?:-(\d+))?$")
# The settings that a run is called by.
_LEARNER_SETTINGS = ("members", "network", "learning_rate", "dataset", "vary")
_RunSettings = EnsembleConfig | RegressionConfig | ImportedConfig | LbfgsConfig | SweepConfig | LearningConfig
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def format_run_name(job: Job) -> str:
    """What a person calls a job's run: the name they gave it, else what it is.

    Two runs may be called the same: where one of several is chosen, see `format_unique_run_name`.
    """
    if job.name != job.id:
        return job.name
    config = read_run_settings(job)
    if numeric_run := _find_numeric_run(job, config):
        return _format_numeric_task(numeric_run)
    if isinstance(config, ImportedConfig):
        return f"{formats.format_count(config.members, 'member')} · imported"
    if isinstance(config, EnsembleConfig):
        return format_ensemble_settings(config)
    if isinstance(config, SweepConfig):
        return _format_sweep_settings(config)
    if isinstance(config, LearningConfig):
        return _format_learning_settings(config)
    return format_regression_settings(config) if isinstance(config, LbfgsConfig) else job.name


def _find_numeric_run(job: Job, config: _RunSettings | None) -> Run | None:
    """The run of a job that predicts numbers; None of another, or of one that cannot be read."""
    if isinstance(job, Run):
        return job if job.task == REGRESSION_TASK else None
    return read_regression_run(job.id) if isinstance(config, RegressionConfig) else None


def _format_numeric_task(run: Run) -> str:
    """Name a regression: "5 members · rate 0.01 · height · seed 2", "5 members · height · imported"."""
    target, settings = run.target_name or "numbers", run.settings
    if settings is None:
        return f"{formats.format_count(run.config.members, 'member')} · {target} · imported"
    network = [] if settings.network == NUMERIC_NETWORK else networks.list_network_name_parts(settings.network)
    name = _format_member_settings(settings.members, network, settings.learning_rate, settings.vary)
    return " · ".join([name, target, *([f"seed {settings.seed}"] if settings.seed else [])])


def describe_run_origin(run: Run) -> str:
    """Where a run came from that came in a report, as one does not train it here; else ""."""
    rounded = f", its weights rounded to {run.weights}" if run.weights else ""
    return f"imported from {run.origin} of a report{rounded}" if run.origin else ""


def format_run_data(run: Run) -> str:
    """What a run learns from or predicts: "MNIST", "price in EUR"."""
    if run.entry:
        return run.entry.title
    return " in ".join(filter(None, (run.target_name or "numbers", run.unit)))


def format_unique_run_name(job: Job) -> str:
    """What it is called, and when it was made or else its id: no two runs read the same.

    The browser sends a choice back by its words: nothing in them changes while a run goes on,
    at midnight, or when another run begins. One string for all that ask: a server holds the names
    of thousands of runs once for each tab that offers them.
    """
    if job.name != job.id:
        return sys.intern(f"{format_run_name(job)} · {job.id}")
    how = "imported " if getattr(job, "origin", "") else ""
    return sys.intern(f"{format_run_name(job)} · {how}{format_creation_time(job.id)}")


def format_creation_time(run_id: str) -> str:
    """When a run was made, as its id has it, "22 Nov 14:05:12"; else the id itself."""
    match = _RUN_ID_TIME.search(run_id)
    if not match or not 1 <= int(match[1]) <= 12:
        return run_id
    more = f" ({match[6]})" if match[6] else ""
    return f"{int(match[2])} {MONTHS[int(match[1]) - 1]} {match[3]}:{match[4]}:{match[5]}{more}"


def read_run_settings(job: Job) -> _RunSettings | None:
    """The settings of a job's run: those it has been read with, else of its folder, else none."""
    settings = getattr(job, "config", None)
    if isinstance(settings, _RunSettings):
        return settings
    try:
        stored = read_stored_config(job.path.parent if job.kind.subfolder else job.path)
        kind, values = stored.kind, stored.settings
        if kind == IMPORTED:
            return ImportedConfig.from_dict(values)
        if stored.task == REGRESSION_TASK:
            return RegressionConfig.from_disk(values)
        if kind == SWEEP.config_kind:
            return SweepConfig.from_disk(values)
        if kind == LEARNING.config_kind:
            return LearningConfig.from_disk(values)
        form = LbfgsConfig if kind == REGRESSION.config_kind else EnsembleConfig
        return form.from_disk(values)
    except (OSError, ValueError, ConfigError):
        return None


def format_ensemble_settings(config: EnsembleConfig) -> str:
    """An ensemble by what it is: "4 members · rate 0.1 · digits".

    Of another network than the HOWTO's: "4 members · ResNet-20 · rate 0.1 · leaves"; with another
    seed than 0: "4 members · rate 0.1 · digits · seed 2".
    """
    name = format_learner_settings(*(getattr(config, name) for name in _LEARNER_SETTINGS))
    return f"{name} · seed {config.seed}" if config.seed else name


def format_learner_settings(members: int, network: str, rate: float, dataset: str, vary: str = "") -> str:
    """As `format_ensemble_settings`, of these settings, though others may not go with them.

    Where rates differ from member to member: "8 members · rate 0.01 to 1 · digits".
    """
    name = _format_member_settings(members, networks.list_network_name_parts(network), rate, vary)
    return f"{name} · {format_dataset_name(dataset)}"


def _format_member_settings(members: int, network: list[str], rate: float, vary: str) -> str:
    # A rate that a sweep drew has ten digits, of which a name needs four.
    rates = member_settings.parse_varied_settings(vary, members).get("learning_rate", (float(f"{rate:.4g}"),))
    return " · ".join(
        [formats.format_count(members, "member"), *network, f"rate {member_settings.format_value_range(rates)}"]
    )


def format_regression_settings(config: LbfgsConfig) -> str:
    """A regression by what it is: "50,000 × 784 · 100 iterations · synthetic"."""
    steps = formats.format_count(config.iterations, "iteration")
    return f"{format_problem_size(config)} · {steps} · {format_dataset_name(config.dataset)}"


def _format_sweep_settings(config: SweepConfig) -> str:
    """A sweep by what it is: "12 trials of learning rate, momentum · digits"."""
    text = ", ".join(config.search_axes).replace("_", " ")
    return f"{formats.format_count(config.trial_count, 'trial')} of {text} · {format_dataset_name(config.base.dataset)}"


def _format_learning_settings(config: LearningConfig) -> str:
    """An experiment with labels by what it is: "40 to 140 labels by diversity · digits"."""
    counts = config.label_counts
    return f"{counts[0]:,} to {counts[-1]:,} labels by {config.by} · {format_dataset_name(config.base.dataset)}"


def format_dataset_name(dataset: str) -> str:
    """A dataset within a line: "digits", but "MNIST", which is a name.

    One that is not there, as one's own that has been removed, goes by the name that it had.
    """
    title = registry.find_dataset_title(dataset)
    if title == dataset:
        return title
    return title.lower() if title.isalpha() and title == title.capitalize() else title
