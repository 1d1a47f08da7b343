"""One test image opened: what it is, what the ensemble says, and how its members came to it."""

from dataclasses import dataclass

import streamlit as st

from ensemble import runs
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.figures import bars, thumbnails
from ensemble.ui.predictions import address, downloads, sets
from ensemble.ui.predictions.fitting import Fitting
from ensemble.ui.shared import address as shared
from ensemble.ui.shared import theme
from ensemble.ui.shared.guard import guarded
from ensemble.wording import escaping
from ensemble.wording import images as images_words

ROOM = 168  # pixels of the screen: six for one of 28


@dataclass(frozen=True)
class Shown:
    """What an image is opened from.

    Attributes:
      made: the predictions.
      dataset: their images and classes.
      numbers: (K,), the images that can be gone through, in order.
      noun: what an image is called.
      source: the run and epoch as people call them, for titles.
      place: the run's id and epoch, for names of files.
      fitting: what its conformal set is calibrated on; None: the other half of the test images.
    """

    made: Predictions
    dataset: runs.TestSet
    numbers: Ints
    noun: str
    source: str
    place: str
    fitting: Fitting | None


def show(shown: Shown) -> None:
    """Open the image that the address names, over the page; closing it takes it out again."""
    st.dialog(f"Test {shown.noun}", width="medium", on_dismiss=close)(body)(shown)


def close() -> None:
    """Callback: the address names no image any more."""
    address.put(digit=None)


def go(number: int | None) -> None:
    """Callback: open another image."""
    address.put(digit=number)


def body(shown: Shown) -> None:
    """The inside of the dialog: reruns by itself when another image is asked for."""
    number = address.read().digit
    if number is None or number >= len(shown.made.labels):
        return
    with guarded():
        words(shown, number)
        chart(shown, number)
        footer(shown, number)


def words(shown: Shown, number: int) -> None:
    """The image beside what is said of it."""
    names, label = shown.dataset.class_names, shown.made.labels[number]
    mark = "✓ Right" if shown.made.right[number] else "✗ Wrong"
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        image = shown.dataset.tiles[number]
        st.image(
            thumbnails.enlarged(image, ROOM),
            width=thumbnails.on_screen(image.shape, ROOM)[0],
            alt=f"Test {shown.noun} {number}, {images_words.named(names[label], names)}",
        )
        with st.container(width=420):
            st.subheader(f"{mark} · #{number}", anchor=False)
            st.markdown(escaping.markdown(images_words.sentence(shown.made, number, names)))
            if said := sets.one(shown.made, number, names, shown.fitting):
                st.markdown(escaping.markdown(said), help=sets.help(shown.fitting))


def chart(shown: Shown, number: int) -> None:
    """Bars and dots, and how to read them."""
    made, names = shown.made, shown.dataset.class_names
    title = f"{shown.noun.capitalize()} {number} · {shown.source}"
    st.plotly_chart(
        bars.figure(made, number, names, title, theme.palette()),
        key="digit_bars",
        alt=bars.alt(made, number, names),
        config=bars.config(f"{shown.noun.capitalize()} {number} · {shown.place}"),
    )
    some = (
        ""
        if len(names) <= bars.MOST
        else (
            f"The {bars.MOST} likeliest of {len(names):,} classes, with what it is; the file has "
            f"all. "
        )
    )
    dots = "Bars: the averaged probabilities. Dots: each member's own." if made.members > 1 else ""
    if some or dots:
        st.caption(some + dots)


def footer(shown: Shown, number: int) -> None:
    """The images before and after this one, in the order of the page; its figures as a file."""
    made, names, numbers = shown.made, shown.dataset.class_names, shown.numbers
    found = (numbers == number).nonzero()[0]
    # One that the filter leaves out, opened by its number, stands before all others.
    place = int(found[0]) if len(found) else -1
    with st.container(horizontal=True, vertical_alignment="center"):
        neighbour("Previous", "Left", numbers, place - 1)
        neighbour("Next", "Right", numbers, place + 1)
        if place >= 0:
            st.caption(f"{place + 1:,} of {len(numbers):,}", width="content")
        st.space("stretch")
        if made.split[number]:
            why(number)
        st.download_button(
            "Figures (CSV)",
            lambda: downloads.of_one(made, number, names),
            f"{escaping.file_name(shown.place.replace(' · ', '-'))}-{number}.csv",
            "text/csv",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
            key="digit_csv",
        )


def why(number: int) -> None:
    """The way to what splits the members here, in five steps."""
    words = (shared.RUN, shared.RUN.read()), (shared.EPOCH, shared.EPOCH.read())
    query = {word.name: str(value) for word, value in words if value is not None}
    st.page_link(
        "pages/why.py",
        label="Why do they disagree?",
        icon=":material/help_center:",
        query_params={**query, **shared.IMAGE.link(number)},
    )


def neighbour(label: str, key: str, numbers: Ints, place: int) -> None:
    """A button to another place in the order; disabled where there is none."""
    there = 0 <= place < len(numbers)
    st.button(
        label,
        key=f"digit_{label.lower()}",
        disabled=not there,
        on_click=go,
        args=(int(numbers[place]) if there else None,),
        shortcut=key,
    )
