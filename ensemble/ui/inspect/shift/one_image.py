"""One digit under stress: what the members make of it as it is turned, moved, blurred or faded."""

from typing import Any

import numpy as np
import streamlit as st

from ensemble.errors import RunError
from ensemble.figures import thumbnails
from ensemble.figures.inspect.image_corruption import (
    CorruptionAnswers,
    describe_image_corruption_chart,
    plot_image_corruption,
    tabulate_image_corruption,
)
from ensemble.figures.inspect.shift import format_corruption_amount
from ensemble.shift.corruptions import Corruption, scale_corruptions
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.inspect.shift.corruption_answers import predict_corrupted_image
from ensemble.ui.shared import address, theme, widget_state
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared.address import QueryParameter
from ensemble.ui.shared.guard import guard_page
from ensemble.wording import escaping, formats
from ensemble.wording import images as images_words
from ensemble.wording.run_names import format_run_name

IMAGE_SIDE_PX = 224  # pixels of the screen: eight for one of 28


def show_corrupted_image(shown: SharedEpoch) -> None:
    """Draw the view; a move of the slider draws only the view again."""
    st.fragment(refresh_corrupted_image)(shown)


def refresh_corrupted_image(shown: SharedEpoch) -> None:
    """The image, the controls, and the picture over all amounts."""
    with guard_page():
        number = address.NUMBER.read_within(find_most_disputed_image(shown), 0, shown.n - 1)
        kind = select_corruption(shown, number)
        try:
            asked = predict_corrupted_image(shown.run, number, kind.name)
        except RunError as error:
            st.info(escaping.escape_markdown(error), icon=":material/hourglass_empty:")
            return
        left, right = st.columns([1, 2], gap="large")
        with left:
            place = select_corruption_amount(kind, asked)
            show_image_at_amount(shown, number, asked, kind, place)
        with right:
            show_corruption_chart(shown, number, asked, kind, place)


def find_most_disputed_image(shown: SharedEpoch) -> int:
    """The image to begin with: the one that the members disagree about most."""
    return int(np.argmax(shown.predictions.information))


def select_corruption(shown: SharedEpoch, number: int) -> Corruption:
    """The controls for the image and the corruption; what they say stands in the address."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button(
            "Previous",
            key="stress_previous",
            disabled=number == 0,
            on_click=address.NUMBER.set_value,
            args=(number - 1,),
        )
        address.show_address_widget(
            "stress_number",
            number,
            lambda key: st.number_input(
                f"Test {shown.noun}",
                0,
                shown.n - 1,
                key=key,
                width=150,
                on_change=update_number_address,
                help=f"Any of the test set, from 0 to {shown.n - 1:,}.",
            ),
        )
        st.button(
            "Next",
            key="stress_next",
            disabled=number == shown.n - 1,
            on_click=address.NUMBER.set_value,
            args=(number + 1,),
        )
        every = scale_corruptions(shown.dataset.image_shape)
        name = address.select_address_option(
            address.KIND,
            "Corruption",
            {name: kind.title for name, kind in every.items()},
            next(iter(every)),
            on_change=update_corruption_address,
        )
    return every[name]


def update_number_address() -> None:
    """Callback of the number: the address follows."""
    address.NUMBER.set_value(widget_state.get_widget_value("stress_number"))


def update_corruption_address(word: QueryParameter[Any], key: str, default: str) -> None:
    """Callback of the kind: the address follows, and begins without corruption."""
    address.AMOUNT.set_value(None)
    address.update_address(word, key, default)


def select_corruption_amount(kind: Corruption, asked: CorruptionAnswers) -> int:
    """How much to corrupt; returns the slider's place among the amounts."""
    words = {f"{value:g}": place for place, value in enumerate(asked.amounts)}
    word = address.AMOUNT.read_option(words, f"{kind.neutral_amount:g}")
    address.show_address_widget(
        f"stress_amount_{kind.name}",
        word,
        lambda key: st.select_slider(
            kind.title,
            list(words),
            key=key,
            on_change=update_amount_address,
            args=(kind,),
            format_func=lambda word: format_corruption_amount(kind, float(word)),
        ),
    )
    return words[word]


def update_amount_address(kind: Corruption) -> None:
    """Callback of the slider: the address follows."""
    address.AMOUNT.set_value(
        widget_state.get_widget_value(f"stress_amount_{kind.name}"), f"{kind.neutral_amount:g}"
    )


def show_image_at_amount(
    shown: SharedEpoch, number: int, asked: CorruptionAnswers, kind: Corruption, place: int
) -> None:
    """The image as the members see it, and what they say of it."""
    made, names = asked.predictions, shown.class_names
    label = images_words.format_true_class(names[int(made.labels[place])], names)
    at = format_corruption_amount(kind, asked.amounts[place])
    shape = asked.images.shape[1:]
    st.image(
        thumbnails.encode_enlarged_image(asked.images[place], IMAGE_SIDE_PX),
        width=thumbnails.compute_display_size(shape, IMAGE_SIDE_PX)[0],
        alt=f"Test {shown.noun} {number}, {label}; {kind.title.lower()} {at}",
    )
    mark = "✓ Right" if made.right[place] else "✗ Wrong"
    st.markdown(
        f"**{mark} at {at}.** "
        f"{escaping.escape_markdown(images_words.describe_image_prediction(made, place, names))}"
    )
    entropy, information = asked.uncertainty.predictive[place], asked.uncertainty.information[place]
    said = f"Uncertainty: {formats.format_significant(entropy, 2)} nats"
    if made.members > 1:
        said += f", {formats.format_significant(information, 2)} of them the members' disagreement"
    more = asked.members.steps_after
    after = f" and {formats.format_count(more, 'step')}" if more else ""
    st.caption(f"{said}. Members of the last checkpoint, at epoch {asked.members.epoch}{after}.")


def show_corruption_chart(
    shown: SharedEpoch, number: int, asked: CorruptionAnswers, kind: Corruption, place: int
) -> None:
    """Everything over the amount, with a line where the slider stands."""
    names = shown.class_names
    title = f"Test {shown.noun} {number} · {kind.title} · {format_run_name(shown.run)}"
    pictures.show_figure_panel(
        plot_image_corruption(asked, kind, place, names, title, theme.get_page_palette()),
        key="stress_digit",
        of=shown.run,
        name=f"{shown.run.id}-{shown.noun}-{number}-{kind.name}",
        title=f"One {shown.noun} under stress",
        alt=describe_image_corruption_chart(asked, kind, names),
        table=lambda: tabulate_image_corruption(asked, kind, names),
        sees=describe_correct_range(asked, kind, shown.noun),
    )


def describe_correct_range(asked: CorruptionAnswers, kind: Corruption, noun: str) -> str:
    """How far the ensemble stays right, from the image as it is on."""
    right, amounts = asked.predictions.right, asked.amounts
    start = amounts.index(kind.neutral_amount)
    who = "The ensemble" if asked.predictions.members > 1 else "The one member"
    if not right[start]:
        return (
            f"{who} gets this {noun} wrong as it is; it is right at {format_correct_count(right)}."
        )
    low = high = start
    while low and right[low - 1]:
        low -= 1
    while high < len(right) - 1 and right[high + 1]:
        high += 1
    if high - low == len(right) - 1:
        return f"{who} stays right at every amount."
    if low == high:
        return f"{who} is right on this {noun} as it is, and at no amount next to that."
    first, last = (
        format_corruption_amount(kind, amounts[low]),
        format_corruption_amount(kind, amounts[high]),
    )
    return f"{who} stays right from {first} to {last}."


def format_correct_count(right: np.ndarray) -> str:
    """At how many amounts it is right."""
    return f"{int(right.sum())} of {len(right)} amounts" if right.any() else "none of the amounts"
