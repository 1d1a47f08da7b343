"""The test images that were asked for, a page at a time, and what can be done with them."""

import streamlit as st

from ensemble import runs
from ensemble.analysis.predictions import EnsemblePredictions, filter_examples, sort_examples
from ensemble.analysis.quality.averaging import Ints
from ensemble.figures import thumbnails
from ensemble.ui.predictions import conformal_sets, controls, downloads, image_grid, predictions_view, validation_source
from ensemble.ui.predictions.predictions_view import PredictionsView
from ensemble.views.examples import example_table
from ensemble.wording import escaping
from ensemble.wording import images as images_words
from ensemble.wording.run_names import format_run_name


def show_image_gallery(
    run: runs.Run, epoch: int, predictions: EnsemblePredictions, dataset: runs.TestSet, view: PredictionsView, noun: str
) -> Ints:
    """Draw the page of images that `view` asks for; returns all that it asks for, in order."""
    by_sets = view.order == "sets"
    sizes = (
        conformal_sets.load_conformal_sets(predictions, validation_source.find_validation_source(run, epoch)).sum(
            axis=1
        )
        if by_sets
        else None
    )
    numbers = sort_examples(predictions, filter_examples(predictions, view.show, view.label), view.order, sizes)
    if not len(numbers):
        _show_empty_gallery(predictions, view, dataset, noun)
        return numbers
    size = image_grid.count_page_images()
    with st.container(horizontal=True, vertical_alignment="center", key="digits_pages"):
        first = controls.select_gallery_page(len(numbers), size, view.first)
        page = numbers[first : first + size]
        if len(numbers) > 1:
            st.caption(f"{first + 1:,}–{first + len(page):,} of {len(numbers):,}", width="content")
    if dataset.images is None:
        st.caption(
            f"No images were imported: a tile has what is known of each {noun}."
            if dataset.details
            else f"No images were imported: a blank tile stands for each {noun}."
        )
    images = dataset.tiles[page]
    image_grid.show_image_grid(
        images,
        predictions,
        numbers=page,
        names=dataset.class_names,
        noun=noun,
        on_open=_open_gallery_image,
        details=dataset.details,
        has_images=dataset.images is not None,
    )
    _show_gallery_downloads(run, epoch, predictions=predictions, dataset=dataset, numbers=numbers, page=page, noun=noun)
    return numbers


def _describe_probability_columns(count: int) -> str:
    if count <= example_table.MAX_PROBABILITIES:
        return "the averaged probabilities"
    return f"the averaged probabilities of its {example_table.LISTED_CLASSES} likeliest classes"


def _open_gallery_image(number: int) -> None:
    """Callback: the address names the image that was pressed."""
    predictions_view.update_predictions_view(digit=number)


def _show_empty_gallery(
    predictions: EnsemblePredictions, view: PredictionsView, dataset: runs.TestSet, noun: str
) -> None:
    """No image is of this kind: say so, and the way back."""
    label = "" if view.label is None else escaping.escape_markdown(dataset.class_names[view.label])
    of_class = f" that is {label}" if label else ""
    text = {
        "all": f"There is no test {noun}{of_class}.",
        "wrong": f"The ensemble gets no {noun}{of_class} wrong.",
        "split": f"The members agree about every {noun}{of_class}.",
    }[view.show]
    st.info(text, icon=":material/check:")
    st.button(f"Show all {len(predictions.labels):,}", on_click=_clear_image_filters, key="show_all")


def _clear_image_filters() -> None:
    """Callback: no filter."""
    predictions_view.update_predictions_view(show=None, label=None, first=None, digit=None)


def _show_gallery_downloads(
    run: runs.Run,
    epoch: int,
    predictions: EnsemblePredictions,
    dataset: runs.TestSet,
    numbers: Ints,
    page: Ints,
    noun: str,
) -> None:
    names, stem = dataset.class_names, f"{run.id}-epoch-{epoch}"
    title = f"{format_run_name(run)} · epoch {epoch} · {images_words.describe_disagreement_warning(predictions, noun)}"
    with st.container(horizontal=True, vertical_alignment="center"):
        controls.show_image_number_input(len(predictions.labels), noun)
        st.space("stretch")
        st.download_button(
            "This page (PNG)",
            lambda: thumbnails.render_image_sheet(dataset.tiles[page], predictions, page, names, title),
            f"{stem}.png",
            "image/png",
            icon=":material/image:",
            key="save_png",
            on_click="ignore",
        )
        st.download_button(
            f"These {len(numbers):,} (CSV)" if len(numbers) > 1 else "This one (CSV)",
            lambda: downloads.encode_table_csv(
                example_table.tabulate_examples(predictions, numbers, names, dataset.details)
            ),
            f"{stem}.csv",
            "text/csv",
            icon=":material/table:",
            key="save_csv",
            on_click="ignore",
            help="Number, label, what the ensemble says and how surely, each member's vote, and "
            f"{_describe_probability_columns(len(numbers) * len(names))}.",
        )
