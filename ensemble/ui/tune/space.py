"""The search space as controls: settings are ticked, and each is given a range or values."""

import math
from collections.abc import Collection
from dataclasses import Field
from typing import Any

import streamlit as st

from ensemble.comparison.settings import NAMES, in_words, label
from ensemble.config import EnsembleConfig
from ensemble.settings import choices_of
from ensemble.sweeps.space import NOT_SEARCHED, Axis, Range, written
from ensemble.ui.shared import settings, widget
from ensemble.ui.shared.field_control import draw_field_control
from ensemble.wording import escaping

# The seed also says which images are held out, and trials are judged on the same ones.
ELSEWHERE = ("seed", "devices", "groups")
SEARCHED = tuple(name for name in NAMES if name not in (*NOT_SEARCHED, *ELSEWHERE))
FIRST = ("learning_rate",)
TICKED, GRID_VALUES = "tune_searched", 4
RANGE, LIST = "range", "list"
# Where a search begins, of settings whose whole range is of no use: from, to, by the same factor.
USUAL: dict[str, tuple[float, float, bool]] = {
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


def key(what: str, name: str) -> str:
    """The key of a widget of one setting."""
    return f"tune_{what}_{name}"


def ticked() -> list[str]:
    """The settings that are ticked, in the order of the settings."""
    held = widget.value(TICKED, list(FIRST))
    return [name for name in SEARCHED if name in held]


def controls(on_grid: bool) -> None:
    """Which settings, and of each where to search.

    Args:
      on_grid: whether every combination is tried: a range of numbers then says how many of them.
    """
    widget.begin(TICKED, list(FIRST))
    titles = {name: settings.label(name) for name in SEARCHED}
    st.multiselect(
        "Settings to search",
        list(SEARCHED),
        format_func=titles.__getitem__,
        key=TICKED,
        placeholder="Tick settings",
        persist_state="session",
        select_all=False,
        help="What trials differ in. Every other setting is as it is set on Train.",
    )
    for name in ticked():
        with st.container(border=True, gap="xsmall", key=key("box", name)):
            one(name, settings.FIELDS[name], on_grid)


def one(name: str, field: "Field[Any]", on_grid: bool) -> None:
    """Where to search one setting."""
    title = settings.label(name)
    if options := options_of(field):
        widget.begin(held := key("words", name), options)
        st.multiselect(
            title,
            options,
            key=held,
            format_func=said,
            persist_state="session",
            placeholder="Choose two or more",
            help=field.metadata["help"],
        )
        return
    widget.begin(held := key("kind", name), RANGE)
    st.segmented_control(
        title,
        [RANGE, LIST],
        key=held,
        required=True,
        persist_state="session",
        format_func=str.capitalize,
        help=field.metadata["help"],
    )
    if widget.value(held) == LIST:
        widget.begin(held := key("list", name), "")
        st.text_input(
            f"Values of {label(name)}",
            key=held,
            placeholder="0.8, 0.9",
            persist_state="session",
            label_visibility="collapsed",
        )
    else:
        ends(name, field, on_grid)


def ends(name: str, field: "Field[Any]", on_grid: bool) -> None:
    """From where to where, and whether by the same factor."""
    whole = isinstance(field.default, int)
    low, high, log = usual(name, field)
    columns = st.columns(2 + (on_grid and not whole), gap="small")
    for word, begins, column in (("from", low, columns[0]), ("to", high, columns[1])):
        with column:
            draw_field_control(
                field,
                key(word, name),
                word.capitalize(),
                start=begins,
                typed=True,
                step=1 if whole else 0.01,
                format=None if whole else "%g",
                help=None,
            )
    if on_grid and not whole:
        widget.begin(held := key("values", name), GRID_VALUES)
        columns[2].number_input("Values", 2, 100, key=held, persist_state="session")
    if not (on_grid and whole):
        widget.begin(held := key("log", name), log)
        st.toggle(
            "Log: by the same factor",
            key=held,
            persist_state="session",
            help="0.01, 0.1 and 1 are as far apart as each other. Else evenly.",
        )


def usual(name: str, field: "Field[Any]") -> tuple[float, float, bool]:
    """Where a search of this setting begins: from, to, log."""
    low, high, log = USUAL.get(name, (field.metadata["low"], field.metadata["high"], False))
    kind = int if isinstance(field.default, int) else float
    return kind(low), kind(high), log


def options_of(field: "Field[Any]") -> list[str]:
    """The words of a choice, of a switch too; none of a number."""
    if isinstance(field.default, bool):
        return ["true", "false"]
    return list(choices_of(field) or ())


def said(option: str) -> str:
    """One word of a choice on the screen."""
    return {"true": "on", "false": "off"}.get(option, escaping.markdown(option))


def chosen(on_grid: bool) -> str:
    """The search space in words; settings of which nothing is said stand without a value."""
    return " ".join(part(name, on_grid) for name in ticked())


def part(name: str, on_grid: bool) -> str:
    """One setting's part of it."""
    field = settings.FIELDS[name]
    if options := options_of(field):
        return f"{name}={','.join(widget.value(key('words', name), options))}"
    if widget.value(key("kind", name), RANGE) == LIST:
        return (
            f"{name}={','.join(str(widget.value(key('list', name), '')).replace(',', ' ').split())}"
        )
    low, high, log = usual(name, field)
    low, high = widget.value(key("from", name), low), widget.value(key("to", name), high)
    log = bool(widget.value(key("log", name), log))
    whole = isinstance(field.default, int)
    if on_grid and not whole and low < high and (low > 0 or not log):
        count = widget.value(key("values", name), GRID_VALUES)
        return f"{name}={','.join(f'{value:g}' for value in between(low, high, count, log))}"
    axis: Axis = Range(low, high, log and not (on_grid and whole), whole)
    return written({name: axis})


def between(low: float, high: float, count: int, log: bool) -> list[float]:
    """So many numbers from `low` to `high`, both included, to four significant figures."""
    at = [place / (count - 1) for place in range(count)]
    found = [
        math.exp(math.log(low) * (1 - share) + math.log(high) * share)
        if log
        else low + (high - low) * share
        for share in at
    ]
    return [float(f"{value:.4g}") for value in found]


def others(config: EnsembleConfig, searched: Collection[str]) -> str:
    """The settings that trials share, the usual ones left out but for the main: "4 members · …"."""
    main = [name for name in settings.MAIN if name != "dataset"]
    names = [*main, *(name for name in settings.UNUSUAL if not usual_value(name, config))]
    return " · ".join(
        in_words(name, getattr(config, name))
        for name in dict.fromkeys(names)
        if name not in searched
    )


def usual_value(name: str, config: EnsembleConfig) -> bool:
    """Whether a setting is at its default."""
    return bool(getattr(config, name) == settings.FIELDS[name].default)


def empty() -> str:
    """The first ticked setting of which no value is said, in words; "" where there is none."""
    return next((label(name) for name in ticked() if part(name, False).endswith("=")), "")
