"""What a sweep is: what is searched, by which sampler, for what, and all else that trials share."""

import functools
import os
import re
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple, Self

from ensemble.config import CLASSIFICATION, REGRESSION, TASKS, AnyTrainingConfig, EnsembleConfig, RegressionConfig
from ensemble.errors import ConfigError
from ensemble.settings import Settings, StoredChoice, declare_setting, list_setting_fields
from ensemble.storage.folders import expand_home_path
from ensemble.sweeps.search_space import SPACE_FORM, Axis, Value, ValueList, build_grid, parse_search_space

_SAMPLERS = ("tpe", "random", "grid")
_PRUNERS = ("none", "median", "hyperband")
STORAGES = ("sqlite", "journal", "database")
STORAGE_VARIABLE = "ENSEMBLE_STORAGE"
MAX_LOCAL_WORKERS = 64  # of a sweep on this machine; on a cluster each is a task
DEFAULT_VALIDATION = 0.1  # unless said otherwise: what is chosen is chosen on it


class Objective(NamedTuple):
    """What trials are judged by: its title, whether less of it is better, and the tasks that have it."""

    title: str
    minimize: bool
    tasks: tuple[str, ...] = TASKS


OBJECTIVES = {
    "nll": Objective("validation NLL of the ensemble", minimize=True),
    "accuracy": Objective("validation accuracy of the ensemble", minimize=False, tasks=(CLASSIFICATION,)),
    "ece": Objective("validation ECE of the ensemble", minimize=True, tasks=(CLASSIFICATION,)),
    "rmse": Objective("validation RMSE of the ensemble", minimize=True, tasks=(REGRESSION,)),
    "crps": Objective("validation CRPS of the ensemble", minimize=True, tasks=(REGRESSION,)),
    "seconds": Objective("seconds of training", minimize=True),
}
_STUDY_PATTERN = re.compile(r"[\w.-]{0,200}", re.ASCII)
_OBJECTIVE_PATTERN = "(" + "|".join(OBJECTIVES) + ")"


@dataclass(frozen=True)
class SweepConfig(Settings):
    """Settings of one sweep, checked when made.

    Attributes:
      base: the settings that all trials share.
      study: its name where the trials are written down; "" is the sweep's id.

    Raises:
      ConfigError: a value of the wrong type or out of its range, or settings that do not fit
        together; the message says what to choose.
    """

    space: str = declare_setting(
        "learning_rate=0.01..0.5:log",
        "Settings to search, and their values: learning_rate=0.01..0.5:log is a range, momentum=0.8,0.9 a list.",
        form=SPACE_FORM,
    )
    trials: int = declare_setting(12, "Number of trials; a grid has one for every combination.", low=1, high=10_000)
    sampler: str = declare_setting(
        "tpe", "How the next trial is chosen: tpe learns from earlier trials.", choices=_SAMPLERS
    )
    objectives: str = declare_setting(
        "nll",
        "Objectives that trials are judged by: " + ", ".join(OBJECTIVES) + "; separate several with commas.",
        form=(f"{_OBJECTIVE_PATTERN}(,{_OBJECTIVE_PATTERN})*", f"one or more of {', '.join(OBJECTIVES)}, with commas"),
    )
    pruner: str = declare_setting("none", "How unpromising trials are ended early, after an epoch.", choices=_PRUNERS)
    workers: int = declare_setting(1, "Number of trials trained at once, each in a process.", low=1, high=1024)
    repeats: int = declare_setting(
        1,
        "Times each trial is trained, with seeds that follow each other; trials are judged by the "
        "mean, a pruner judges the first training alone.",
        low=1,
        high=10,
    )
    sampler_seed: int = declare_setting(0, "Seed of the sampler.", low=0, high=2**31 - 1)
    storage: str = declare_setting(
        "sqlite",
        "Where the trials are stored: a SQLite file or a journal in the sweep's folder, or "
        f"the database that {STORAGE_VARIABLE} names.",
        choices=STORAGES,
    )
    base: AnyTrainingConfig = field(default_factory=lambda: EnsembleConfig(validation=DEFAULT_VALIDATION))
    study: str = ""

    def __post_init__(self) -> None:
        self.check()
        if not (isinstance(self.study, str) and _STUDY_PATTERN.fullmatch(self.study)):
            raise ConfigError(f"study is {self.study!r:.60}: its name has letters, digits, dots and dashes.")
        self._check_space()
        goals = self.objective_names
        if len(set(goals)) < len(goals):
            raise ConfigError(f"objectives is {self.objectives}: name each once.")
        if wrong := [goal for goal in goals if self.base.task not in OBJECTIVES[goal].tasks]:
            able = ", ".join(list_objectives(self.base.task))
            raise ConfigError(f"{wrong[0]} is not an objective of a {self.base.task}: choose from {able}.")
        if self.pruner != "none" and (len(goals) > 1 or goals == ("seconds",)):
            raise ConfigError(
                f"pruner is {self.pruner}, which judges epochs by one objective other than seconds: "
                "choose one objective, or the pruner none."
            )
        if not self.base.validation and set(goals) != {"seconds"}:
            raise ConfigError(
                "validation is 0, so there are no held-out examples to choose settings by: set it to a "
                f"share such as {DEFAULT_VALIDATION}."
            )

    @property
    def objective_names(self) -> tuple[str, ...]:
        """The objectives by name, in the order of their values."""
        return tuple(self.objectives.split(","))

    @property
    def search_axes(self) -> dict[str, Axis]:
        """What is searched, by the setting's name."""
        form: Any = type(self.base)  # A class can be a key, whatever its objects can.
        return _parse_cached_axes(self.space, form)

    @property
    def largest_batch_size(self) -> int:
        """The largest batch that a trial may have, in images."""
        axis = self.search_axes.get("batch_size")
        if axis is None:
            return self.base.batch_size
        return int(getattr(axis, "high", 0) or max(getattr(axis, "values", (0,))))

    @property
    def trial_count(self) -> int:
        """How many trials there are to be."""
        return len(build_grid(self.search_axes)) if self.sampler == "grid" else self.trials

    def build_trial_config(self, params: dict[str, Value], repeat: int = 0) -> AnyTrainingConfig:
        """The settings of the trial with these values.

        Args:
          params: a value of each setting that is searched.
          repeat: which of its trainings, from 0: each has the seed after that of the one before;
            after the highest comes 0.

        Raises:
          ConfigError: they do not fit together.
        """
        changes: dict[str, Any] = dict(params)
        if repeat:
            seeds = EnsembleConfig.__dataclass_fields__["seed"].metadata["high"] + 1
            changes["seed"] = (self.base.seed + repeat) % seeds
        return replace(self.base, **changes)

    def as_dict(self) -> dict[str, Any]:
        """The settings by name, ready for JSON; those that trials share under `base`."""
        values = asdict(self)
        if self.base.task == REGRESSION:
            values["base"]["task"] = REGRESSION
        return values

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """As `Settings.from_dict`."""
        return cls._from_values(values, lambda form, base: form.from_dict(base))

    @classmethod
    def from_disk(cls, values: dict[str, Any]) -> Self:
        """As `Settings.from_disk`."""
        return cls._from_values(values, lambda form, base: form.from_disk(base))

    @classmethod
    def _from_values(cls, values: dict[str, Any], read: Any) -> Self:
        names = {setting_field.name for setting_field in list_setting_fields(cls)} | {"base", "study"}
        base = values.get("base", {})
        if unknown := sorted(set(values) - names) or not isinstance(base, dict):
            raise ConfigError(f"A sweep has no such settings: {unknown!r:.200}.")
        shared = dict(base)
        form = RegressionConfig if shared.pop("task", CLASSIFICATION) == REGRESSION else EnsembleConfig
        return cls(**{**values, "base": read(form, shared)})

    def _check_space(self) -> None:
        axes = self.search_axes
        if self.sampler == "grid":
            build_grid(axes)
        if self.repeats > 1 and "seed" in axes:
            raise ConfigError(
                f"seed is in space, and repeats is {self.repeats}, which chooses the seeds: leave "
                "seed out of space, or set repeats to 1."
            )
        for name in axes:
            if f"{name}=" in self.base.vary:
                raise ConfigError(
                    f"{name} is in both space and vary: a setting cannot differ both between "
                    "trials and between members of a trial. Leave one of them out."
                )
        if not isinstance(self.base.dataset, StoredChoice):
            self.build_trial_config({name: _pick_axis_value(axis) for name, axis in axes.items()})


def list_objectives(task: str) -> list[str]:
    """The objectives that a task has, by name."""
    return [name for name, objective in OBJECTIVES.items() if task in objective.tasks]


def read_storage_kind() -> str:
    """The word for where a new sweep writes its trials down, as the environment says."""
    stated = os.environ.get(STORAGE_VARIABLE, "")
    if stated in ("", "sqlite", "journal"):
        return stated or "sqlite"
    if "://" not in stated:
        raise ConfigError(
            f"{STORAGE_VARIABLE} is to be sqlite, journal, or the address of a database such as "
            "postgresql+psycopg://user@host/name."
        )
    return "database"


def read_storage_address() -> str:
    """The address of the database for trials, "" if none is set; `~` in a file's is the home."""
    stated = os.environ.get(STORAGE_VARIABLE, "")
    scheme, found, path = stated.partition(":///")
    return f"{scheme}:///{expand_home_path(path)}" if found and path[:1] == "~" else stated


@functools.lru_cache(maxsize=256)
def _parse_cached_axes(text: str, form: Any) -> dict[str, Axis]:
    return parse_search_space(text, form)


def _pick_axis_value(axis: Axis) -> Value:
    if isinstance(axis, ValueList):
        return axis.values[0]
    return int(axis.low) if axis.whole else axis.low
