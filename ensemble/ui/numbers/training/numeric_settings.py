"""Widgets for the settings of a run that predicts numbers, each made from its field."""

from typing import Any

from ensemble import architectures
from ensemble.config.numeric_config import NumericConfig
from ensemble.settings import list_setting_fields
from ensemble.ui.shared import settings, widget_state
from ensemble.ui.shared.field_control import draw_field_control
from ensemble.wording import formats

NUMERIC_FIELDS = {field.name: field for field in list_setting_fields(NumericConfig)}
MAIN_FIELDS = ("members", "learning_rate", "momentum", "epochs", "batch_size")
ADVANCED_FIELDS = (
    "optimizer",
    "weight_decay",
    "width",
    "depth",
    "beta",
    "adversarial",
    "validation",
    "test",
    "seed",
    "split_seed",
    "devices",
)
FIELD_LABELS = {"beta": "β of the β-NLL", "test": "Test share", "validation": "Validation share"}
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
    draw_field_control(
        field, format_numeric_key(name), FIELD_LABELS.get(name, settings.format_setting_title(name)), **about
    )


def show_network_setting() -> None:
    if architectures.list_allowed_networks():
        draw_field_control(NUMERIC_FIELDS["network"], format_numeric_key("network"), "Network")


def collect_numeric_config() -> NumericConfig:
    """The settings as they stand in the widgets; ConfigError where one cannot be."""
    return NumericConfig.from_dict({name: _get_numeric_setting(name) for name in NUMERIC_FIELDS})


def fill_numeric_settings(config: NumericConfig) -> None:
    """Set every widget to `config`: for a callback, which runs before the widgets are made."""
    for name, value in config.as_dict().items():
        widget_state.set_widget_value(format_numeric_key(name), value)


def summarize_numeric_settings(config: NumericConfig | None) -> str:
    """One line: the main settings, and of the others those that are not as usual."""
    if config is None:
        return "predictions made elsewhere"
    parts = [
        formats.format_count(config.members, "member"),
        f"rate {settings.format_slider_value(config.learning_rate)}",
        f"momentum {settings.format_slider_value(config.momentum)}",
        formats.format_count(config.epochs, "epoch"),
        f"batch {settings.format_slider_value(config.batch_size)}",
    ]
    return " · ".join([*parts, *_list_changed_numeric_settings(config.as_dict())])


def _list_changed_numeric_settings(values: dict[str, Any]) -> list[str]:
    return [
        f"{FIELD_LABELS.get(name, settings.format_setting_title(name)).lower()} "
        f"{value if isinstance(value, str) else settings.format_slider_value(value)}"
        for name, value in values.items()
        if name not in MAIN_FIELDS and value != NUMERIC_FIELDS[name].default
    ]


def describe_changed_numeric_controls() -> str:
    values = {name: _get_numeric_setting(name) for name in ADVANCED_FIELDS}
    return ", ".join(_list_changed_numeric_settings(values))
