"""Widgets for the settings of a run that predicts numbers, each made from its field."""

from typing import Any

from ensemble import architectures
from ensemble.config import RegressionConfig
from ensemble.settings import list_setting_fields
from ensemble.ui.shared import settings, widget_state
from ensemble.ui.shared.field_control import draw_field_control

NUMERIC_FIELDS = {field.name: field for field in list_setting_fields(RegressionConfig)}
MAIN_FIELDS = ("members", "learning_rate", "momentum", "epochs", "batch_size")
ADVANCED_FIELDS = (
    "optimizer",
    "weight_decay",
    "width",
    "depth",
    "beta",
    "adversarial",
    "schedule",
    "warmup_epochs",
    "bootstrap",
    "folds",
    "validation",
    "patience",
    "test",
    "seed",
    "split_seed",
    "devices",
    "groups",
)
SLIDER_STEPS = {
    "width": (1, 5, 10, 20, 50, 100, 200, 500, 1000),
    "test": (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5),
    "beta": (0.0, 0.25, 0.5, 0.75, 1.0),
}


def format_numeric_key(name: str) -> str:
    return f"numbers_set_{name}"


def _get_numeric_setting(name: str) -> Any:
    return widget_state.get_widget_value(format_numeric_key(name), NUMERIC_FIELDS[name].default)


def show_numeric_setting(name: str) -> None:
    """The widget that fits a setting's type and range; what is set stays for other visits."""
    field, about = NUMERIC_FIELDS[name], dict[str, Any]()
    if name == "learning_rate":
        steps: tuple[float, ...] = settings.list_logarithmic_steps(field.metadata["low"], field.metadata["high"])
    else:
        steps = SLIDER_STEPS.get(name) or settings.SLIDER_VALUES.get(name, ())
    if steps:
        about = {"steps": steps, "format_func": settings.format_slider_value}
    draw_field_control(field, format_numeric_key(name), settings.format_setting_title(name), **about)


def show_network_setting() -> None:
    if architectures.list_allowed_networks():
        draw_field_control(NUMERIC_FIELDS["network"], format_numeric_key("network"), "Network")


def collect_numeric_config() -> RegressionConfig:
    """The settings as they stand in the widgets; ConfigError where one cannot be."""
    return RegressionConfig.from_dict({name: _get_numeric_setting(name) for name in NUMERIC_FIELDS})


def fill_numeric_settings(config: RegressionConfig) -> None:
    """Set every widget to `config`: for a callback, which runs before the widgets are made."""
    for name, value in config.as_dict().items():
        widget_state.set_widget_value(format_numeric_key(name), value)


def describe_changed_numeric_controls() -> str:
    values = {name: _get_numeric_setting(name) for name in ADVANCED_FIELDS}
    return ", ".join(settings.list_changed_run_settings(values, RegressionConfig))
