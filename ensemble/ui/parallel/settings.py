"""Widgets for the settings of a regression, each made from its field of `LbfgsConfig`."""

import dataclasses
from typing import Any

from ensemble import datasets
from ensemble.regression.settings import LbfgsConfig
from ensemble.settings import choices_of
from ensemble.ui.shared import settings, widget
from ensemble.ui.shared.field_control import draw_field_control
from ensemble.wording.runs.regression import shape, size

FIELDS = {field.name: field for field in dataclasses.fields(LbfgsConfig)}
DRAWN = ("samples", "features", "classes")
MORE = ("l2", "history", "seed", "sweep")
TITLES = {"synthetic": "Synthetic", "digits": "Digits", "mnist": "MNIST"}
HOW = {
    "both": "with and without pmap",
    "with": "with pmap",
    "without": "without pmap",
    "faster": "the faster way, with or without pmap",
}
PMAP = {
    "both": "Both, to compare",
    "with": "With pmap",
    "without": "Without pmap",
    "faster": "What is faster here",
}
LABELS = {
    "dataset": "Data",
    "linesearch": "Line search",
    "stepsize": "Step size, 0 searches",
    "l2": "L2",
    "history": "Steps remembered",
    "sweep": "Also on 1, 2, 4 and 8 devices",
}
STEPS: dict[str, float] = {
    "samples": 1000,
    "features": 10,
    "iterations": 10,
    "stepsize": 0.1,
    "l2": 0.001,
}


def key(name: str) -> str:
    """The key of the widget that holds the setting."""
    return f"solve_set_{name}"


def value(name: str) -> Any:
    """A setting as it stands in its widget, else its default."""
    return widget.value(key(name), FIELDS[name].default)


def control(name: str) -> None:
    """The widget that fits a setting's type and range; what is set stays for other visits."""
    field = FIELDS[name]
    about: dict[str, Any] = {}
    if choices_of(field):
        about = {"buttons": True, "format_func": str.capitalize}
    elif isinstance(field.default, float):
        about = {"format": "%g"}
    draw_field_control(
        field,
        key(name),
        LABELS.get(name, name.capitalize()),
        typed=True,
        step=STEPS.get(name, 1),
        **about,
    )


def dataset_control() -> None:
    """Which samples; a dataset can be chosen once it is there."""
    held = key("dataset")
    there = [name for name in TITLES if name == "synthetic" or datasets.is_prepared(name)]
    if widget.begin(held, FIELDS["dataset"].default) not in there:
        widget.put(held, FIELDS["dataset"].default)
    draw_field_control(
        FIELDS["dataset"],
        held,
        LABELS["dataset"],
        choices=there,
        format_func=TITLES.__getitem__,
    )


def devices_control(most: int) -> None:
    """How many devices: all, or a power of two of them; `most` is 0 while that is not known.

    The words of a choice must not depend on what is known: the browser sends them back.
    """
    held = key("devices")
    if not isinstance(widget.begin(held, FIELDS["devices"].default), int):
        widget.put(held, FIELDS["devices"].default)
    powers = {1 << power for power in range(11) if 1 << power <= most}
    options = sorted({0, *powers, widget.value(held)})
    draw_field_control(
        FIELDS["devices"],
        held,
        "Devices",
        choices=options,
        format_func=lambda count: str(count or "All"),
    )


def pmap_control() -> None:
    """With pmap and without, one of them, or the faster when both are tried."""
    draw_field_control(
        FIELDS["pmap"], key("pmap"), "Solve", choices=list(PMAP), format_func=PMAP.__getitem__
    )


def fill(config: LbfgsConfig) -> None:
    """Set every widget to `config`: for a callback, which runs before the widgets are made."""
    for name, chosen in config.as_dict().items():
        widget.put(key(name), chosen)


def chosen() -> LbfgsConfig:
    """The settings as they stand in the widgets; ConfigError where one cannot be."""
    return LbfgsConfig.from_dict({name: value(name) for name in FIELDS})


def summary(config: LbfgsConfig) -> str:
    """One line: the problem and how it is solved; of what stands under More, the unusual."""
    source = "Synthetic" if config.dataset == "synthetic" else datasets.info(config.dataset).title
    search = f"step size {config.stepsize:g}" if config.stepsize else f"{config.linesearch} search"
    said = [source, f"{shape(config)}, {size(config)[2]} classes"]
    said += [f"{config.iterations:,} iteration{'s' if config.iterations > 1 else ''}", search]
    said += [PMAP[config.pmap].lower()] if config.pmap != FIELDS["pmap"].default else []
    return " · ".join(said + unusual(config.as_dict()))


def unusual_now() -> str:
    """Those settings under More that are not at their default, as the widgets stand."""
    return ", ".join(unusual({name: value(name) for name in MORE}))


def unusual(values: dict[str, Any]) -> list[str]:
    """The settings under More that are not at their default, in words."""
    words = {
        "l2": f"L2 {settings.shown(values['l2'])}",
        "history": f"{values['history']} remembered",
        "seed": f"seed {values['seed']}",
        "sweep": "no sweep over devices",
    }
    return [words[name] for name in MORE if values[name] != FIELDS[name].default]
