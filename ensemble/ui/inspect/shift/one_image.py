"""One digit under stress: what the members make of it as it is turned, moved, blurred or faded."""

from typing import Any

import numpy as np
import streamlit as st

from ensemble.errors import RunError
from ensemble.figures import thumbnails
from ensemble.shift.corruptions import Corruption, scale_corruptions
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.inspect.shift.corruption_answers import predict_corrupted_image
from ensemble.ui.shared import address, theme, widget_state
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared.address import QueryParameter
from ensemble.ui.shared.guard import guard_page
from ensemble.views.image_corruption import (
    CorruptionAnswers,
    describe_image_corruption_chart,
    plot_image_corruption,
    tabulate_image_corruption,
)
from ensemble.wording import escaping, formats
from ensemble.wording import images as images_words
from ensemble.wording.run_names import format_run_name

_IMAGE_SIDE_PX = 224  # pixels of the screen: eight for one of 28


def show_corrupted_image(shared: SharedEpoch) -> None:
    """Draw the view; a move of the slider draws only the view again."""
    st.fragment(_refresh_corrupted_image)(shared)


def _refresh_corrupted_image(shared: SharedEpoch) -> None:
    with guard_page():
        number = address.NUMBER.read_within(_find_most_disputed_image(shared), 0, shared.n - 1)
        kind = _select_corruption(shared, number)
        try:
            answers = predict_corrupted_image(shared.run, number, kind.name)
        except RunError as error:
            st.info(escaping.escape_markdown(error), icon=":material/hourglass_empty:")
            return
        left, right = st.columns([1, 2], gap="large")
        with left:
            place = _select_corruption_amount(kind, answers)
            _show_image_at_amount(shared, number, answers, kind, place)
        with right:
            _show_corruption_chart(shared, number, answers, kind, place)


def _find_most_disputed_image(shared: SharedEpoch) -> int:
    """The image to begin with: the one that the members disagree about most."""
    return int(np.argmax(shared.predictions.epistemic))


def _select_corruption(shared: SharedEpoch, number: int) -> Corruption:
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
            lambda key: widget_state.draw_widget(
                st.number_input,
                f"Test {shared.noun}",
                0,
                shared.n - 1,
                key=key,
                width=150,
                on_change=_update_number_address,
                help=f"Any of the test set, from 0 to {shared.n - 1:,}.",
            ),
        )
        st.button(
            "Next",
            key="stress_next",
            disabled=number == shared.n - 1,
            on_click=address.NUMBER.set_value,
            args=(number + 1,),
        )
        every = scale_corruptions(shared.dataset.image_shape)
        name = address.select_address_option(
            address.KIND,
            "Corruption",
            {name: kind.title for name, kind in every.items()},
            next(iter(every)),
            on_change=_update_corruption_address,
        )
    return every[name]


def _update_number_address() -> None:
    """Callback of the number: the address follows."""
    address.NUMBER.set_value(widget_state.get_widget_value("stress_number"))


def _update_corruption_address(word: QueryParameter[Any], key: str, default: str) -> None:
    """Callback of the kind: the address follows, and begins without corruption."""
    address.AMOUNT.set_value(None)
    address.update_address(word, key, default)


def _select_corruption_amount(kind: Corruption, answers: CorruptionAnswers) -> int:
    """How much to corrupt; returns the slider's place among the amounts."""
    words = {f"{value:g}": place for place, value in enumerate(answers.amounts)}
    word = address.AMOUNT.read_option(words, f"{kind.neutral_amount:g}")
    address.show_address_widget(
        f"stress_amount_{kind.name}",
        word,
        lambda key: widget_state.draw_widget(
            st.select_slider,
            kind.title,
            list(words),
            key=key,
            on_change=_update_amount_address,
            args=(kind,),
            format_func=lambda word: kind.format_amount(float(word)),
        ),
    )
    return words[word]


def _update_amount_address(kind: Corruption) -> None:
    """Callback of the slider: the address follows."""
    address.AMOUNT.set_value(widget_state.get_widget_value(f"stress_amount_{kind.name}"), f"{kind.neutral_amount:g}")


def _show_image_at_amount(
    shared: SharedEpoch, number: int, answers: CorruptionAnswers, kind: Corruption, place: int
) -> None:
    predictions, names = answers.predictions, shared.class_names
    label = images_words.format_true_class(names[int(predictions.labels[place])], names)
    at = kind.format_amount(answers.amounts[place])
    shape = answers.images.shape[1:]
    st.image(
        thumbnails.encode_enlarged_image(answers.images[place], _IMAGE_SIDE_PX),
        width=thumbnails.compute_display_size(shape, _IMAGE_SIDE_PX)[0],
        alt=f"Test {shared.noun} {number}, {label}; {kind.title.lower()} {at}",
    )
    mark = "✓ Right" if predictions.right[place] else "✗ Wrong"
    prediction = images_words.describe_image_prediction(predictions, place, names)
    st.markdown(f"**{mark} at {at}.** {escaping.escape_markdown(prediction)}")
    entropy, epistemic = (answers.measures[name][place] for name in ("entropy", "epistemic"))
    text = f"Uncertainty: {formats.format_significant(entropy, 2)} nats"
    if predictions.members > 1:
        text += f", {formats.format_significant(epistemic, 2)} of them the members' disagreement"
    more = answers.members.steps_after
    after = f" and {formats.format_count(more, 'step')}" if more else ""
    st.caption(f"{text}. Members at epoch {answers.members.epoch}{after}.")


def _show_corruption_chart(
    shared: SharedEpoch, number: int, answers: CorruptionAnswers, kind: Corruption, place: int
) -> None:
    names = shared.class_names
    title = f"Test {shared.noun} {number} · {kind.title} · {format_run_name(shared.run)}"
    pictures.show_figure_panel(
        plot_image_corruption(answers, kind, place=place, names=names, title=title, palette=theme.get_page_palette()),
        key="stress_digit",
        job=shared.run,
        name=f"{shared.run.id}-{shared.noun}-{number}-{kind.name}",
        title=f"One {shared.noun} under stress",
        alt=describe_image_corruption_chart(answers, kind, names),
        table=lambda: tabulate_image_corruption(answers, kind, names),
        sees=_describe_correct_range(answers, kind, shared.noun),
    )


def _describe_correct_range(answers: CorruptionAnswers, kind: Corruption, noun: str) -> str:
    right, amounts = answers.predictions.right, answers.amounts
    start = amounts.index(kind.neutral_amount)
    who = "The ensemble" if answers.predictions.members > 1 else "The one member"
    if not right[start]:
        return f"{who} gets this {noun} wrong as it is; it is right at {_format_correct_count(right)}."
    low = high = start
    while low and right[low - 1]:
        low -= 1
    while high < len(right) - 1 and right[high + 1]:
        high += 1
    if high - low == len(right) - 1:
        return f"{who} stays right at every amount."
    if low == high:
        return f"{who} is right on this {noun} as it is, and at no amount next to that."
    first, last = (kind.format_amount(amounts[low]), kind.format_amount(amounts[high]))
    return f"{who} stays right from {first} to {last}."


def _format_correct_count(right: np.ndarray) -> str:
    return f"{int(right.sum())} of {len(right)} amounts" if right.any() else "none of the amounts"
