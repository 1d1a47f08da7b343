"""Which image is looked at: the most disputed one, the next, or one by its number."""

import streamlit as st

from ensemble.analysis.predictions import EnsemblePredictions, filter_examples, sort_examples
from ensemble.analysis.quality.averaging import Ints
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.shared import address, widget_state

_MAX_DISPUTED_IMAGES = 200  # disputed images that are gone through, the most disputed first


def _rank_disputed_images(predictions: EnsemblePredictions) -> Ints:
    """The images that the members dispute most; where they agree on all, the least sure ones."""
    split = filter_examples(predictions, "split")
    if len(split):
        return sort_examples(predictions, split, "split")[:_MAX_DISPUTED_IMAGES]
    return sort_examples(predictions, filter_examples(predictions), "unsure")[:_MAX_DISPUTED_IMAGES]


def select_image_number(shared: SharedEpoch) -> int:
    number = address.IMAGE.read()
    if number is not None and number < shared.n:
        return number
    return int(shared.measure(_rank_disputed_images)[0])


def show_image_choice(shared: SharedEpoch, number: int) -> None:
    """Another image: the next that is disputed, or one by its number."""
    numbers = shared.measure(_rank_disputed_images)
    places = (numbers == number).nonzero()[0]
    after = numbers[(int(places[0]) + 1) % len(numbers)] if len(places) else numbers[0]
    disputed_one = "disputed " if shared.predictions.split.any() else ""
    st.button(
        f"Another {disputed_one}{shared.noun}",
        key="why_other",
        icon=":material/shuffle:",
        on_click=_open_other_image,
        args=(int(after),),
        disabled=len(numbers) < 2,
    )
    address.show_address_widget(
        f"why_number_{shared.n}",
        number,
        lambda key: widget_state.draw_widget(
            st.number_input,
            f"Test {shared.noun} number",
            0,
            shared.n - 1,
            key=key,
            width=150,
            on_change=_open_typed_image,
            args=(key,),
            label_visibility="collapsed",
            help=f"Any of 0 to {shared.n - 1:,}",
        ),
    )


def _open_other_image(number: int) -> None:
    """Callback: another image, from the first step."""
    address.IMAGE.set_value(number)
    address.STEP.set_value(None)


def _open_typed_image(key: str) -> None:
    if (number := widget_state.get_widget_value(key)) is not None:
        _open_other_image(int(number))
