"""Widgets for the settings of a run, each made from its field of `EnsembleConfig`."""

import dataclasses
import functools
import math
from typing import Any

from ensemble import architectures
from ensemble.config import EnsembleConfig, ImportedConfig
from ensemble.ui.shared import widget
from ensemble.ui.shared.field_control import draw_field_control
from ensemble.wording import formats
from ensemble.wording.runs import varied

FIELDS = {field.name: field for field in dataclasses.fields(EnsembleConfig)}
# What a person turns first; all five stand in view beside each other on Train.
FIRST = ("members", "learning_rate", "momentum", "epochs", "batch_size")
MAIN = ("dataset", "network", *FIRST, "seed")
# Each of these has its own place on the page.
APART = ("width", "precision", "vary")
MORE = tuple(name for name in FIELDS if name not in (*MAIN, *APART))
# Named in a summary where they are not at their default; what differs by member is said in place.
UNUSUAL = ("width", "precision", *MORE)

# Where a slider over the whole range would be of no use: the values that are worth a step.
# A run may have any value in its range; one that is not here is added to the slider.
SLIDER = {
    "members": (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48, 64),
    "epochs": (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000),
    "batch_size": (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096),
    "momentum": (
        0.0,
        0.3,
        0.5,
        0.6,
        0.7,
        0.8,
        0.85,
        0.9,
        0.93,
        0.95,
        0.97,
        0.98,
        0.99,
        0.995,
        0.999,
    ),
    "weight_decay": (
        0.0,
        1e-5,
        2e-5,
        5e-5,
        1e-4,
        2e-4,
        5e-4,
        1e-3,
        2e-3,
        5e-3,
        0.01,
        0.02,
        0.05,
        0.1,
        0.2,
        0.5,
        1.0,
    ),
    "label_smoothing": (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
    "elastic_pixels": (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0),
    "photo_effects": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    "groups": (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 28, 32),
    "validation": (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5),
}
# What 0 groups are on the slider.
AS_IS_BEST = "as is fastest"


def key(name: str) -> str:
    """The key of the widget that holds the setting."""
    return f"set_{name}"


def label(name: str) -> str:
    """A setting's name in words: "batch_size" -> "Batch size"."""
    if name == "vary":
        return "Differs by member"
    return name.replace("_", " ").capitalize().replace("Swa", "SWA")


def logarithmic(low: float, high: float) -> tuple[float, ...]:
    """1, 2, 3 and 5 of every power of ten from `low` to `high`, both included."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = [float(f"{lead}e{decade}") for decade in decades for lead in (1, 2, 3, 5)]
    return tuple(step for step in steps if low <= step <= high)


def steps(name: str) -> tuple[float, ...]:
    """The values on the slider of a setting, all within its range; () when it has none."""
    field = FIELDS[name]
    if field.metadata["low"] is None:
        return ()
    if name == "learning_rate":
        return logarithmic(field.metadata["low"], field.metadata["high"])
    low, high = field.metadata["low"], field.metadata["high"]
    return tuple(value for value in SLIDER.get(name, ()) if low <= value <= high)


def control(name: str, **more: Any) -> Any:
    """Draw the widget that fits a setting's type and range, and return the setting's value.

    Args:
      name: of the setting.
      **more: goes to `draw_field_control`: choices in another order, or what its widget takes.
    """
    about: dict[str, Any] = {}
    if values := steps(name):
        about = {"steps": values, "format_func": functools.partial(on_slider, name)}
    return draw_field_control(FIELDS[name], key(name), label(name), **{**about, **more})


def shown(value: float) -> str:
    """A value on a slider: "0.0001", "0.1", "4,096"."""
    return formats.plain(value)


def on_slider(name: str, value: float) -> str:
    """A value on the slider of a setting: as `shown`, but in words where it is no number of it."""
    return AS_IS_BEST if (name, value) == ("groups", 0) else shown(value)


def value(name: str) -> Any:
    """A setting as it stands in its widget, else its default."""
    return widget.value(key(name), FIELDS[name].default)


def reset(name: str) -> None:
    """Set one widget, which is still to be made, to the setting's default."""
    widget.put(key(name), FIELDS[name].default)


def fill(config: EnsembleConfig) -> None:
    """Set every widget to `config`: for a callback, which runs before the widgets are made."""
    for name, value in config.as_dict().items():
        widget.put(key(name), value)


def chosen() -> EnsembleConfig:
    """The settings as they stand in the widgets; a ConfigError when two do not fit together."""
    return EnsembleConfig.from_dict({name: value(name) for name in FIELDS})


def summary(config: EnsembleConfig | ImportedConfig) -> str:
    """One line: the main settings, and of the others those that are not as usual."""
    if isinstance(config, ImportedConfig):
        return f"{formats.count(config.members, 'member')} · {small_print(config)}"
    first = [formats.count(config.members, "member"), *titled(config.network)]
    return " · ".join([*first, f"rate {varied.value(config, 'learning_rate')}", numbers(config)])


def titled(network: str) -> list[str]:
    """A network's title, where it is not the HOWTO's."""
    return [] if network == FIELDS["network"].default else [architectures.short_title(network)]


def small_print(config: EnsembleConfig | ImportedConfig) -> str:
    """As `summary`, without what an unnamed run is called by: members, network, rate, dataset."""
    if isinstance(config, ImportedConfig):
        epochs = f"{formats.count(config.epochs, 'epoch')} of " if config.epochs > 1 else ""
        return f"{epochs}predictions made elsewhere"
    return numbers(config)


def numbers(config: EnsembleConfig) -> str:
    """Momentum, epochs, batch and seed, and of the other settings those that are not as usual.

    At the end the whole name of a network of one's own, of which a run's name has but a part.
    """
    said = [f"momentum {varied.value(config, 'momentum')}", formats.count(config.epochs, "epoch")]
    said += [f"batch {shown(config.batch_size)}", f"seed {config.seed}"]
    own = [config.network] if architectures.is_own(config.network) else []
    values = config.as_dict()
    if "weight_decay" in varied.of(config):
        said.append(f"weight decay {varied.value(config, 'weight_decay')}")
        del values["weight_decay"]
    return " · ".join([*said, *unusual(values), *own])


def unusual_now() -> str:
    """Those settings under More that are not at their default, as the widgets stand."""
    return ", ".join(unusual({name: widget.value(key(name), None) for name in MORE}))


def unusual(values: dict[str, Any]) -> list[str]:
    """Of those that a summary does not always name, the ones set and not at their default."""
    return [
        in_words(name, values[name])
        for name in UNUSUAL
        if values.get(name) is not None and values[name] != FIELDS[name].default
    ]


def in_words(name: str, value: Any) -> str:
    """A setting as people say it: "cosine schedule", "shuffle per member", "shift pixels 2"."""
    if isinstance(value, bool):
        return label(name).lower()
    if name == "precision":
        return str(value)
    if name == "groups":
        return formats.count(value, "group") if value else "groups as is fastest"
    if isinstance(value, str):
        return f"{value} {label(name).lower()}"
    return f"{label(name).lower()} {shown(value)}"
