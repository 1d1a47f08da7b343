"""Which of the test images are shown, in which order: controls that write to the address."""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from ensemble import runs
from ensemble.analysis.predictions import ORDERS, SHOWS, Predictions, chosen
from ensemble.ui.predictions import address
from ensemble.ui.predictions.address import View
from ensemble.ui.shared import widget
from ensemble.ui.shared.address import bound
from ensemble.wording.verdicts import chosen as chosen_words

ORDER_WORDS = {
    "unsure": "Least sure first",
    "sure": "Surest first",
    "split": "Most disagreement first",
    "united": "Least disagreement first",
    "number": "As in the test set",
    "sets": "Largest set first",
}
EVERY = -1


def fitting(view: View, made: Predictions, classes: int, sets_too: bool) -> View:
    """`view` without what these predictions cannot show: an address may come from another run."""
    if view.label is not None and view.label >= classes:
        view = replace(view, label=None)
    if view.digit is not None and view.digit >= len(made.labels):
        view = replace(view, digit=None)
    if made.members == 1 and view.show == "split":
        view = replace(view, show="all")
    if made.members == 1 and view.order in ("split", "united"):
        view = replace(view, order=View.order)
    if view.order == "sets" and not sets_too:
        view = replace(view, order=View.order)
    return view


def epoch(epochs: Sequence[int], shown: int, run: runs.Run) -> None:
    """The epoch whose predictions are shown, where there is a choice."""
    if len(epochs) < 2:
        return
    bound(
        f"digits_epoch_{stamp(epochs)}",
        shown,
        lambda key: st.select_slider(
            "Epoch",
            epochs,
            key=key,
            width=260,
            on_change=follow,
            args=(key, "epoch", epochs[-1]),
            help="Every epoch's predictions are kept. The last is shown until you choose another. "
            f"{best_epoch(run)}",
        ),
    )


def best_epoch(run: runs.Run) -> str:
    """Which epoch was best and on what that was chosen, as a sentence; "" before there is one."""
    status = run.status
    if status.best_epoch is None:
        return ""
    return f"Best: epoch {status.best_epoch}, {chosen_words.how(status.best_on)}."


def filters(made: Predictions, view: View, names: Sequence[str], noun: str, sets_too: bool) -> None:
    """Which images, and in which order."""
    counts = {show: len(chosen(made, show, view.label)) for show in SHOWS}
    words = {"all": "All", "wrong": "Wrong", "split": "Members disagree"}
    shows = [show for show in SHOWS if show != "split" or made.members > 1]
    orders = [one for one in ORDERS if made.members > 1 or one not in ("split", "united")]
    if not sets_too:
        orders.remove("sets")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        bound(
            f"digits_show_{stamp(counts.values())}",
            view.show,
            lambda key: st.segmented_control(
                "Show",
                shows,
                key=key,
                required=True,
                on_change=follow,
                args=(key, "show"),
                format_func=lambda show: f"{words[show]} {counts[show]:,}",
            ),
        )
        label = EVERY if view.label is None else view.label
        bound(
            f"digits_class_{stamp(names)}",
            label,
            lambda key: st.selectbox(
                "Class",
                [EVERY, *range(len(names))],
                key=key,
                width=140,
                on_change=follow,
                args=(key, "label", EVERY),
                help=f"What the {noun} is, whatever the ensemble says.",
                format_func=lambda c: "Every class" if c == EVERY else names[c],
            ),
        )
        bound(
            f"digits_order_{len(orders)}",
            view.order,
            lambda key: st.selectbox(
                "Order",
                orders,
                key=key,
                width=206,
                on_change=follow,
                args=(key, "order"),
                format_func=ORDER_WORDS.__getitem__,
                help="Sure: the averaged probability of what the ensemble says. Disagreement: the "
                "share of pairs of members that vote differently, then how far their probabilities "
                "lie apart. Set: the conformal set, at the rate chosen below the answer.",
            ),
        )


def pages(total: int, size: int, first: int) -> int:
    """Page buttons where there is more than one page; returns the page's first place."""
    count = max(1, -(-total // size))
    page = min(first // size, count - 1)
    if count > 1:
        turn("Previous page", ":material/chevron_left:", page - 1, count, size)
        bound(
            f"digits_page_{count}",
            page,
            lambda key: st.selectbox(
                "Page",
                range(count),
                key=key,
                width=150,
                label_visibility="collapsed",
                format_func=lambda page: f"Page {page + 1:,} of {count:,}",
                on_change=turned,
                args=(key, size),
            ),
        )
        turn("Next page", ":material/chevron_right:", page + 1, count, size)
    return page * size


def turn(label: str, icon: str, page: int, count: int, size: int) -> None:
    """A button to the page before or after."""
    st.button(
        icon,
        key=label.lower().replace(" ", "_"),
        help=label,
        on_click=address.put,
        kwargs={"first": page * size},
        disabled=not 0 <= page < count,
    )


def opener(total: int, noun: str) -> None:
    """Opens an image by its number, also from the keyboard."""
    bound(
        f"digits_number_{total}",
        None,
        lambda key: st.number_input(
            f"Open test {noun} number",
            0,
            total - 1,
            key=key,
            width=240,
            on_change=opened,
            args=(key,),
            placeholder=f"Open {noun} 0 to {total - 1:,}",
            label_visibility="collapsed",
            icon=":material/open_in_full:",
            value=None,
        ),
    )


def stamp(parts: Iterable[object]) -> str:
    """A short word that differs when `parts` do."""
    return f"{zlib.crc32(' '.join(map(str, parts)).encode()):08x}"


def follow(key: str, field: str, default: Any = None) -> None:
    """Callback: the address follows the widget; what was open or paged to is left."""
    value = widget.value(key)
    value = None if value == default else value
    kept = {} if field == "epoch" else {"first": None, "digit": None}
    address.put(**{**kept, field: value})


def turned(key: str, size: int) -> None:
    """Callback of the page picker."""
    address.put(first=widget.value(key) * size)


def opened(key: str) -> None:
    """Callback of the number box."""
    address.put(digit=widget.value(key))
