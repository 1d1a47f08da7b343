"""The test images that were asked for, a page at a time, and what can be done with them."""

import streamlit as st

from ensemble import runs
from ensemble.analysis.predictions import Predictions, chosen, ordered
from ensemble.analysis.quality.averaging import Ints
from ensemble.figures import thumbnails
from ensemble.ui.predictions import address, controls, downloads, fitting, grid, sets
from ensemble.ui.predictions.address import View
from ensemble.views import example_table
from ensemble.wording import escaping
from ensemble.wording import images as images_words
from ensemble.wording.run_names import called


def show(
    run: runs.Run, epoch: int, made: Predictions, dataset: runs.TestSet, view: View, noun: str
) -> Ints:
    """Draw the page of images that `view` asks for; returns all that it asks for, in order."""
    by_sets = view.order == "sets"
    sizes = sets.of(made, fitting.of(run, epoch)).sum(axis=1) if by_sets else None
    numbers = ordered(made, chosen(made, view.show, view.label), view.order, sizes)
    if not len(numbers):
        nothing(made, view, dataset, noun)
        return numbers
    size = grid.per_page()
    with st.container(horizontal=True, vertical_alignment="center", key="digits_pages"):
        first = controls.pages(len(numbers), size, view.first)
        page = numbers[first : first + size]
        if len(numbers) > 1:
            st.caption(f"{first + 1:,}–{first + len(page):,} of {len(numbers):,}", width="content")
    if dataset.images is None:
        st.caption(f"No images were imported: a blank tile stands for each {noun}.")
    images = dataset.tiles[page]
    grid.grid(images, made, page, dataset.class_names, noun, open_digit)
    below(run, epoch, made, dataset, numbers, page, noun)
    return numbers


def probabilities(count: int) -> str:
    """Which of so many averaged probabilities a table has, in words."""
    if count <= example_table.MOST:
        return "the averaged probabilities"
    return f"the averaged probabilities of its {example_table.LISTED} likeliest classes"


def open_digit(number: int) -> None:
    """Callback: the address names the image that was pressed."""
    address.put(digit=number)


def nothing(made: Predictions, view: View, dataset: runs.TestSet, noun: str) -> None:
    """No image is of this kind: say so, and the way back."""
    label = "" if view.label is None else escaping.markdown(dataset.class_names[view.label])
    of_class = f" that is {label}" if label else ""
    said = {
        "all": f"There is no test {noun}{of_class}.",
        "wrong": f"The ensemble gets no {noun}{of_class} wrong.",
        "split": f"The members agree about every {noun}{of_class}.",
    }[view.show]
    st.info(said, icon=":material/check:")
    st.button(f"Show all {len(made.labels):,}", on_click=show_all, key="show_all")


def show_all() -> None:
    """Callback: no filter."""
    address.put(show=None, label=None, first=None, digit=None)


def below(
    run: runs.Run,
    epoch: int,
    made: Predictions,
    dataset: runs.TestSet,
    numbers: Ints,
    page: Ints,
    noun: str,
) -> None:
    """What can be kept as files."""
    names, stem = dataset.class_names, f"{run.id}-epoch-{epoch}"
    title = f"{called(run)} · epoch {epoch} · {images_words.answer(made, noun)}"
    with st.container(horizontal=True, vertical_alignment="center"):
        controls.opener(len(made.labels), noun)
        st.space("stretch")
        st.download_button(
            "This page (PNG)",
            lambda: thumbnails.sheet(dataset.tiles[page], made, page, names, title),
            f"{stem}.png",
            "image/png",
            icon=":material/image:",
            key="save_png",
            on_click="ignore",
        )
        st.download_button(
            f"These {len(numbers):,} (CSV)" if len(numbers) > 1 else "This one (CSV)",
            lambda: downloads.csv(example_table.tabulate_examples(made, numbers, names)),
            f"{stem}.csv",
            "text/csv",
            icon=":material/table:",
            key="save_csv",
            on_click="ignore",
            help="Number, label, what the ensemble says and how surely, each member's vote, and "
            f"{probabilities(len(numbers) * len(names))}.",
        )
