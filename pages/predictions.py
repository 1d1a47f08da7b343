"""Predictions: what the members and their average say of each test image."""

import streamlit as st

from ensemble import runs
from ensemble.ui.frame import skip_link
from ensemble.ui.predictions import (
    conformal_sets,
    controls,
    epoch_selection,
    gallery,
    image_dialog,
    image_grid,
    predictions_view,
    validation_source,
)
from ensemble.ui.predictions.epoch_selection import EpochSelection
from ensemble.ui.predictions.validation_source import ValidationSource
from ensemble.ui.shared import loaders, navigation, run_panel
from ensemble.wording import images as images_words
from ensemble.wording.run_names import format_run_name


def show_predictions_page() -> None:
    skip_link.show_skip_link("Skip to the images", image_grid.GRID_KEY)
    run_panel.show_run_screen(show_predictions_run, show_predictions_example)


def show_predictions_example() -> None:
    """The first visit: the same of a run that was recorded."""
    # Here, for a page with a run of one's own does without.
    from ensemble.ui.train.example import recorded_banner, recorded_epoch, recording

    recorded_banner.show_recorded_banner("See where the members of an ensemble agree, and where they do not")
    show_predictions_epoch(
        recording.load_recorded_run(), recorded_epoch.select_recorded_epoch(), recording.load_recorded_test_set(), None
    )


def show_predictions_run(run: runs.Run) -> None:
    """The answer, what to show of it, the images, and the one that is open."""
    chosen = epoch_selection.select_predictions_epoch(run, "The test images stand")
    if not chosen:
        return
    show_predictions_epoch(
        run, chosen, loaders.load_run_test_set(run), validation_source.find_validation_source(run, chosen.epoch)
    )


def show_predictions_epoch(
    run: runs.Run, chosen: EpochSelection, dataset: runs.TestSet, apart: ValidationSource | None
) -> None:
    """What is said of an epoch's test images, which of them to show, and the one that is open."""
    epoch, predictions, noun = chosen.epoch, chosen.predictions, run.data.noun
    sets_too = conformal_sets.can_calibrate_sets(predictions, apart)
    view = controls.restrict_predictions_view(
        predictions_view.read_predictions_view(), predictions, len(dataset.class_names), sets_too
    )
    with st.container(gap="xxsmall", key="verdict"):
        sentence, warned = images_words.split_disagreement_warning(predictions, noun)
        st.markdown(f"#### {sentence}")
        st.markdown(warned)
        conformal_sets.show_conformal_summary(predictions, noun, apart)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="predictions_row_of_controls"):
        controls.show_predictions_epoch_slider(chosen.epochs, epoch, run)
        controls.show_image_filters(predictions, view, dataset.class_names, noun, sets_too)
    epoch_selection.show_epoch_choice(run, chosen)
    epoch_selection.watch_newer_epochs(run, chosen)
    numbers = gallery.show_image_gallery(run, epoch, predictions=predictions, dataset=dataset, view=view, noun=noun)
    if view.digit is not None:
        source, place = (f"{who} · epoch {epoch}" for who in (format_run_name(run), run.id))
        image_dialog.show_image_dialog(
            image_dialog.ImageDialogContext(
                predictions=predictions,
                dataset=dataset,
                numbers=numbers,
                noun=noun,
                source=source,
                file_stem=place,
                validation_source=apart,
            )
        )


navigation.draw_page("predictions", show_predictions_page)
