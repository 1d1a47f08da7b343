"""Widgets for the settings of a run of either task, each made from the field of its config."""

import dataclasses
import functools
import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from ensemble import architectures
from ensemble.config import AnyConfig, AnyTrainingConfig, EnsembleConfig, ImportedConfig, RegressionConfig
from ensemble.settings import list_setting_fields
from ensemble.ui.shared import widget_state
from ensemble.ui.shared.field_control import draw_field_control
from ensemble.ui.shared.tab import tab
from ensemble.wording import escaping, formats
from ensemble.wording.runs import member_settings


@dataclass(frozen=True)
class SettingsForm:
    """The widgets that set the settings of one task.

    Attributes:
      config: the class of the settings.
      name: begins the keys of its widgets and of their state in the tab.
    """

    config: type[AnyTrainingConfig]
    name: str

    @functools.cached_property
    def fields(self) -> "dict[str, dataclasses.Field[Any]]":
        """Its settings by name, in their order."""
        return {field.name: field for field in list_setting_fields(self.config)}


RUN_FORM, TABLE_FORM = SettingsForm(EnsembleConfig, ""), SettingsForm(RegressionConfig, "numbers_")
RUN_FIELDS = RUN_FORM.fields
# What a person turns first; all five stand in view beside each other on Train.
PRIMARY_FIELDS = ("members", "learning_rate", "momentum", "epochs", "batch_size")
MAIN_FIELDS = ("dataset", "network", *PRIMARY_FIELDS, "seed")
# Each of these has its own place on the page.
SEPARATE_FIELDS = ("width", "precision", "vary", "teacher")
ADVANCED_FIELDS = tuple(name for name in RUN_FIELDS if name not in (*MAIN_FIELDS, *SEPARATE_FIELDS))
# The rest of the settings by what they are about, in the order in which they are shown; of a task those that it has.
SETTING_GROUPS: dict[str, tuple[str, ...]] = {
    "Members": ("seed", "vary", "shuffle_per_member", "bootstrap", "folds"),
    "Rows": ("test", "split_seed"),
    "Steps": (
        "optimizer",
        "weight_decay",
        "label_smoothing",
        "beta",
        "adversarial",
        "schedule",
        "cycles",
        "warmup_epochs",
    ),
    "Changed images (augmentation)": (
        "shift_pixels",
        "rotation_degrees",
        "slant_degrees",
        "elastic_pixels",
        "photo_effects",
        "flip",
    ),
    "Learning from an ensemble (distillation)": ("teacher", "distil_temperature", "distil_alpha"),
    "Choosing an epoch": ("validation", "patience", "swa_epochs"),
    "Network and machine": ("width", "depth", "precision", "devices", "batch_parts", "groups"),
}
# Named in a summary where they are not at their default; what differs by member is said in place.
SUMMARY_FIELDS = ("width", "precision", "teacher", *ADVANCED_FIELDS)

# Where a slider over the whole range would be of no use: the values that are worth a step.
# A run may have any value in its range; one that is not here is added to the slider.
SLIDER_VALUES = {
    "members": (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096),
    "epochs": (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000),
    "folds": (0, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 32, 64),
    "batch_size": (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096),
    "momentum": (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999),
    "weight_decay": (0.0, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
    "label_smoothing": (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
    "adversarial": (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5),
    "elastic_pixels": (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0),
    "photo_effects": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    "groups": (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 28, 32),
    "batch_parts": (1, 2, 4, 8, 16),
    "distil_temperature": (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 50.0, 100.0),
    "distil_alpha": (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    "validation": (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5),
    "test": (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5),
    "beta": (0.0, 0.25, 0.5, 0.75, 1.0),
}
_WIDTHS = (1, 5, 10, 20, 50, 100, 200, 500, 1000)  # of the layers of a regression
# Settings whose name alone says too little.
SETTING_TITLES = {
    "vary": "Differs by member",
    "adversarial": "Adversarial step",
    "beta": "β of the β-NLL",
    "test": "Test share",
}
_TABLE_FIELDS = ("depth", "beta", "test", "split_seed")  # that a regression alone has
# What 0 groups are on the slider.
_AUTOMATIC_GROUPS = "as is fastest"


def find_settings_form(config: AnyTrainingConfig) -> SettingsForm:
    return RUN_FORM if isinstance(config, EnsembleConfig) else TABLE_FORM


def format_setting_key(name: str, form: SettingsForm = RUN_FORM) -> str:
    return f"{form.name}set_{name}"


def format_setting_title(name: str) -> str:
    """A setting's name in words: "batch_size" -> "Batch size"."""
    title = SETTING_TITLES.get(name) or name.replace("_", " ").capitalize()
    return title.replace("Swa", "SWA")


def _list_logarithmic_steps(low: float, high: float) -> tuple[float, ...]:
    """1, 2, 3 and 5 of every power of ten from `low` to `high`, both included."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = [float(f"{lead}e{decade}") for decade in decades for lead in (1, 2, 3, 5)]
    return tuple(step for step in steps if low <= step <= high)


def list_slider_steps(name: str, form: SettingsForm = RUN_FORM) -> tuple[float, ...]:
    """The values on the slider of a setting, all within its range; () when it has none."""
    field = form.fields[name]
    low, high = field.metadata["low"], field.metadata["high"]
    if low is None:
        return ()
    if name == "learning_rate":
        return _list_logarithmic_steps(low, high)
    values = _WIDTHS if name == "width" and form is TABLE_FORM else SLIDER_VALUES.get(name, ())
    usual: list[Any] = [field.default] if values else []
    return tuple(sorted(value for value in {*values, *usual} if low <= value <= high))


def select_run_setting(name: str, form: SettingsForm = RUN_FORM, **more: Any) -> Any:
    """Draw the widget that fits a setting's type and range, and return the setting's value.

    Args:
      **more: goes to `draw_field_control`: choices in another order, or what its widget takes.
    """
    about: dict[str, Any] = {}
    if values := list_slider_steps(name, form):
        about = {"steps": values, "format_func": functools.partial(_format_slider_option, name)}
    return draw_field_control(
        form.fields[name], format_setting_key(name, form), format_setting_title(name), **{**about, **more}
    )


def show_setting_groups(form: SettingsForm, draw: Callable[[str], None]) -> None:
    """Draw the settings under More, made only when it is open: each widget takes the browser time at every visit."""
    more = st.expander("More settings", key=f"{form.name}more", on_change="rerun")
    if not more.open:
        if changed := _describe_changed_run_controls(form):
            st.caption(f"Also: {escaping.escape_markdown(changed)}.")
        return
    with more:
        sought = widget_state.draw_widget(
            st.text_input,
            "Find a setting",
            key=f"{form.name}settings_search",
            placeholder="Find a setting",
            label_visibility="collapsed",
            icon=":material/search:",
        )
        matching = {title: _find_settings(form, names, title, sought) for title, names in SETTING_GROUPS.items()}
        for title, names in matching.items():
            if names:
                st.markdown(f"**{title}**")
            for name in names:
                draw(name)
        if not any(matching.values()):
            st.caption(
                f"No setting is about “{escaping.escape_markdown(sought)}”: try another word, such as seed or rate."
            )


def _find_settings(form: SettingsForm, names: Sequence[str], title: str, sought: str) -> list[str]:
    words = sought.lower().replace("-", " ").replace("_", " ").split()
    texts = {
        name: f"{title} {format_setting_title(name)} {form.fields[name].metadata['help']}".lower()
        for name in names
        if name in form.fields
    }
    return [name for name, text in texts.items() if all(word in text for word in words)]


def format_slider_value(value: float) -> str:
    """A value on a slider: "0.0001", "0.1", "4,096"."""
    return formats.format_plain_number(value)


def _format_slider_option(name: str, value: float) -> str:
    """A value on the slider: as `format_slider_value`, but in words where it is no number."""
    return _AUTOMATIC_GROUPS if (name, value) == ("groups", 0) else format_slider_value(value)


def get_run_setting(name: str, form: SettingsForm = RUN_FORM) -> Any:
    return widget_state.get_widget_value(format_setting_key(name, form), form.fields[name].default)


def begin_settings_visit(form: SettingsForm) -> None:
    """At the first drawing, note whether settings that the browser kept of an earlier visit are restored.

    They are not if a setting was filled in on the way here.
    """
    if not tab.settings_visit[form.name]:
        tab.settings_visit[form.name] = secrets.token_hex(8)
        keys = (format_setting_key(name, form) for name in form.fields)
        tab.settings_restorable[form.name] = all(widget_state.get_widget_value(key, None) is None for key in keys)


def reset_run_setting(name: str) -> None:
    widget_state.set_widget_value(format_setting_key(name), RUN_FIELDS[name].default)


def fill_run_settings(config: AnyTrainingConfig, origin: str = "the settings copied") -> None:
    """Set every widget of its task to `config`: for a callback, which runs before the widgets are made.

    Args:
      origin: what they are from; what is changed afterwards is marked, and can be put back.
    """
    form = find_settings_form(config)
    tab.settings_origin[form.name] = origin, config.as_dict()
    tab.settings_restorable[form.name] = False
    for name, value in config.as_dict().items():
        widget_state.set_widget_value(format_setting_key(name, form), value)


def collect_run_config() -> EnsembleConfig:
    """The settings as they stand in the widgets; a ConfigError when two do not fit together."""
    return EnsembleConfig.from_dict(collect_settings(RUN_FORM))


def collect_settings(form: SettingsForm) -> dict[str, Any]:
    """The values that the widgets hold, by name."""
    return {name: get_run_setting(name, form) for name in form.fields}


def summarize_run_settings(config: AnyConfig) -> str:
    """One line: the main settings, and of the others those that are not as usual."""
    if isinstance(config, ImportedConfig):
        return f"{formats.format_count(config.members, 'member')} · {summarize_unnamed_settings(config)}"
    first = [formats.format_count(config.members, "member")]
    if isinstance(config, EnsembleConfig) and config.network != RUN_FIELDS["network"].default:
        first.append(architectures.format_short_network_title(config.network))
    return " · ".join(
        [
            *first,
            f"rate {member_settings.format_run_setting(config, 'learning_rate')}",
            _summarize_training_settings(config),
        ]
    )


def summarize_unnamed_settings(config: AnyConfig) -> str:
    """As `summarize_run_settings`, without members, network, rate, dataset: its name has them."""
    if isinstance(config, ImportedConfig):
        epochs = f"{formats.format_count(config.epochs, 'epoch')} of " if config.epochs > 1 else ""
        return f"{epochs}predictions made elsewhere"
    return _summarize_training_settings(config)


def _summarize_training_settings(config: AnyTrainingConfig) -> str:
    """Momentum, epochs, batch and seed, and of the other settings those that are not as usual.

    At the end the whole name of a network of one's own, of which a run's name has but a part.
    """
    parts = [
        f"momentum {member_settings.format_run_setting(config, 'momentum')}",
        formats.format_count(config.epochs, "epoch"),
    ]
    parts += [f"batch {format_slider_value(config.batch_size)}", f"seed {config.seed}"]
    own = [config.network] if architectures.is_custom_network(config.network) else []
    values = config.as_dict()
    if "weight_decay" in member_settings.collect_varied_settings(config):
        parts.append(f"weight decay {member_settings.format_run_setting(config, 'weight_decay')}")
        del values["weight_decay"]
    changed = _list_changed_run_settings(values, type(config))
    return " · ".join([*parts, *changed, *own])


def _describe_changed_run_controls(form: SettingsForm) -> str:
    held = {name: widget_state.get_widget_value(format_setting_key(name, form), None) for name in form.fields}
    changed = _list_changed_run_settings(held, form.config)
    if held["seed"]:
        changed.insert(0, f"seed {held['seed']}")
    if held["vary"]:
        changed.append(f"{held['vary']} by member")
    return ", ".join(changed)


def _list_changed_run_settings(values: dict[str, Any], form: type[AnyTrainingConfig] = EnsembleConfig) -> list[str]:
    defaults = {field.name: field.default for field in list_setting_fields(form)}
    named = (name for name in (*SUMMARY_FIELDS, *_TABLE_FIELDS) if name in defaults)
    return [
        describe_run_setting(name, values[name])
        for name in named
        if values.get(name) is not None and values[name] != defaults[name]
    ]


def describe_run_setting(name: str, value: Any) -> str:
    """A setting as people say it: "cosine schedule", "shuffle per member", "shift pixels 2"."""
    if isinstance(value, bool):
        return format_setting_title(name).lower()
    if name == "precision":
        return str(value)
    if name == "teacher":
        return f"taught by {value}"
    if name == "groups":
        return formats.format_count(value, "group") if value else "groups as is fastest"
    if isinstance(value, str):
        return f"{value} {format_setting_title(name).lower()}"
    return f"{format_setting_title(name).lower()} {format_slider_value(value)}"
