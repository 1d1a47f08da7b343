"""The search space as controls: settings are ticked, and each is given a range or values."""

import math
from collections.abc import Collection, Mapping
from dataclasses import Field, dataclass
from typing import Any

import streamlit as st

from ensemble.comparison.compared_settings import SETTING_NAMES, format_setting, humanize_setting_name
from ensemble.config import CLASSIFICATION, REGRESSION, AnyTrainingConfig
from ensemble.settings import list_setting_choices, list_setting_fields
from ensemble.sweeps.search_space import UNSEARCHABLE_SETTINGS, Axis, ValueRange, format_search_space
from ensemble.ui.shared import settings, widget_state
from ensemble.ui.shared.field_control import draw_field_control
from ensemble.wording import escaping

# The seed also says which images are held out, and trials are judged on the same ones.
_EXCLUDED_SETTINGS = ("seed", "devices", "batch_parts", "groups")
_DEFAULT_SETTINGS = ("learning_rate",)
# Those that have a line from the start; any other can be added.
LISTED_SETTINGS = ("learning_rate", "momentum", "batch_size", "epochs", "members")
TASK_KEY, _GRID_VALUE_COUNT = "tune_task", 4
_RANGE, LIST = "range", "list"
# Where a search begins, of settings whose whole range is of no use: from, to, by the same factor.
_DEFAULT_RANGES: dict[str, tuple[float, float, bool]] = {
    "learning_rate": (0.01, 0.5, True),
    "momentum": (0.5, 0.95, False),
    "weight_decay": (1e-5, 1e-2, True),
    "label_smoothing": (0.0, 0.2, False),
    "adversarial": (0.001, 0.1, True),
    "members": (2, 8, False),
    "epochs": (2, 10, False),
    "batch_size": (32, 256, True),
    "width": (8, 64, True),
    "rotation_degrees": (0.0, 20.0, False),
    "slant_degrees": (0.0, 20.0, False),
    "elastic_pixels": (0.0, 2.0, False),
    "warmup_epochs": (0.0, 2.0, False),
}
_DEFAULT_TABLE_RANGES = {
    **_DEFAULT_RANGES,
    "learning_rate": (0.0003, 0.03, True),
    "epochs": (10, 80, False),
    "batch_size": (8, 128, True),
    "width": (10, 200, True),
    "depth": (1, 4, False),
}


@dataclass(frozen=True)
class _SearchForm:
    """The settings of one task that can be searched.

    Attributes:
      settings: the widgets of the settings that all trials share.
      prefix: begins the keys of the widgets.
      ranges: where searches begin.
    """

    settings: settings.SettingsForm
    prefix: str
    ranges: Mapping[str, tuple[float, float, bool]]

    @property
    def searchable(self) -> tuple[str, ...]:
        left_out = (*UNSEARCHABLE_SETTINGS, *_EXCLUDED_SETTINGS)
        return tuple(
            name
            for name in dict.fromkeys((*SETTING_NAMES, *self.settings.fields))
            if name in self.settings.fields and name not in left_out
        )


_FORMS = {
    CLASSIFICATION: _SearchForm(settings.RUN_FORM, "tune", _DEFAULT_RANGES),
    REGRESSION: _SearchForm(settings.TABLE_FORM, "tune_table", _DEFAULT_TABLE_RANGES),
}


def get_searched_task() -> str:
    return str(widget_state.get_widget_value(TASK_KEY, CLASSIFICATION))


def _get_form() -> _SearchForm:
    return _FORMS[get_searched_task()]


def _format_space_key(what: str, name: str) -> str:
    return f"{_get_form().prefix}_{what}_{name}"


def _format_searched_key() -> str:
    return f"{_get_form().prefix}_searched"


def list_searched_settings() -> list[str]:
    held = widget_state.get_widget_value(_format_searched_key(), list(_DEFAULT_SETTINGS))
    return [name for name in _get_form().searchable if name in held]


def show_search_space(on_grid: bool) -> None:
    """A table of settings: what is ticked is searched, and has a range or a list of values."""
    widget_state.initialize_widget(_format_searched_key(), list(_DEFAULT_SETTINGS))
    page = "Numbers" if get_searched_task() == REGRESSION else "Train"
    with st.container(gap="xsmall", key="search_space"):
        st.caption("Search", help=f"What trials differ in. Every other setting is as it is set on {page}.")
        for name in _list_listed_settings():
            _show_search_row(name, on_grid)
        _show_setting_picker()


def _list_listed_settings() -> list[str]:
    """The settings that have a line: the usual ones, and any other that is ticked."""
    searched = list_searched_settings()
    return [*LISTED_SETTINGS, *(name for name in searched if name not in LISTED_SETTINGS)]


def _show_search_row(name: str, on_grid: bool) -> None:
    """One setting: its tick, and where to search it, else the value that all trials share."""
    searched = name in list_searched_settings()
    widget_state.sync_widget_value(key := _format_space_key("tick", name), searched)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        widget_state.draw_widget(
            st.checkbox,
            settings.format_setting_title(name),
            key=key,
            on_change=_update_searched_setting,
            args=(name, key),
        )
        field = _get_form().settings.fields[name]
        if not searched:
            value = settings.get_run_setting(name, _get_form().settings)
            st.caption(settings.format_slider_value(value), width="content")
        elif _list_field_options(field):
            _show_option_control(name, field)
        else:
            _show_spread_control(name, field, on_grid)
    if searched and not _list_field_options(field):
        _show_value_inputs(name, field)


def _update_searched_setting(name: str, key: str) -> None:
    """Callback of a tick: the setting is searched, or no longer."""
    others = [held for held in list_searched_settings() if held != name]
    ticked = widget_state.get_widget_value(key)
    widget_state.set_widget_value(_format_searched_key(), [*others, name] if ticked else others)


def _show_setting_picker() -> None:
    """A box to look for a setting that has no line yet; choosing one ticks it."""
    names = [name for name in _get_form().searchable if name not in _list_listed_settings()]
    titles = {name: settings.format_setting_title(name) for name in names}
    widget_state.sync_widget_value(key := f"{_get_form().prefix}_another", None)
    widget_state.draw_widget(
        st.selectbox,
        "Another setting",
        names,
        format_func=titles.__getitem__,
        key=key,
        placeholder="Another setting",
        label_visibility="collapsed",
        on_change=_add_searched_setting,
        args=(key,),
    )


def _add_searched_setting(key: str) -> None:
    """Callback: tick the setting that was chosen."""
    if name := widget_state.get_widget_value(key):
        widget_state.set_widget_value(_format_searched_key(), [*list_searched_settings(), name])


def _show_option_control(name: str, field: "Field[Any]") -> None:
    options = _list_field_options(field)
    widget_state.initialize_widget(held := _format_space_key("words", name), options)
    count = len(widget_state.get_widget_value(held))
    label = f"all {len(options)}" if count == len(options) else f"{count} of {len(options)}"
    with st.popover(label, type="tertiary", key=_format_space_key("options", name)):
        widget_state.draw_widget(
            st.multiselect,
            settings.format_setting_title(name),
            options,
            key=held,
            format_func=_format_option_label,
            persist_state="session",
            placeholder="Choose two or more",
            help=field.metadata["help"],
        )


def _show_spread_control(name: str, field: "Field[Any]", on_grid: bool) -> None:
    whole = isinstance(field.default, int)
    widget_state.initialize_widget(kind := _format_space_key("kind", name), _RANGE)
    log = widget_state.initialize_widget(_format_space_key("log", name), _get_default_range(name, field)[2])
    listed = widget_state.get_widget_value(kind) == LIST
    label = "list" if listed else "all" if on_grid and whole else "log" if log else "even"
    with st.popover(label, type="tertiary", key=_format_space_key("spread", name)):
        widget_state.draw_widget(
            st.segmented_control,
            settings.format_setting_title(name),
            [_RANGE, LIST],
            key=kind,
            required=True,
            persist_state="session",
            format_func=str.capitalize,
            help=field.metadata["help"],
        )
        if listed:
            return
        if on_grid and not whole:
            widget_state.initialize_widget(held := _format_space_key("values", name), _GRID_VALUE_COUNT)
            widget_state.draw_widget(st.number_input, "Values", 2, 100, key=held, persist_state="session")
        if not (on_grid and whole):
            widget_state.draw_widget(
                st.toggle,
                "Log: by the same factor",
                key=_format_space_key("log", name),
                persist_state="session",
                help="0.01, 0.1 and 1 are as far apart as each other. Else evenly.",
            )


def _show_value_inputs(name: str, field: "Field[Any]") -> None:
    """The values of a number: from where to where, or a list of them."""
    title = settings.format_setting_title(name)
    if widget_state.get_widget_value(_format_space_key("kind", name)) == LIST:
        widget_state.initialize_widget(held := _format_space_key("list", name), "")
        widget_state.draw_widget(
            st.text_input,
            f"Values of {humanize_setting_name(name)}",
            key=held,
            placeholder="0.8, 0.9",
            persist_state="session",
            label_visibility="collapsed",
        )
        return
    whole = isinstance(field.default, int)
    low, high, _ = _get_default_range(name, field)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for word, begins in (("from", low), ("to", high)):
            if word == "to":
                st.caption("to", width="content")
            draw_field_control(
                field,
                _format_space_key(word, name),
                f"{title} {word}",
                start=begins,
                typed=True,
                step=1 if whole else 0.01,
                format=None if whole else "%g",
                help=None,
                label_visibility="collapsed",
            )


def _get_default_range(name: str, field: "Field[Any]") -> tuple[float, float, bool]:
    """Where a search of this setting begins: from, to, log."""
    low, high, log = _get_form().ranges.get(name, (field.metadata["low"], field.metadata["high"], False))
    kind = int if isinstance(field.default, int) else float
    return kind(low), kind(high), log


def _list_field_options(field: "Field[Any]") -> list[str]:
    """The words of a choice, of a switch too; none of a number."""
    if isinstance(field.default, bool):
        return ["true", "false"]
    return list(list_setting_choices(field) or ())


def _format_option_label(option: str) -> str:
    return {"true": "on", "false": "off"}.get(option, escaping.escape_markdown(option))


def collect_search_space(on_grid: bool) -> str:
    """The search space in words; settings of which nothing is said stand without a value."""
    return " ".join(_format_search_axis(name, on_grid) for name in list_searched_settings())


def _format_search_axis(name: str, on_grid: bool) -> str:
    field = _get_form().settings.fields[name]
    if options := _list_field_options(field):
        words = widget_state.get_widget_value(_format_space_key("words", name), options)
        return f"{name}={','.join(words)}"
    if widget_state.get_widget_value(_format_space_key("kind", name), _RANGE) == LIST:
        text = str(widget_state.get_widget_value(_format_space_key("list", name), ""))
        return f"{name}={','.join(text.replace(',', ' ').split())}"
    low, high, log = _get_default_range(name, field)
    low, high = (
        widget_state.get_widget_value(_format_space_key("from", name), low),
        widget_state.get_widget_value(_format_space_key("to", name), high),
    )
    log = bool(widget_state.get_widget_value(_format_space_key("log", name), log))
    whole = isinstance(field.default, int)
    if on_grid and not whole and low < high and (low > 0 or not log):
        count = widget_state.get_widget_value(_format_space_key("values", name), _GRID_VALUE_COUNT)
        return f"{name}={','.join(f'{value:g}' for value in list_grid_values(low, high, count, log))}"
    axis: Axis = ValueRange(low, high, log and not (on_grid and whole), whole)
    return format_search_space({name: axis})


def list_grid_values(low: float, high: float, count: int, log: bool) -> list[float]:
    """So many numbers from `low` to `high`, both included, to four significant figures."""
    at = [place / (count - 1) for place in range(count)]
    values = [
        math.exp(math.log(low) * (1 - share) + math.log(high) * share) if log else low + (high - low) * share
        for share in at
    ]
    return [float(f"{value:.4g}") for value in values]


def describe_shared_settings(config: AnyTrainingConfig, searched: Collection[str]) -> str:
    """The settings that trials share, the usual ones left out but for the main: "4 members · …"."""
    main = [name for name in settings.MAIN_FIELDS if name != "dataset"]
    defaults = {field.name: field.default for field in list_setting_fields(type(config))}
    names = [*main, *(name for name in settings.SUMMARY_FIELDS if getattr(config, name, None) != defaults.get(name))]
    names += [name for name in defaults if name not in settings.RUN_FIELDS and getattr(config, name) != defaults[name]]
    return " · ".join(
        format_setting(name, getattr(config, name)) for name in dict.fromkeys(names) if name not in searched
    )


def find_empty_setting() -> str:
    """The first ticked setting of which no value is said, in words; "" where there is none."""
    return next(
        (
            humanize_setting_name(name)
            for name in list_searched_settings()
            if _format_search_axis(name, False).endswith("=")
        ),
        "",
    )
