"""Which image is looked at: the most disputed one, the next, or one by its number."""

import streamlit as st

from ensemble.analysis.predictions import Predictions, chosen, ordered
from ensemble.analysis.quality.averaging import Ints
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.shared import address, widget

MOST = 200  # disputed images that are gone through, the most disputed first


def disputed(made: Predictions) -> Ints:
    """The images that the members dispute most; where they agree on all, the least sure ones."""
    split = chosen(made, "split")
    if len(split):
        return ordered(made, split, "split")[:MOST]
    return ordered(made, chosen(made), "unsure")[:MOST]


def number(shown: SharedEpoch) -> int:
    """The image that the address names, else the most disputed one."""
    found = address.IMAGE.read()
    if found is not None and found < shown.n:
        return found
    return int(shown.measure(disputed)[0])


def controls(shown: SharedEpoch, number: int) -> None:
    """Another image: the next that is disputed, or one by its number."""
    numbers = shown.measure(disputed)
    found = (numbers == number).nonzero()[0]
    after = numbers[(int(found[0]) + 1) % len(numbers)] if len(found) else numbers[0]
    disputed_one = "disputed " if shown.predictions.split.any() else ""
    st.button(
        f"Another {disputed_one}{shown.noun}",
        key="why_other",
        icon=":material/shuffle:",
        on_click=go,
        args=(int(after),),
        disabled=len(numbers) < 2,
    )
    address.bound(
        f"why_number_{shown.n}",
        number,
        lambda key: st.number_input(
            f"Test {shown.noun} number",
            0,
            shown.n - 1,
            key=key,
            width=150,
            on_change=asked,
            args=(key,),
            label_visibility="collapsed",
            help=f"Any of 0 to {shown.n - 1:,}",
            value=widget.held(key),
        ),
    )


def go(number: int) -> None:
    """Callback: another image, from the first step."""
    address.IMAGE.put(number)
    address.STEP.put(None)


def asked(key: str) -> None:
    """Callback of the number's box."""
    if (number := widget.value(key)) is not None:
        go(int(number))
