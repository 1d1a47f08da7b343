"""The image that is looked at, and its place beside the picture of a step."""

from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble.figures import thumbnails
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.shared import address
from ensemble.ui.shared.address import Word
from ensemble.ui.train.example.recording import is_recorded
from ensemble.wording import escaping

ROOM = 168  # pixels of the screen


@dataclass(frozen=True, eq=False)
class Opened:
    """One image of a run's epoch.

    Attributes:
      shown: the run's epoch.
      number: the image's number.
      plain: whether terms of the trade are hidden.
    """

    shown: SharedEpoch
    number: int
    plain: bool

    @property
    def key(self) -> tuple[str, int]:
        """Whose and which it is."""
        return self.shown.run.id, self.number

    @property
    def label(self) -> str:
        """The name of what it is."""
        return self.shown.class_names[self.shown.predictions.labels[self.number]]


def sentence(said: str) -> None:
    """A step's one sentence."""
    st.markdown(f"#### {escaping.markdown(said)}")


def beside(opened: Opened) -> DeltaGenerator:
    """Draws the image; returns the place beside it, on a phone below it."""
    left, right = st.columns([1, 4], gap="large")
    with left:
        image(opened)
    return right


def image(opened: Opened) -> None:
    """The image, its pixels as squares."""
    shown = opened.shown
    found = shown.dataset.tiles[opened.number]
    st.image(
        thumbnails.enlarged(found, ROOM),
        width=thumbnails.on_screen(found.shape, ROOM)[0],
        alt=f"Test {shown.noun} {opened.number}",
    )
    if shown.dataset.images is None:
        st.caption(f"No images were imported: a blank tile stands for the {shown.noun}.")


def link(opened: Opened, page: str, label: str, *words: tuple[Word[Any], object]) -> None:
    """A way on to another screen, about the same run; of the recorded one to its example there."""
    shown = opened.shown
    whose: list[tuple[Word[Any], object]] = []
    if not is_recorded(shown.run):
        whose = [(address.RUN, shown.run.id)]
    query = {
        word.name: word.text(value)
        for word, value in (*whose, (address.EPOCH, shown.epoch), *words)
    }
    st.page_link(
        f"pages/{page}.py", label=label, icon=":material/arrow_forward:", query_params=query
    )
