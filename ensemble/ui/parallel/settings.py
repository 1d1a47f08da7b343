"""Widgets for the settings of a regression, each made from its field of `LbfgsConfig`."""

import dataclasses
from typing import Any

from ensemble import datasets
from ensemble.regression.regression_job import LbfgsConfig
from ensemble.settings import list_setting_choices
from ensemble.ui.shared import settings, widget_state
from ensemble.ui.shared.field_control import draw_field_control
from ensemble.wording.runs.regression import compute_problem_size, format_problem_size

_REGRESSION_FIELDS = {field.name: field for field in dataclasses.fields(LbfgsConfig)}
SYNTHETIC_FIELDS = ("samples", "features", "classes")
ADVANCED_FIELDS = ("l2", "history", "seed", "sweep")
_DATASET_TITLES = {"synthetic": "Synthetic", "digits": "Digits", "mnist": "MNIST"}
PMAP_PHRASES = {
    "both": "with and without pmap",
    "with": "with pmap",
    "without": "without pmap",
    "faster": "the faster way, with or without pmap",
}
_PMAP_LABELS = {
    "both": "Both, to compare",
    "with": "With pmap",
    "without": "Without pmap",
    "faster": "What is faster here",
}
_FIELD_LABELS = {
    "dataset": "Data",
    "linesearch": "Line search",
    "stepsize": "Step size, 0 searches",
    "l2": "L2",
    "history": "Steps remembered",
    "sweep": "Also on 1, 2, 4 and 8 devices",
}
_FIELD_STEPS: dict[str, float] = {"samples": 1000, "features": 10, "iterations": 10, "stepsize": 0.1, "l2": 0.001}


def format_regression_key(name: str) -> str:
    return f"solve_set_{name}"


def get_regression_setting(name: str) -> Any:
    return widget_state.get_widget_value(format_regression_key(name), _REGRESSION_FIELDS[name].default)


def show_regression_setting(name: str) -> None:
    """The widget that fits a setting's type and range; what is set stays for other visits."""
    field = _REGRESSION_FIELDS[name]
    about: dict[str, Any] = {}
    if list_setting_choices(field):
        about = {"buttons": True, "format_func": str.capitalize}
    elif isinstance(field.default, float):
        about = {"format": "%g"}
    draw_field_control(
        field,
        format_regression_key(name),
        _FIELD_LABELS.get(name, name.capitalize()),
        typed=True,
        step=_FIELD_STEPS.get(name, 1),
        **about,
    )


def show_regression_dataset_control() -> None:
    """Which samples; a dataset can be chosen once it is there."""
    held = format_regression_key("dataset")
    there = [name for name in _DATASET_TITLES if name == "synthetic" or datasets.is_dataset_prepared(name)]
    if widget_state.initialize_widget(held, _REGRESSION_FIELDS["dataset"].default) not in there:
        widget_state.set_widget_value(held, _REGRESSION_FIELDS["dataset"].default)
    draw_field_control(
        _REGRESSION_FIELDS["dataset"],
        held,
        _FIELD_LABELS["dataset"],
        choices=there,
        format_func=_DATASET_TITLES.__getitem__,
    )


def show_device_count_control(most: int) -> None:
    """How many devices: all, or a power of two of them; `most` is 0 while that is not known.

    The words of a choice must not depend on what is known: the browser sends them back.
    """
    held = format_regression_key("devices")
    if not isinstance(widget_state.initialize_widget(held, _REGRESSION_FIELDS["devices"].default), int):
        widget_state.set_widget_value(held, _REGRESSION_FIELDS["devices"].default)
    powers = {1 << power for power in range(11) if 1 << power <= most}
    options = sorted({0, *powers, widget_state.get_widget_value(held)})
    draw_field_control(
        _REGRESSION_FIELDS["devices"], held, "Devices", choices=options, format_func=lambda count: str(count or "All")
    )


def show_pmap_control() -> None:
    draw_field_control(
        _REGRESSION_FIELDS["pmap"],
        format_regression_key("pmap"),
        "Solve",
        choices=list(_PMAP_LABELS),
        format_func=_PMAP_LABELS.__getitem__,
    )


def fill_regression_settings(config: LbfgsConfig) -> None:
    """Set every widget to `config`: for a callback, which runs before the widgets are made."""
    for name, chosen in config.as_dict().items():
        widget_state.set_widget_value(format_regression_key(name), chosen)


def collect_regression_config() -> LbfgsConfig:
    """The settings as they stand in the widgets; ConfigError where one cannot be."""
    return LbfgsConfig.from_dict({name: get_regression_setting(name) for name in _REGRESSION_FIELDS})


def summarize_regression_settings(config: LbfgsConfig) -> str:
    """One line: the problem and how it is solved; of what stands under More, the unusual."""
    source = "Synthetic" if config.dataset == "synthetic" else datasets.find_dataset_info(config.dataset).title
    search = f"step size {config.stepsize:g}" if config.stepsize else f"{config.linesearch} search"
    parts = [source, f"{format_problem_size(config)}, {compute_problem_size(config)[2]} classes"]
    parts += [f"{config.iterations:,} iteration{'s' if config.iterations > 1 else ''}", search]
    parts += [_PMAP_LABELS[config.pmap].lower()] if config.pmap != _REGRESSION_FIELDS["pmap"].default else []
    return " · ".join(parts + _list_changed_regression_settings(config.as_dict()))


def describe_changed_regression_controls() -> str:
    return ", ".join(
        _list_changed_regression_settings({name: get_regression_setting(name) for name in ADVANCED_FIELDS})
    )


def _list_changed_regression_settings(values: dict[str, Any]) -> list[str]:
    words = {
        "l2": f"L2 {settings.format_slider_value(values['l2'])}",
        "history": f"{values['history']} remembered",
        "seed": f"seed {values['seed']}",
        "sweep": "no sweep over devices",
    }
    return [words[name] for name in ADVANCED_FIELDS if values[name] != _REGRESSION_FIELDS[name].default]
