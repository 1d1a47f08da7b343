"""One digit under stress: what the members make of it as it is turned, moved, blurred or faded."""

from typing import Any

import numpy as np
import streamlit as st

from ensemble.errors import RunError
from ensemble.figures import thumbnails
from ensemble.figures.inspect.one_image import Answers, alt, figure, table
from ensemble.figures.inspect.shift import amount
from ensemble.shift.corruptions import Kind, kinds
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.inspect.shift.answers import answers
from ensemble.ui.shared import address, theme, widget
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared.address import Word
from ensemble.ui.shared.guard import guarded
from ensemble.wording import escaping, formats
from ensemble.wording import images as images_words
from ensemble.wording.run_names import called

ROOM = 224  # pixels of the screen: eight for one of 28


def show(shown: SharedEpoch) -> None:
    """Draw the view; a move of the slider draws only the view again."""
    st.fragment(body)(shown)


def body(shown: SharedEpoch) -> None:
    """The image, the controls, and the picture over all amounts."""
    with guarded():
        number = address.NUMBER.within(usual(shown), 0, shown.n - 1)
        kind = choose(shown, number)
        try:
            asked = answers(shown.run, number, kind.name)
        except RunError as error:
            st.info(escaping.markdown(error), icon=":material/hourglass_empty:")
            return
        left, right = st.columns([1, 2], gap="large")
        with left:
            place = slider(kind, asked)
            image(shown, number, asked, kind, place)
        with right:
            picture(shown, number, asked, kind, place)


def usual(shown: SharedEpoch) -> int:
    """The image to begin with: the one that the members disagree about most."""
    return int(np.argmax(shown.predictions.information))


def choose(shown: SharedEpoch, number: int) -> Kind:
    """The controls for the image and the corruption; what they say stands in the address."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button(
            "Previous",
            key="stress_previous",
            disabled=number == 0,
            on_click=address.NUMBER.put,
            args=(number - 1,),
        )
        address.bound(
            "stress_number",
            number,
            lambda key: st.number_input(
                f"Test {shown.noun}",
                0,
                shown.n - 1,
                key=key,
                width=150,
                on_change=typed,
                help=f"Any of the test set, from 0 to {shown.n - 1:,}.",
            ),
        )
        st.button(
            "Next",
            key="stress_next",
            disabled=number == shown.n - 1,
            on_click=address.NUMBER.put,
            args=(number + 1,),
        )
        every = kinds(shown.dataset.image_shape)
        name = address.choose(
            address.KIND,
            "Corruption",
            {name: kind.title for name, kind in every.items()},
            next(iter(every)),
            on_change=other_kind,
        )
    return every[name]


def typed() -> None:
    """Callback of the number: the address follows."""
    address.NUMBER.put(widget.value("stress_number"))


def other_kind(word: Word[Any], key: str, default: str) -> None:
    """Callback of the kind: the address follows, and begins without corruption."""
    address.AMOUNT.put(None)
    address.follow(word, key, default)


def slider(kind: Kind, asked: Answers) -> int:
    """How much to corrupt; returns the slider's place among the amounts."""
    words = {f"{value:g}": place for place, value in enumerate(asked.amounts)}
    word = address.AMOUNT.among(words, f"{kind.neutral:g}")
    address.bound(
        f"stress_amount_{kind.name}",
        word,
        lambda key: st.select_slider(
            kind.title,
            list(words),
            key=key,
            on_change=moved,
            args=(kind,),
            format_func=lambda word: amount(kind, float(word)),
        ),
    )
    return words[word]


def moved(kind: Kind) -> None:
    """Callback of the slider: the address follows."""
    address.AMOUNT.put(widget.value(f"stress_amount_{kind.name}"), f"{kind.neutral:g}")


def image(shown: SharedEpoch, number: int, asked: Answers, kind: Kind, place: int) -> None:
    """The image as the members see it, and what they say of it."""
    made, names = asked.made, shown.class_names
    label = images_words.named(names[int(made.labels[place])], names)
    at = amount(kind, asked.amounts[place])
    shape = asked.images.shape[1:]
    st.image(
        thumbnails.enlarged(asked.images[place], ROOM),
        width=thumbnails.on_screen(shape, ROOM)[0],
        alt=f"Test {shown.noun} {number}, {label}; {kind.title.lower()} {at}",
    )
    mark = "✓ Right" if made.right[place] else "✗ Wrong"
    st.markdown(
        f"**{mark} at {at}.** {escaping.markdown(images_words.sentence(made, place, names))}"
    )
    entropy, information = asked.unsure.predictive[place], asked.unsure.information[place]
    said = f"Uncertainty: {formats.significant(entropy, 2)} nats"
    if made.members > 1:
        said += f", {formats.significant(information, 2)} of them the members' disagreement"
    more = asked.members.steps_after
    after = f" and {formats.count(more, 'step')}" if more else ""
    st.caption(f"{said}. Members of the last checkpoint, at epoch {asked.members.epoch}{after}.")


def picture(shown: SharedEpoch, number: int, asked: Answers, kind: Kind, place: int) -> None:
    """Everything over the amount, with a line where the slider stands."""
    names = shown.class_names
    title = f"Test {shown.noun} {number} · {kind.title} · {called(shown.run)}"
    pictures.show(
        figure(asked, kind, place, names, title, theme.palette()),
        key="stress_digit",
        of=shown.run,
        name=f"{shown.run.id}-{shown.noun}-{number}-{kind.name}",
        title=f"One {shown.noun} under stress",
        alt=alt(asked, kind, names),
        table=lambda: table(asked, kind, names),
        sees=sentence(asked, kind, shown.noun),
    )


def sentence(asked: Answers, kind: Kind, noun: str) -> str:
    """How far the ensemble stays right, from the image as it is on."""
    right, amounts = asked.made.right, asked.amounts
    start = amounts.index(kind.neutral)
    who = "The ensemble" if asked.made.members > 1 else "The one member"
    if not right[start]:
        return f"{who} gets this {noun} wrong as it is; it is right at {counted(right)}."
    low = high = start
    while low and right[low - 1]:
        low -= 1
    while high < len(right) - 1 and right[high + 1]:
        high += 1
    if high - low == len(right) - 1:
        return f"{who} stays right at every amount."
    if low == high:
        return f"{who} is right on this {noun} as it is, and at no amount next to that."
    first, last = amount(kind, amounts[low]), amount(kind, amounts[high])
    return f"{who} stays right from {first} to {last}."


def counted(right: np.ndarray) -> str:
    """At how many amounts it is right."""
    return f"{int(right.sum())} of {len(right)} amounts" if right.any() else "none of the amounts"
