"""What the members say of one image, corrupted by every amount of one kind: asked all at once."""

import numpy as np
import streamlit as st

from ensemble import runs, shift
from ensemble.analysis.members.uncertainty import uncertainty
from ensemble.analysis.predictions import judge
from ensemble.errors import RunError
from ensemble.figures.inspect.one_image import Answers
from ensemble.runs import Members
from ensemble.shift.corruptions import Kind, corrupt, kinds
from ensemble.ui.shared import loaders

# The slider's places from nothing to the strongest: finer than what the whole test set is measured
# at. Turns and shifts go as far the other way.
PLACES = {"rotation": 18, "shift": 16, "noise": 24, "blur": 24, "contrast": 19}


def amounts(kind: Kind) -> tuple[float, ...]:
    """The amounts of the slider, the weakest first; those that go both ways from left to right."""
    places, start, stop = PLACES[kind.name], kind.neutral, kind.amounts[-1]
    first = -places if kind.name in ("rotation", "shift") else 0
    step = (stop - start) / places
    return tuple(round(start + step * place, 6) for place in range(first, places + 1))


# One compiled program for all kinds: the engine takes images by powers of two.
ROOM = 64


def answers(run: runs.Run, number: int, kind: str) -> Answers:
    """The members of the run's last checkpoint on test image `number`, at every amount.

    The noise is the same draw at every amount, and another for every image.

    Raises:
      RunError: the run has no checkpoint yet, or none that can be read.
    """
    tick = shift.last_tick(run.path)
    if tick is None and not run.origin:
        raise RunError(
            "The members are needed for this, and no checkpoint of them is there yet: one is kept "
            "at the end of the first epoch."
        )
    place = run.path / "parameters" if run.origin else run.path / "checkpoints" / str(tick)
    seen = loaders.version(place)
    if loaders.test_set(run).images is None:
        raise RunError("The images are needed for this, and are not here: fetch the dataset first.")
    return _answers(run.id, seen, number, kind, run)


# An image takes 30 to 130 kB, more with many members.
@st.cache_resource(max_entries=64, show_spinner="Asking the members")
def _answers(run_id: str, seen: tuple[int, int], number: int, kind: str, _run: runs.Run) -> Answers:
    known, members = loaders.test_set(_run), _members(run_id, seen)
    image, label = np.asarray(known.tiles[[number]]), known.labels[number]
    places = amounts(kinds(image.shape[1:])[kind])
    images = np.concatenate([corrupt(image, kind, amount, seed=number) for amount in places])
    padded = np.zeros((ROOM, *images.shape[1:]), np.uint8)
    padded[: len(images)] = images
    found = members.probabilities(padded)[:, : len(images)]
    made = judge(found, np.full(len(images), label))
    return Answers(places, images, made, uncertainty(made), members)


# A member takes 3.3 MB.
@st.cache_resource(max_entries=2, show_spinner="Opening the members")
def _members(run_id: str, seen: tuple[int, int]) -> Members:
    return runs.open_members(run_id)
