"""What the members say of one image, corrupted by every amount of one kind: asked all at once."""

import numpy as np
import streamlit as st

from ensemble import runs, shift
from ensemble.analysis.example_measures import compute_measures
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.errors import RunError
from ensemble.runs import Members
from ensemble.runs.checkpoints.folders import has_removed_checkpoints
from ensemble.runs.members import select_members_epoch
from ensemble.shift.corruptions import Corruption, corrupt_images, scale_corruptions
from ensemble.ui.shared import loaders
from ensemble.views.image_corruption import CorruptionAnswers

# The slider's places from nothing to the strongest: finer than what the whole test set is measured
# at. Turns and shifts go as far the other way.
_SLIDER_STEPS = {"rotation": 18, "shift": 16, "noise": 24, "blur": 24, "contrast": 19}


def list_corruption_amounts(kind: Corruption) -> tuple[float, ...]:
    """The amounts of the slider, the weakest first; those that go both ways from left to right."""
    places, start, stop = _SLIDER_STEPS[kind.name], kind.neutral_amount, kind.amounts[-1]
    first = -places if kind.name in ("rotation", "shift") else 0
    step = (stop - start) / places
    return tuple(round(start + step * place, 6) for place in range(first, places + 1))


# One compiled program for all kinds: the engine takes images by powers of two.
_PADDED_BATCH_SIZE = 64


def predict_corrupted_image(run: runs.Run, number: int, kind: str) -> CorruptionAnswers:
    """The run's members (`select_members_epoch`) on test image `number`, at every amount.

    The noise is the same draw at every amount, and another for every image.

    Raises:
      RunError: the run has no checkpoint yet, or none that can be read.
    """
    tick = shift.find_last_tick(run.path)
    if tick is None and not run.origin:
        raise RunError(
            "The members are needed for this, and no checkpoint of them is there yet: one is kept "
            "at the end of the first epoch."
        )
    by_parameters = run.origin or has_removed_checkpoints(run.path)
    place = run.path / "parameters" if by_parameters else run.path / "checkpoints" / str(tick)
    file_version = loaders.get_file_version(place)
    if loaders.load_run_test_set(run).images is None:
        raise RunError("This needs the images, which are not here: fetch the dataset first.")
    return _predict_corrupted_image(run.id, file_version, number, kind, run)


# An image takes 30 to 130 kB, more with many members.
@st.cache_resource(max_entries=64, show_spinner="Running the members")
def _predict_corrupted_image(
    run_id: str, version: tuple[int, int], number: int, kind: str, _run: runs.Run
) -> CorruptionAnswers:
    run_test_set, members = loaders.load_run_test_set(_run), _open_shift_members(run_id, version)
    image, label = np.asarray(run_test_set.tiles[[number]]), run_test_set.labels[number]
    places = list_corruption_amounts(scale_corruptions(image.shape[1:])[kind])
    images = np.concatenate([corrupt_images(image, kind, amount, seed=number) for amount in places])
    padded = np.zeros((_PADDED_BATCH_SIZE, *images.shape[1:]), np.uint8)
    padded[: len(images)] = images
    probability = members.predict_probabilities(padded)[:, : len(images)]
    predictions = evaluate_predictions(probability, np.full(len(images), label))
    return CorruptionAnswers(places, images, predictions, compute_measures(predictions), members)


# A member takes 3.3 MB.
@st.cache_resource(max_entries=2, show_spinner="Loading the members")
def _open_shift_members(run_id: str, version: tuple[int, int]) -> Members:
    return runs.open_members(run_id, select_members_epoch(runs.find_run(run_id)))
