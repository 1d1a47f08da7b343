"""Which of the test images are shown, in which order: controls that write to the address."""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from ensemble import runs
from ensemble.analysis.predictions import (
    EXAMPLE_FILTERS,
    EXAMPLE_ORDERS,
    MEASURE_ORDERS,
    EnsemblePredictions,
    filter_examples,
)
from ensemble.ui.predictions import predictions_view
from ensemble.ui.predictions.predictions_view import PredictionsView
from ensemble.ui.shared import widget_state
from ensemble.ui.shared.address import show_address_widget
from ensemble.ui.shared.tab import tab
from ensemble.wording.verdicts import selection_basis as chosen_words

_ORDER_LABELS = {
    "unsure": "Least sure first",
    "sure": "Surest first",
    "split": "Most disagreement first",
    "united": "Least disagreement first",
    "number": "As in the test set",
    "sets": "Longest list first",
    **{name: f"{measure.title} first" for name, measure in MEASURE_ORDERS.items()},
}
_MEMBERS_ORDERS = {"split", "united", *(name for name, measure in MEASURE_ORDERS.items() if measure.needs_members)}
_EVERY_CLASS = -1


def restrict_predictions_view(
    view: PredictionsView, predictions: EnsemblePredictions, classes: int, sets_too: bool
) -> PredictionsView:
    """`view` without what these predictions cannot show: an address may come from another run."""
    if view.label is not None and view.label >= classes:
        view = replace(view, label=None)
    if view.digit is not None and view.digit >= len(predictions.labels):
        view = replace(view, digit=None)
    if predictions.members == 1 and view.show == "split":
        view = replace(view, show="all")
    if predictions.members == 1 and view.order in _MEMBERS_ORDERS:
        view = replace(view, order=PredictionsView.order)
    if view.order == "sets" and not sets_too:
        view = replace(view, order=PredictionsView.order)
    return view


def show_predictions_epoch_slider(epochs: Sequence[int], epoch: int, run: runs.Run) -> None:
    if len(epochs) < 2:
        return
    show_address_widget(
        f"digits_epoch_{hash_options(epochs)}",
        epoch,
        lambda key: widget_state.draw_widget(
            st.select_slider,
            "Epoch",
            epochs,
            key=key,
            width=260,
            on_change=update_epoch_address,
            args=(key, run.id, runs.select_default_epoch(run, epochs)),
            help=f"Every epoch's predictions are kept. {describe_default_epoch(run, epochs)}",
        ),
    )


def describe_default_epoch(run: runs.Run, epochs: Sequence[int]) -> str:
    """Which epoch stands until another is chosen, and which was best on what images."""
    usual, status = runs.select_default_epoch(run, epochs), run.status
    if runs.is_chosen_on_validation(run, usual):
        return f"Epoch {usual} stands until you choose another: it was {chosen_words.CHOSEN_ON_VALIDATION}."
    sentence = "The last stands until you choose another."
    if status.best_epoch is None:
        return sentence
    basis = chosen_words.describe_selection_basis(status.best_on)
    return f"{sentence} Best: epoch {status.best_epoch}, {basis}."


def update_epoch_address(key: str, run_id: str, usual: int) -> None:
    """Callback: the epoch that was chosen is shown, and the address names it unless it is usual."""
    epoch = widget_state.get_widget_value(key)
    tab.held_epoch = run_id, epoch  # what is usual may change while the run goes on
    predictions_view.update_predictions_view(epoch=None if epoch == usual else epoch)


def show_image_filters(
    predictions: EnsemblePredictions, view: PredictionsView, names: Sequence[str], noun: str, sets_too: bool
) -> None:
    counts = {show: len(filter_examples(predictions, show, view.label)) for show in EXAMPLE_FILTERS}
    words = {"all": "All", "wrong": "Wrong", "split": "Members disagree"}
    shows = [show for show in EXAMPLE_FILTERS if show != "split" or predictions.members > 1]
    orders = [order for order in EXAMPLE_ORDERS if predictions.members > 1 or order not in _MEMBERS_ORDERS]
    if not sets_too:
        orders.remove("sets")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        show_address_widget(
            f"digits_show_{hash_options(counts.values())}",
            view.show,
            lambda key: widget_state.draw_widget(
                st.segmented_control,
                "Show",
                shows,
                key=key,
                required=True,
                on_change=_update_filter_address,
                args=(key, "show"),
                format_func=lambda show: f"{words[show]} {counts[show]:,}",
            ),
        )
        label = _EVERY_CLASS if view.label is None else view.label
        show_address_widget(
            f"digits_class_{hash_options(names)}",
            label,
            lambda key: widget_state.draw_widget(
                st.selectbox,
                "Class",
                [_EVERY_CLASS, *range(len(names))],
                key=key,
                width=140,
                on_change=_update_filter_address,
                args=(key, "label", _EVERY_CLASS),
                help=f"What the {noun} is, whatever the ensemble says.",
                format_func=lambda c: "Every class" if c == _EVERY_CLASS else names[c],
            ),
        )
        show_address_widget(
            f"digits_order_{len(orders)}",
            view.order,
            lambda key: widget_state.draw_widget(
                st.selectbox,
                "Order",
                orders,
                key=key,
                width=206,
                on_change=_update_filter_address,
                args=(key, "order"),
                format_func=_ORDER_LABELS.__getitem__,
                help="Sure: the averaged probability of what the ensemble says. Disagreement: the "
                "share of pairs of members that vote differently, then how far their probabilities "
                "lie apart. List: the conformal set, at the rate chosen below the answer.",
            ),
        )


def select_gallery_page(total: int, size: int, first: int) -> int:
    """Page buttons where there is more than one page; returns the page's first place."""
    count = max(1, -(-total // size))
    page = min(first // size, count - 1)
    if count > 1:
        _show_page_button("Previous page", ":material/chevron_left:", page - 1, count, size)
        show_address_widget(
            f"digits_page_{count}",
            page,
            lambda key: widget_state.draw_widget(
                st.selectbox,
                "Page",
                range(count),
                key=key,
                width=150,
                label_visibility="collapsed",
                format_func=lambda page: f"Page {page + 1:,} of {count:,}",
                on_change=_update_page_address,
                args=(key, size),
            ),
        )
        _show_page_button("Next page", ":material/chevron_right:", page + 1, count, size)
    return page * size


def _show_page_button(label: str, icon: str, page: int, count: int, size: int) -> None:
    st.button(
        icon,
        key=label.lower().replace(" ", "_"),
        help=label,
        on_click=predictions_view.update_predictions_view,
        kwargs={"first": page * size},
        disabled=not 0 <= page < count,
    )


def show_image_number_input(total: int, noun: str) -> None:
    """Opens an image by its number, also from the keyboard."""
    show_address_widget(
        f"digits_number_{total}",
        None,
        lambda key: widget_state.draw_widget(
            st.number_input,
            f"Open test {noun} number",
            0,
            total - 1,
            key=key,
            width=240,
            on_change=_open_image_by_number,
            args=(key,),
            placeholder=f"Open {noun} 0 to {total - 1:,}",
            label_visibility="collapsed",
            icon=":material/open_in_full:",
            value=None,
        ),
    )


def hash_options(parts: Iterable[object]) -> str:
    """A short word that differs when `parts` do."""
    return f"{zlib.crc32(' '.join(map(str, parts)).encode()):08x}"


def _update_filter_address(key: str, field: str, default: Any = None) -> None:
    """Callback: the address follows the widget; what was open or paged to is left."""
    value = widget_state.get_widget_value(key)
    value = None if value == default else value
    predictions_view.update_predictions_view(**{"first": None, "digit": None, field: value})


def _update_page_address(key: str, size: int) -> None:
    predictions_view.update_predictions_view(first=widget_state.get_widget_value(key) * size)


def _open_image_by_number(key: str) -> None:
    predictions_view.update_predictions_view(digit=widget_state.get_widget_value(key))
