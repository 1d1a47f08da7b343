"""Controls of Compare whose choice stands in the address: several of some, or one of many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble.ui.predictions.controls import hash_options
from ensemble.ui.shared import widget_state
from ensemble.ui.shared.address import ListParameter, QueryParameter, show_address_widget
from ensemble.wording import escaping


@dataclass(frozen=True)
class ControlPlaces:
    """Where a view's controls stand.

    Attributes:
      first: beside the choice of the view: what is turned most.
      more: all others, folded away.
    """

    first: DeltaGenerator
    more: DeltaGenerator


def select_several_options(
    word: ListParameter, label: str, options: Mapping[str, str], default: Sequence[str], **more: Any
) -> tuple[str, ...]:
    """A multiselect; returns those of the options that the address names, else `default`.

    Args:
      default: the choice where the address names none of them; it is not written there.
      more: for `st.multiselect`.
    """
    choice = tuple(option for option in word.read() if option in options)
    value = choice or tuple(option for option in default if option in options)
    show_address_widget(
        f"compare_{word.name}_{hash_options([*options, *options.values()])}",
        list(value),
        lambda key: widget_state.draw_widget(
            st.multiselect,
            label,
            list(options),
            format_func=options.__getitem__,
            key=key,
            on_change=_update_options_address,
            args=(word, key, tuple(default)),
            **more,
        ),
    )
    return value


def select_option_pills(
    word: ListParameter, label: str, options: Mapping[str, str], default: Sequence[str], nothing: str = "", **more: Any
) -> tuple[str, ...]:
    """As `select_several_options`, of a few options that all stand there to be pressed.

    Args:
      options: what can be chosen, as of `select_several_options`.
      more: for `st.pills`.
      nothing: what the address says where none of them is pressed; "" where one has to be.
    """
    choice = tuple(option for option in options if option in word.read())
    value = choice or (() if nothing and nothing in word.read() else tuple(default))
    show_address_widget(
        f"compare_{word.name}_{hash_options(options)}",
        list(value),
        lambda key: widget_state.draw_widget(
            st.pills,
            label,
            list(options),
            selection_mode="multi",
            key=key,
            on_change=_update_options_address,
            format_func=lambda option: escaping.escape_markdown(options[option]),
            args=(word, key, tuple(default), nothing),
            **more,
        ),
    )
    return value


def select_one_option(
    word: QueryParameter[Any], label: str, options: Mapping[str, str], default: str, **more: Any
) -> str:
    """A box to choose one of many options; returns the one that the address names, else `default`.

    As `select_several_options`, for one.
    """
    value = word.read_option(options, default)
    show_address_widget(
        f"compare_{word.name}_{hash_options([*options, *options.values()])}",
        value,
        lambda key: widget_state.draw_widget(
            st.selectbox,
            label,
            list(options),
            format_func=options.__getitem__,
            key=key,
            on_change=update_option_address,
            args=(word, key, default),
            **more,
        ),
    )
    return value


def _update_options_address(word: ListParameter, key: str, default: tuple[str, ...], nothing: str = "") -> None:
    """Callback: the address follows; with nothing chosen it says so, or is as usual again."""
    chosen = tuple(widget_state.get_widget_value(key))
    word.set_value(chosen or ((nothing,) if nothing and default else ()), default)


def update_option_address(word: QueryParameter[Any], key: str, default: str) -> None:
    """Callback: the address follows."""
    word.set_value(widget_state.get_widget_value(key), default)
