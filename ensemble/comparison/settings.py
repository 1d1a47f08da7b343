"""A run's settings as they are compared: what each is, how it is said, which of them part runs."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ensemble import architectures
from ensemble.config import EnsembleConfig, varying
from ensemble.datasets import registry
from ensemble.errors import ConfigError
from ensemble.optimizers import OPTIMIZERS
from ensemble.runs.store import Run
from ensemble.settings import setting_fields

Value = float | int | bool | str | tuple[float, ...]

FIELDS = {field.name: field for field in setting_fields(EnsembleConfig)}
# The place of a run's training: a member does not depend on it but for the last digits.
PLACE = ("devices", "groups")
# What a person asks for first, first.
ORDER = (
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
NAMES = (*ORDER, *(name for name in FIELDS if name not in ORDER))
FIGURES = 4  # significant ones of a setting in a title
FEW = 3  # values of a setting that are named one by one


def settings_of(run: Run) -> dict[str, Value]:
    """The settings of a run by name; of one that was imported no more than is known.

    A setting that differs from member to member is a tuple of its values (M,), however `vary`
    was written.
    """
    if run.trained is None:
        return {"members": run.config.members, "epochs": run.config.epochs}
    found: dict[str, Value] = {name: getattr(run.trained, name) for name in NAMES}
    own = varying.values(run.trained.vary, run.trained.members)
    return (
        found
        | {name: each for name, each in own.items() if len(set(each)) > 1}
        | {name: each[0] for name, each in own.items() if len(set(each)) == 1}
    )


def parting(run: Run) -> dict[str, Value]:
    """The settings by which two runs are no repetition of each other: all but seed and place.

    The number format of products parts them, as it changes the numbers; devices and groups do
    not. `vary` itself does not either: what it says stands in the settings that it names.
    """
    left_out = {"seed", "vary", *PLACE}
    return {name: value for name, value in settings_of(run).items() if name not in left_out}


def checked_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names of settings, each once.

    Raises:
      ConfigError: one is no setting; the message says which there are.
    """
    found = tuple(dict.fromkeys(names))
    if unknown := [name for name in found if name not in FIELDS]:
        raise ConfigError(
            f"There is no setting {unknown[0]!r:.40} to group by: choose of {', '.join(NAMES)}."
        )
    return found


def label(name: str) -> str:
    """A setting's name in words: "batch_size" -> "batch size"."""
    return name.replace("_", " ") if name != "vary" else "differs by member"


def shown(name: str, value: Value | None, figures: int = FIGURES) -> str:
    """A setting's value alone: "0.1", "AdamW", "0.01 to 1"; what is not known is a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        each = sorted(set(value))
        ends = each if len(each) <= FEW else (each[0], each[-1])
        return (", " if len(each) <= FEW else " to ").join(plain(one, figures) for one in ends)
    if isinstance(value, str):
        if name == "network":
            return architectures.short_title(value)
        if name == "optimizer":
            return OPTIMIZERS[value].title
        return registry.title_of(value) if name == "dataset" else value
    return "own" if name == "width" and not value else plain(value, figures)


def in_words(name: str, value: Value | None, figures: int = FIGURES) -> str:
    """A setting with its value: "rate 0.1", "4 members", "cosine schedule", "no flip"."""
    said = shown(name, value, figures)
    if value is None:
        return f"{label(name)} unknown"
    if isinstance(value, bool):
        return label(name) if value else f"no {label(name)}"
    if name in ("members", "epochs"):
        return f"{said} {name if value != 1 else name[:-1]}"
    if name in ("network", "dataset", "optimizer", "precision"):
        return said
    if name == "schedule" or (name == "width" and not value):
        return f"{said} {name}"
    short = {"learning_rate": "rate", "batch_size": "batch"}
    return f"{short.get(name, label(name))} {said}"


def plain(value: float, figures: int = FIGURES) -> str:
    """A number without an exponent, to so many significant figures: "0.0001", "4,096"."""
    if isinstance(value, int):
        return f"{value:,}"
    return np.format_float_positional(float(f"{value:.{figures}g}"), trim="-")


def differing(every: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The settings, in their order, that are not the same in all of these."""
    rows = list(every)
    return tuple(name for name in NAMES if len({repr(row.get(name, None)) for row in rows}) > 1)
