"""Predictions: what the members and their average say of each test image."""

import streamlit as st

from ensemble import runs
from ensemble.ui.predictions import (
    address,
    controls,
    detail,
    epoch_panel,
    fitting,
    gallery,
    sets,
)
from ensemble.ui.predictions.epoch_panel import Chosen
from ensemble.ui.predictions.fitting import Fitting
from ensemble.ui.shared import entry, loaders, run_panel
from ensemble.wording import images as images_words
from ensemble.wording.run_names import called


def main() -> None:
    run_panel.about_a_run(of_run, no_runs, compact=True)


def no_runs() -> None:
    """The first visit: the same of a run that was recorded."""
    # Here, for a page with a run of one's own does without.
    from ensemble.ui.train.example import band, opened, recording

    band.show("See where the members of an ensemble agree, and where they do not")
    images(recording.run(), opened.chosen(), recording.test_set(), None)


def of_run(run: runs.Run) -> None:
    """The answer, what to show of it, the images, and the one that is open."""
    chosen = epoch_panel.choose(run, "The test images stand")
    if not chosen:
        return
    images(run, chosen, loaders.test_set(run), fitting.of(run, chosen.epoch))


def images(run: runs.Run, chosen: Chosen, dataset: runs.TestSet, apart: Fitting | None) -> None:
    """What is said of an epoch's test images, which of them to show, and the one that is open."""
    epoch, made, noun = chosen.epoch, chosen.made, run.data.noun
    sets_too = sets.enough(made, apart)
    view = controls.fitting(address.read(), made, len(dataset.class_names), sets_too)
    with st.container(gap="xxsmall", key="verdict"):
        said, warned = images_words.in_two(made, noun)
        st.markdown(f"#### {said}")
        st.markdown(warned)
        sets.line(made, noun, apart)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        controls.epoch(chosen.epochs, epoch, run)
        controls.filters(made, view, dataset.class_names, noun, sets_too)
    epoch_panel.watch(run, chosen)
    numbers = gallery.show(run, epoch, made, dataset, view, noun)
    if view.digit is not None:
        source, place = (f"{who} · epoch {epoch}" for who in (called(run), run.id))
        detail.show(detail.Shown(made, dataset, numbers, noun, source, place, apart))


entry.draw("predictions", main)
