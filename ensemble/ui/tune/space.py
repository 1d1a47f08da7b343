"""The search space as controls: settings are ticked, and each is given a range or values."""

import math
from collections.abc import Collection
from dataclasses import Field
from typing import Any

import streamlit as st

from ensemble.comparison.compared_settings import (
    SETTING_NAMES,
    format_setting,
    humanize_setting_name,
)
from ensemble.config import EnsembleConfig
from ensemble.settings import list_setting_choices
from ensemble.sweeps.search_space import (
    UNSEARCHABLE_SETTINGS,
    Axis,
    ValueRange,
    format_search_space,
)
from ensemble.ui.shared import settings, widget_state
from ensemble.ui.shared.field_control import draw_field_control
from ensemble.wording import escaping

# The seed also says which images are held out, and trials are judged on the same ones.
EXCLUDED_SETTINGS = ("seed", "devices", "groups")
SEARCHABLE_SETTINGS = tuple(
    name for name in SETTING_NAMES if name not in (*UNSEARCHABLE_SETTINGS, *EXCLUDED_SETTINGS)
)
DEFAULT_SETTINGS = ("learning_rate",)
SEARCHED_KEY, GRID_VALUE_COUNT = "tune_searched", 4
RANGE, LIST = "range", "list"
# Where a search begins, of settings whose whole range is of no use: from, to, by the same factor.
DEFAULT_RANGES: dict[str, tuple[float, float, bool]] = {
    "learning_rate": (0.01, 0.5, True),
    "momentum": (0.5, 0.95, False),
    "weight_decay": (1e-5, 1e-2, True),
    "label_smoothing": (0.0, 0.2, False),
    "members": (2, 8, False),
    "epochs": (2, 10, False),
    "batch_size": (32, 256, True),
    "width": (8, 64, True),
    "rotation_degrees": (0.0, 20.0, False),
    "slant_degrees": (0.0, 20.0, False),
    "elastic_pixels": (0.0, 2.0, False),
    "warmup_epochs": (0.0, 2.0, False),
}


def format_space_key(what: str, name: str) -> str:
    """The key of a widget of one setting."""
    return f"tune_{what}_{name}"


def list_searched_settings() -> list[str]:
    """The settings that are ticked, in the order of the settings."""
    held = widget_state.get_widget_value(SEARCHED_KEY, list(DEFAULT_SETTINGS))
    return [name for name in SEARCHABLE_SETTINGS if name in held]


def show_search_space(on_grid: bool) -> None:
    """Which settings, and of each where to search.

    Args:
      on_grid: whether every combination is tried: a range of numbers then says how many of them.
    """
    widget_state.initialize_widget(SEARCHED_KEY, list(DEFAULT_SETTINGS))
    titles = {name: settings.format_setting_title(name) for name in SEARCHABLE_SETTINGS}
    st.multiselect(
        "Settings to search",
        list(SEARCHABLE_SETTINGS),
        format_func=titles.__getitem__,
        key=SEARCHED_KEY,
        placeholder="Tick settings",
        persist_state="session",
        select_all=False,
        help="What trials differ in. Every other setting is as it is set on Train.",
    )
    for name in list_searched_settings():
        with st.container(border=True, gap="xsmall", key=format_space_key("box", name)):
            show_axis_controls(name, settings.RUN_FIELDS[name], on_grid)


def show_axis_controls(name: str, field: "Field[Any]", on_grid: bool) -> None:
    """Where to search one setting."""
    title = settings.format_setting_title(name)
    if options := list_field_options(field):
        widget_state.initialize_widget(held := format_space_key("words", name), options)
        st.multiselect(
            title,
            options,
            key=held,
            format_func=format_option_label,
            persist_state="session",
            placeholder="Choose two or more",
            help=field.metadata["help"],
        )
        return
    widget_state.initialize_widget(held := format_space_key("kind", name), RANGE)
    st.segmented_control(
        title,
        [RANGE, LIST],
        key=held,
        required=True,
        persist_state="session",
        format_func=str.capitalize,
        help=field.metadata["help"],
    )
    if widget_state.get_widget_value(held) == LIST:
        widget_state.initialize_widget(held := format_space_key("list", name), "")
        st.text_input(
            f"Values of {humanize_setting_name(name)}",
            key=held,
            placeholder="0.8, 0.9",
            persist_state="session",
            label_visibility="collapsed",
        )
    else:
        show_range_inputs(name, field, on_grid)


def show_range_inputs(name: str, field: "Field[Any]", on_grid: bool) -> None:
    """From where to where, and whether by the same factor."""
    whole = isinstance(field.default, int)
    low, high, log = get_default_range(name, field)
    columns = st.columns(2 + (on_grid and not whole), gap="small")
    for word, begins, column in (("from", low, columns[0]), ("to", high, columns[1])):
        with column:
            draw_field_control(
                field,
                format_space_key(word, name),
                word.capitalize(),
                start=begins,
                typed=True,
                step=1 if whole else 0.01,
                format=None if whole else "%g",
                help=None,
            )
    if on_grid and not whole:
        widget_state.initialize_widget(held := format_space_key("values", name), GRID_VALUE_COUNT)
        columns[2].number_input("Values", 2, 100, key=held, persist_state="session")
    if not (on_grid and whole):
        widget_state.initialize_widget(held := format_space_key("log", name), log)
        st.toggle(
            "Log: by the same factor",
            key=held,
            persist_state="session",
            help="0.01, 0.1 and 1 are as far apart as each other. Else evenly.",
        )


def get_default_range(name: str, field: "Field[Any]") -> tuple[float, float, bool]:
    """Where a search of this setting begins: from, to, log."""
    low, high, log = DEFAULT_RANGES.get(
        name, (field.metadata["low"], field.metadata["high"], False)
    )
    kind = int if isinstance(field.default, int) else float
    return kind(low), kind(high), log


def list_field_options(field: "Field[Any]") -> list[str]:
    """The words of a choice, of a switch too; none of a number."""
    if isinstance(field.default, bool):
        return ["true", "false"]
    return list(list_setting_choices(field) or ())


def format_option_label(option: str) -> str:
    """One word of a choice on the screen."""
    return {"true": "on", "false": "off"}.get(option, escaping.escape_markdown(option))


def collect_search_space(on_grid: bool) -> str:
    """The search space in words; settings of which nothing is said stand without a value."""
    return " ".join(format_search_axis(name, on_grid) for name in list_searched_settings())


def format_search_axis(name: str, on_grid: bool) -> str:
    """One setting's part of it."""
    field = settings.RUN_FIELDS[name]
    if options := list_field_options(field):
        words = widget_state.get_widget_value(format_space_key("words", name), options)
        return f"{name}={','.join(words)}"
    if widget_state.get_widget_value(format_space_key("kind", name), RANGE) == LIST:
        text = str(widget_state.get_widget_value(format_space_key("list", name), ""))
        return f"{name}={','.join(text.replace(',', ' ').split())}"
    low, high, log = get_default_range(name, field)
    low, high = (
        widget_state.get_widget_value(format_space_key("from", name), low),
        widget_state.get_widget_value(format_space_key("to", name), high),
    )
    log = bool(widget_state.get_widget_value(format_space_key("log", name), log))
    whole = isinstance(field.default, int)
    if on_grid and not whole and low < high and (low > 0 or not log):
        count = widget_state.get_widget_value(format_space_key("values", name), GRID_VALUE_COUNT)
        return (
            f"{name}={','.join(f'{value:g}' for value in list_grid_values(low, high, count, log))}"
        )
    axis: Axis = ValueRange(low, high, log and not (on_grid and whole), whole)
    return format_search_space({name: axis})


def list_grid_values(low: float, high: float, count: int, log: bool) -> list[float]:
    """So many numbers from `low` to `high`, both included, to four significant figures."""
    at = [place / (count - 1) for place in range(count)]
    values = [
        math.exp(math.log(low) * (1 - share) + math.log(high) * share)
        if log
        else low + (high - low) * share
        for share in at
    ]
    return [float(f"{value:.4g}") for value in values]


def describe_shared_settings(config: EnsembleConfig, searched: Collection[str]) -> str:
    """The settings that trials share, the usual ones left out but for the main: "4 members · …"."""
    main = [name for name in settings.MAIN_FIELDS if name != "dataset"]
    names = [
        *main,
        *(name for name in settings.SUMMARY_FIELDS if not has_default_value(name, config)),
    ]
    return " · ".join(
        format_setting(name, getattr(config, name))
        for name in dict.fromkeys(names)
        if name not in searched
    )


def has_default_value(name: str, config: EnsembleConfig) -> bool:
    """Whether a setting is at its default."""
    return bool(getattr(config, name) == settings.RUN_FIELDS[name].default)


def find_empty_setting() -> str:
    """The first ticked setting of which no value is said, in words; "" where there is none."""
    return next(
        (
            humanize_setting_name(name)
            for name in list_searched_settings()
            if format_search_axis(name, False).endswith("=")
        ),
        "",
    )
