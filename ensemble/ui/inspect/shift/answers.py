"""What the members say of one image, corrupted by every amount of one kind: asked all at once."""

import numpy as np
import streamlit as st

from ensemble import runs, shift
from ensemble.analysis.members.uncertainty import uncertainty
from ensemble.analysis.predictions import judge
from ensemble.errors import RunError
from ensemble.figures.inspect.one_image import Answers
from ensemble.runs import Members
from ensemble.shift.corruptions import corrupt
from ensemble.ui.shared import loaders


def _steps(start: float, stop: float, step: float) -> tuple[float, ...]:
    """From start to stop, both included, free of rounding's tails."""
    count = round((stop - start) / step) + 1
    return tuple(round(start + step * place, 6) for place in range(count))


# The slider's places: finer than what the whole test set is measured at.
AMOUNTS = {
    "rotation": _steps(-90, 90, 5),
    "shift": _steps(-8, 8, 0.5),
    "noise": _steps(0, 0.6, 0.025),
    "blur": _steps(0, 3, 0.125),
    "contrast": _steps(1, 0.05, -0.05),
}
# One compiled program for all kinds: the engine takes images by powers of two.
ROOM = 64


def answers(run: runs.Run, number: int, kind: str) -> Answers:
    """The members of the run's last checkpoint on test image `number`, at every amount.

    The noise is the same draw at every amount, and another for every image.

    Raises:
      RunError: the run has no checkpoint yet, or none that can be read.
    """
    tick = shift.last_tick(run.path)
    if tick is None:
        raise RunError(
            "The members are needed for this, and no checkpoint of them is there yet: one is kept "
            "at the end of the first epoch."
        )
    seen = loaders.version(run.path / "checkpoints" / str(tick))
    return _answers(run.id, seen, run.config.dataset, number, kind)


# An image takes 30 to 130 kB, more with many members.
@st.cache_resource(max_entries=64, show_spinner="Asking the members")
def _answers(run_id: str, seen: tuple[int, int], dataset: str, number: int, kind: str) -> Answers:
    known, members = loaders.dataset(dataset), _members(run_id, seen)
    image, label = np.asarray(known.test_images[[number]]), known.test_labels[number]
    amounts = AMOUNTS[kind]
    images = np.concatenate([corrupt(image, kind, amount, seed=number) for amount in amounts])
    padded = np.zeros((ROOM, *images.shape[1:]), np.uint8)
    padded[: len(images)] = images
    found = members.probabilities(padded)[:, : len(images)]
    made = judge(found, np.full(len(images), label))
    return Answers(amounts, images, made, uncertainty(made), members)


# A member takes 3.3 MB.
@st.cache_resource(max_entries=2, show_spinner="Opening the members")
def _members(run_id: str, seen: tuple[int, int]) -> Members:
    return runs.open_members(run_id)
