"""One test image opened: what it is, what the ensemble says, and how its members came to it."""

from dataclasses import dataclass

import streamlit as st

from ensemble import runs
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.datasets.example_details import ExampleDetails
from ensemble.figures import chart_style, probability_bars, thumbnails
from ensemble.ui.predictions import conformal_sets, downloads, predictions_view
from ensemble.ui.predictions.validation_source import ValidationSource
from ensemble.ui.shared import address as shared
from ensemble.ui.shared import theme
from ensemble.ui.shared.guard import guard_page
from ensemble.wording import escaping
from ensemble.wording import images as images_words

_DIALOG_IMAGE_PX = 168  # pixels of the screen: six for one of 28


@dataclass(frozen=True)
class ImageDialogContext:
    """What an image is opened from.

    Attributes:
      predictions: the predictions.
      dataset: their images and classes.
      numbers: (K,), the images that can be gone through, in order.
      noun: what an image is called.
      source: the run and epoch as people call them, for titles.
      file_stem: the run's id and epoch, for names of files.
      validation_source: what its conformal set is calibrated on; None: the other half of the test
        images.
    """

    predictions: EnsemblePredictions
    dataset: runs.TestSet
    numbers: Ints
    noun: str
    source: str
    file_stem: str
    validation_source: ValidationSource | None


def show_image_dialog(context: ImageDialogContext) -> None:
    """Open the image that the address names, over the page; closing it takes it out again."""
    st.dialog(f"Test {context.noun}", width="medium", on_dismiss=_close_image_dialog)(show_image_dialog_body)(context)


def _close_image_dialog() -> None:
    """Callback: the address names no image any more."""
    predictions_view.update_predictions_view(digit=None)


def _open_neighbor_image(number: int | None) -> None:
    """Callback: open another image."""
    predictions_view.update_predictions_view(digit=number)


def show_image_dialog_body(context: ImageDialogContext) -> None:
    """The inside of the dialog: reruns by itself when another image is asked for."""
    number = predictions_view.read_predictions_view().digit
    if number is None or number >= len(context.predictions.labels):
        return
    with guard_page():
        _show_image_summary(context, number)
        _show_example_columns(context.dataset.details, number)
        _show_image_probabilities(context, number)
        _show_image_footer(context, number)


def _show_image_summary(context: ImageDialogContext, number: int) -> None:
    names, label = (context.dataset.class_names, context.predictions.labels[number])
    mark = "✓ Right" if context.predictions.right[number] else "✗ Wrong"
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        dataset = context.dataset
        if dataset.images is not None or not dataset.details:
            image = dataset.tiles[number]
            st.image(
                thumbnails.encode_enlarged_image(image, _DIALOG_IMAGE_PX),
                width=thumbnails.compute_display_size(image.shape, _DIALOG_IMAGE_PX)[0],
                alt=f"Test {context.noun} {number}, {images_words.format_true_class(names[label], names)}",
            )
        with st.container(width=420):
            name = dataset.details.describe_example(number)
            called = f" · {escaping.escape_markdown(name)}" if name else ""
            st.subheader(f"{mark} · #{number}{called}", anchor=False)
            st.markdown(
                escaping.escape_markdown(images_words.describe_image_prediction(context.predictions, number, names))
            )
            if image_set := conformal_sets.describe_image_set(
                context.predictions, number, names, context.validation_source
            ):
                st.markdown(
                    escaping.escape_markdown(image_set),
                    help=conformal_sets.describe_set_calibration(context.validation_source),
                )


def _show_example_columns(details: ExampleDetails, number: int) -> None:
    if texts := details.describe_columns(number):
        st.caption(escaping.escape_markdown(" · ".join(texts)))


def _show_image_probabilities(context: ImageDialogContext, number: int) -> None:
    predictions, names = context.predictions, context.dataset.class_names
    title = f"{context.noun.capitalize()} {number} · {context.source}"
    st.plotly_chart(
        probability_bars.plot_probability_bars(predictions, number, names, title, theme.get_page_palette()),
        key="digit_bars",
        alt=probability_bars.describe_probability_chart(predictions, number, names),
        config=probability_bars.build_chart_toolbar(f"{context.noun.capitalize()} {number} · {context.file_stem}"),
    )
    some = (
        ""
        if len(names) <= probability_bars.MAX_CLASSES
        else (
            f"The {probability_bars.MAX_CLASSES} likeliest of {len(names):,} classes, "
            "with what it is; the file has all. "
        )
    )
    dots = "Bars: the averaged probabilities. Dots: each member's own." if predictions.members > 1 else ""
    dots += chart_style.describe_spread_members(predictions.members)
    if some or dots:
        st.caption(some + dots)


def _show_image_footer(context: ImageDialogContext, number: int) -> None:
    """The images before and after this one, in the order of the page; its figures as a file."""
    predictions, names, numbers = (context.predictions, context.dataset.class_names, context.numbers)
    places = (numbers == number).nonzero()[0]
    # One that the filter leaves out, opened by its number, stands before all others.
    place = int(places[0]) if len(places) else -1
    with st.container(horizontal=True, vertical_alignment="center"):
        _show_neighbor_button("Previous", "Left", numbers, place - 1)
        _show_neighbor_button("Next", "Right", numbers, place + 1)
        if place >= 0:
            st.caption(f"{place + 1:,} of {len(numbers):,}", width="content")
        st.space("stretch")
        stem = escaping.sanitize_file_name(context.file_stem.replace(" · ", "-"))
        if predictions.split[number]:
            _show_why_link(number)
        st.download_button(
            "Figures (CSV)",
            lambda: downloads.encode_image_csv(predictions, number, names),
            f"{stem}-{number}.csv",
            "text/csv",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
            key="digit_csv",
        )


def _show_why_link(number: int) -> None:
    words = (shared.RUN, shared.RUN.read()), (shared.EPOCH, shared.EPOCH.read())
    query = {word.name: str(value) for word, value in words if value is not None}
    st.page_link(
        "pages/why.py",
        label="Why do they disagree?",
        icon=":material/help_center:",
        query_params={**query, **shared.IMAGE.build_query(number)},
    )


def _show_neighbor_button(label: str, key: str, numbers: Ints, place: int) -> None:
    """A button to another place in the order; disabled where there is none."""
    there = 0 <= place < len(numbers)
    st.button(
        label,
        key=f"digit_{label.lower()}",
        disabled=not there,
        on_click=_open_neighbor_image,
        args=(int(numbers[place]) if there else None,),
        shortcut=key,
    )
