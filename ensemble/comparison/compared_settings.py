"""A run's settings as they are compared: what each is, how it is said, which of them part runs."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ensemble import architectures
from ensemble.config import CLASSIFICATION, EnsembleConfig, RegressionConfig, member_values
from ensemble.datasets import registry
from ensemble.errors import ConfigError
from ensemble.optimizers import OPTIMIZERS
from ensemble.runs.start_weights import identify_start_weights
from ensemble.runs.store import Run
from ensemble.settings import list_setting_fields

Value = float | int | bool | str | tuple[float, ...]

_SETTING_FIELDS = {field.name: field for field in list_setting_fields(EnsembleConfig)}
# The place of a run's training: a member does not depend on it but for the last digits.
PLACEMENT_SETTINGS = ("devices", "groups")
# What a person asks for first, first.
_SETTINGS_ORDER = (
    "dataset",
    "network",
    "width",
    "optimizer",
    "learning_rate",
    "momentum",
    "weight_decay",
    "label_smoothing",
    "members",
    "epochs",
    "batch_size",
)
SETTING_NAMES = (*_SETTINGS_ORDER, *(name for name in _SETTING_FIELDS if name not in _SETTINGS_ORDER))
_REGRESSION_FIELDS = {field.name: field for field in list_setting_fields(RegressionConfig)}
_TABLE_NAMES = tuple(name for name in _REGRESSION_FIELDS if name not in _SETTING_FIELDS)  # that a regression alone has
_START_WEIGHTS = "start_weights"  # no field of the settings: which weights members started from
_SIGNIFICANT_DIGITS = 4  # significant ones of a setting in a title
MAX_LISTED_VALUES = 3  # values of a setting that are named one by one


def collect_run_settings(run: Run) -> dict[str, Value]:
    """The settings of a run by name; of one that was imported no more than is known.

    A setting that differs from member to member is a tuple of its values (M,), however `vary`
    was written. Weights that members were given to start from count as one, by their digest.
    """
    if run.settings is None:
        return {"members": run.config.members, "epochs": run.config.epochs}
    settings: dict[str, Value] = {
        name: getattr(run.settings, name)
        for name in (*SETTING_NAMES, *_TABLE_NAMES)
        if name in (_SETTING_FIELDS if run.task == CLASSIFICATION else _REGRESSION_FIELDS)
    }
    if digest := identify_start_weights(run.path):
        settings[_START_WEIGHTS] = f"given ({digest})"
    own = member_values.parse_member_values(run.settings.vary, run.settings.members)
    return (
        settings
        | {name: each for name, each in own.items() if len(set(each)) > 1}
        | {name: each[0] for name, each in own.items() if len(set(each)) == 1}
    )


def distinguishing_settings(run: Run) -> dict[str, Value]:
    """The settings by which two runs are no repetition of each other: all but seed and place.

    The number format of products parts them, as it changes the numbers; devices and groups do
    not. `vary` itself does not either: what it says stands in the settings that it names.
    """
    left_out = {"seed", "vary", *PLACEMENT_SETTINGS}
    return {name: value for name, value in collect_run_settings(run).items() if name not in left_out}


def check_setting_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names of settings, each once.

    Raises:
      ConfigError: one is no setting; the message says which there are.
    """
    unique_names = tuple(dict.fromkeys(names))
    if unknown := [name for name in unique_names if name not in (*_SETTING_FIELDS, *_TABLE_NAMES)]:
        raise ConfigError(f"There is no setting {unknown[0]!r:.40} to group by: choose of {', '.join(SETTING_NAMES)}.")
    return unique_names


def humanize_setting_name(name: str) -> str:
    """A setting's name in words: "batch_size" -> "batch size"."""
    return name.replace("_", " ") if name != "vary" else "differs by member"


def format_setting_value(name: str, value: Value | None, figures: int = _SIGNIFICANT_DIGITS) -> str:
    """A setting's value alone: "0.1", "AdamW", "0.01 to 1"; what is not known is a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        each = sorted(set(value))
        ends = each if len(each) <= MAX_LISTED_VALUES else (each[0], each[-1])
        return (", " if len(each) <= MAX_LISTED_VALUES else " to ").join(
            _format_without_exponent(end, figures) for end in ends
        )
    if isinstance(value, str):
        if name == "teacher":
            return value or "none"
        if name == "network":
            return architectures.format_short_network_title(value)
        if name == "optimizer":
            return OPTIMIZERS[value].title
        return registry.find_dataset_title(value) if name == "dataset" else value
    return "own" if name == "width" and not value else _format_without_exponent(value, figures)


def format_setting(name: str, value: Value | None, figures: int = _SIGNIFICANT_DIGITS) -> str:
    """A setting with its value: "rate 0.1", "4 members", "cosine schedule", "no flip"."""
    value_text = format_setting_value(name, value, figures)
    if name == "teacher":
        return f"taught by {value}" if value else "no teacher"
    if name == _START_WEIGHTS:
        return f"start weights {value or 'drawn'}"
    if value is None:
        return f"{humanize_setting_name(name)} unknown"
    if isinstance(value, bool):
        return humanize_setting_name(name) if value else f"no {humanize_setting_name(name)}"
    if name in ("members", "epochs"):
        return f"{value_text} {name if value != 1 else name[:-1]}"
    if name in ("network", "dataset", "optimizer", "precision"):
        return value_text
    if name == "schedule" or (name == "width" and not value):
        return f"{value_text} {name}"
    short = {"learning_rate": "rate", "batch_size": "batch"}
    return f"{short.get(name, humanize_setting_name(name))} {value_text}"


def _format_without_exponent(value: float, figures: int = _SIGNIFICANT_DIGITS) -> str:
    """A number without an exponent, to so many significant figures: "0.0001", "4,096"."""
    if isinstance(value, int):
        return f"{value:,}"
    return np.format_float_positional(float(f"{value:.{figures}g}"), trim="-")


def find_differing_settings(every: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The settings, in their order, that are not the same in all of these."""
    rows = list(every)
    return tuple(
        name
        for name in (*SETTING_NAMES, *_TABLE_NAMES, _START_WEIGHTS)
        if len({repr(row.get(name, None)) for row in rows}) > 1
    )
