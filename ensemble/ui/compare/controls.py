"""Controls of Compare whose choice stands in the address: several of some, or one of many."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from ensemble.ui.predictions.controls import stamp
from ensemble.ui.shared import widget
from ensemble.ui.shared.address import Several, Word, bound
from ensemble.wording import escaping


def several(
    word: Several, label: str, options: Mapping[str, str], default: Sequence[str], **more: Any
) -> tuple[str, ...]:
    """A multiselect; returns those of the options that the address names, else `default`.

    Args:
      word: its word in the address.
      label: what stands over it.
      options: what can be chosen: the words in the address, and those on the screen.
      default: the choice where the address names none of them; it is not written there.
      more: for `st.multiselect`.
    """
    asked = tuple(one for one in word.read() if one in options)
    value = asked or tuple(one for one in default if one in options)
    bound(
        f"compare_{word.name}_{stamp([*options, *options.values()])}",
        list(value),
        lambda key: st.multiselect(
            label,
            list(options),
            format_func=options.__getitem__,
            key=key,
            default=widget.held(key),
            on_change=follow_several,
            args=(word, key, tuple(default)),
            **more,
        ),
    )
    return value


def pills(
    word: Several,
    label: str,
    options: Mapping[str, str],
    default: Sequence[str],
    nothing: str = "",
    **more: Any,
) -> tuple[str, ...]:
    """As `several`, of a few options that all stand there to be pressed.

    Args:
      word: its word in the address.
      label: what stands over it.
      options: what can be chosen, as of `several`.
      default: the choice where the address names none of them.
      more: for `st.pills`.
      nothing: what the address says where none of them is pressed; "" where one has to be.
    """
    asked = tuple(one for one in options if one in word.read())
    value = asked or (() if nothing and nothing in word.read() else tuple(default))
    bound(
        f"compare_{word.name}_{stamp(options)}",
        list(value),
        lambda key: st.pills(
            label,
            list(options),
            selection_mode="multi",
            key=key,
            default=widget.held(key),
            on_change=follow_several,
            format_func=lambda one: escaping.markdown(options[one]),
            args=(word, key, tuple(default), nothing),
            **more,
        ),
    )
    return value


def one(word: Word[Any], label: str, options: Mapping[str, str], default: str, **more: Any) -> str:
    """A box to choose one of many options; returns the one that the address names, else `default`.

    As `several`, for one.
    """
    value = word.among(options, default)
    bound(
        f"compare_{word.name}_{stamp([*options, *options.values()])}",
        value,
        lambda key: st.selectbox(
            label,
            list(options),
            format_func=options.__getitem__,
            key=key,
            on_change=follow_one,
            args=(word, key, default),
            **more,
        ),
    )
    return value


def follow_several(word: Several, key: str, default: tuple[str, ...], nothing: str = "") -> None:
    """Callback: the address follows; with nothing chosen it says so, or is as usual again."""
    chosen = tuple(widget.value(key))
    word.put(chosen or ((nothing,) if nothing and default else ()), default)


def follow_one(word: Word[Any], key: str, default: str) -> None:
    """Callback: the address follows."""
    word.put(widget.value(key), default)
