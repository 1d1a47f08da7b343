"""What a run is: every setting with its default, its range and its one line of help.

The command line's options and the page's sliders are both derived from the fields of
`EnsembleConfig`, so limits and defaults stand here and nowhere else.
"""

import dataclasses
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ensemble.errors import ConfigError

DATASETS = ("digits", "mnist", "fashion_mnist", "kmnist")
SCHEDULES = ("constant", "cosine")
PRECISIONS = ("float32", "bfloat16")
PROBLEMS = ("synthetic", "digits", "mnist")
LINESEARCHES = ("zoom", "backtracking")


def setting(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] | None = None,
) -> Any:
    """A dataclass field that knows its range: `low` and `high` are both allowed values."""
    return dataclasses.field(
        default=default, metadata={"help": help, "low": low, "high": high, "choices": choices}
    )


@dataclass(frozen=True)
class Settings:
    """What settings have in common: fields that know their range, and a form for JSON."""

    def check(self) -> None:
        """Bring every field to its type; ConfigError where one is out of its range."""
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, checked(field, getattr(self, field.name)))

    def as_dict(self) -> dict[str, Any]:
        """The settings by name, ready for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Settings from `as_dict`'s form; a name that is not a setting is a ConfigError."""
        names = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(set(values) - names):
            raise ConfigError(
                f"No such setting: {', '.join(unknown)}. There are: {', '.join(sorted(names))}."
            )
        return cls(**values)


@dataclass(frozen=True)
class EnsembleConfig(Settings):
    """Settings of one ensemble run, checked when made.

    Raises:
      ConfigError: a value of the wrong type or out of its range, named with that range.
    """

    dataset: str = setting("digits", "Which images to learn.", choices=DATASETS)
    members: int = setting(4, "How many networks to train.", low=1, high=64)
    learning_rate: float = setting(0.1, "Step size of SGD.", low=1e-5, high=10.0)
    momentum: float = setting(
        0.9, "Share of the last step that SGD keeps in the next.", low=0.0, high=0.999
    )
    epochs: int = setting(10, "Passes over the training images.", low=1, high=1000)
    batch_size: int = setting(128, "Images in one step.", low=1, high=4096)
    seed: int = setting(
        0, "Starting point of every random draw: same seed, same numbers.", low=0, high=2**31 - 1
    )
    devices: int = setting(0, "Devices to spread the members over; 0 takes all.", low=0, high=1024)
    precision: str = setting(
        "float32",
        "Numbers in products: float32, or bfloat16 (half the bits; parameters stay float32).",
        choices=PRECISIONS,
    )
    schedule: str = setting(
        "constant", "Learning rate: constant, or falling along a cosine.", choices=SCHEDULES
    )
    warmup_epochs: float = setting(
        0.0, "Epochs over which the learning rate first rises from zero.", low=0.0, high=1000.0
    )
    shuffle_per_member: bool = setting(
        False, "Each member sees the images in its own order (the HOWTO: all in one order)."
    )
    bootstrap: bool = setting(
        False, "Bagging: each member learns from its own draw, with replacement, of the images."
    )
    shift_pixels: int = setting(
        0, "Augmentation: shift each image by up to this many pixels.", low=0, high=6
    )
    rotation_degrees: float = setting(
        0.0, "Augmentation: rotate each image by up to this many degrees.", low=0.0, high=45.0
    )

    def __post_init__(self) -> None:
        self.check()
        if self.warmup_epochs > self.epochs:
            raise ConfigError(
                f"warmup_epochs is {self.warmup_epochs:g}, more than the run's {self.epochs} "
                "epochs: choose a shorter warm-up or more epochs."
            )


@dataclass(frozen=True)
class LbfgsConfig(Settings):
    """Settings of one logistic regression by L-BFGS, checked when made.

    Raises:
      ConfigError: a value of the wrong type or out of its range, named with that range.
    """

    dataset: str = setting(
        "synthetic", "What to classify: drawn samples, or a dataset's pixels.", choices=PROBLEMS
    )
    samples: int = setting(50_000, "Samples to draw.", low=100, high=1_000_000)
    features: int = setting(784, "Numbers in a sample.", low=8, high=10_000)
    classes: int = setting(10, "Classes to draw.", low=2, high=100)
    iterations: int = setting(100, "Iterations of L-BFGS.", low=1, high=10_000)
    linesearch: str = setting(
        "zoom", "How a step's length is found: zoom (strong Wolfe) or backtracking (Armijo).",
        choices=LINESEARCHES,
    )  # fmt: skip
    stepsize: float = setting(0.0, "A fixed step size; 0 searches.", low=0.0, high=100.0)
    l2: float = setting(0.0, "Adds l2 / 2 · |W|² to the objective.", low=0.0, high=1000.0)
    history: int = setting(10, "Steps that L-BFGS remembers.", low=1, high=100)
    seed: int = setting(0, "Of the drawn samples.", low=0, high=2**31 - 1)
    devices: int = setting(0, "Devices to spread the samples over; 0 takes all.", low=0, high=1024)
    sweep: bool = setting(True, "Measure the speed-up on 1, 2, 4 and 8 devices, too.")

    def __post_init__(self) -> None:
        self.check()


def checked(field: "dataclasses.Field[Any]", value: Any) -> Any:
    """`value` as the type of `field`, or a ConfigError that names the allowed range."""
    kind: Any = type(field.default)
    allowed = allowed_range(field)
    if field.metadata["choices"]:
        if value not in field.metadata["choices"]:
            raise ConfigError(f"{field.name} is {value!r}: it has to be {allowed}.")
        return value
    if kind is bool:
        if not isinstance(value, bool):
            raise ConfigError(f"{field.name} is {value!r}: it has to be {allowed}.")
        return value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or (kind is int and value != int(value)):
        raise ConfigError(f"{field.name} is {value!r}: it has to be {allowed}.")
    if not field.metadata["low"] <= value <= field.metadata["high"]:
        raise ConfigError(f"{field.name} is {value:g}: it has to be {allowed}.")
    return kind(value)


def allowed_range(field: "dataclasses.Field[Any]") -> str:
    """The allowed values in words: "a whole number from 1 to 64"."""
    if field.metadata["choices"]:
        return "one of " + ", ".join(field.metadata["choices"])
    if isinstance(field.default, bool):
        return "true or false"
    noun = "a whole number" if isinstance(field.default, int) else "a number"
    low, high = field.metadata["low"], field.metadata["high"]
    return f"{noun} from {low:,} to {high:,}"


def runs_folder() -> Path:
    """Where runs live: `ENSEMBLE_RUNS`, else `runs/` in the working folder."""
    return Path(os.environ.get("ENSEMBLE_RUNS") or "runs").absolute()


def data_folder() -> Path:
    """Where datasets live: `ENSEMBLE_DATA`, else `ensemble/` in the user's cache folder."""
    if chosen := os.environ.get("ENSEMBLE_DATA"):
        return Path(chosen).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache).absolute() / "ensemble"
