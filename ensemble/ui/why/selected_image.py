"""The image that is looked at, and its place beside the picture of a step."""

from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble.figures import thumbnails
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.shared import address
from ensemble.ui.shared.address import QueryParameter
from ensemble.ui.train.example.recording import is_recorded_run
from ensemble.wording import escaping

IMAGE_SIZE_PX = 168  # pixels of the screen


@dataclass(frozen=True, eq=False)
class SelectedImage:
    """One image of a run's epoch.

    Attributes:
      shared_epoch: the run's epoch.
      number: the image's number.
      uses_plain_words: whether terms of the trade are hidden.
    """

    shared_epoch: SharedEpoch
    number: int
    uses_plain_words: bool

    @property
    def key(self) -> tuple[str, int]:
        return self.shared_epoch.run.id, self.number

    @property
    def label(self) -> str:
        return self.shared_epoch.class_names[self.shared_epoch.predictions.labels[self.number]]


def show_step_sentence(text: str) -> None:
    st.markdown(f"#### {escaping.escape_markdown(text)}")


def show_image_beside(selected: SelectedImage) -> DeltaGenerator:
    """Draws the image; returns the place beside it, on a phone below it."""
    left, right = st.columns([1, 4], gap="large")
    with left:
        _show_selected_image(selected)
    return right


def _show_selected_image(selected: SelectedImage) -> None:
    shared_epoch = selected.shared_epoch
    lines = shared_epoch.dataset.details.describe_tile(selected.number)
    if shared_epoch.dataset.images is None and lines:
        with st.container(border=True, width=IMAGE_SIZE_PX):
            for line in lines:
                st.markdown(escaping.escape_markdown(line))
        return
    tile = shared_epoch.dataset.tiles[selected.number]
    st.image(
        thumbnails.encode_enlarged_image(tile, IMAGE_SIZE_PX),
        width=thumbnails.compute_display_size(tile.shape, IMAGE_SIZE_PX)[0],
        alt=f"Test {shared_epoch.noun} {selected.number}",
    )
    if shared_epoch.dataset.images is None:
        st.caption(f"No images were imported: a blank tile stands for the {shared_epoch.noun}.")


def show_related_link(
    selected: SelectedImage, page: str, label: str, *words: tuple[QueryParameter[Any], object]
) -> None:
    """A way on to another screen, about the same run; of the recorded one to its example there."""
    shared_epoch = selected.shared_epoch
    whose: list[tuple[QueryParameter[Any], object]] = []
    if not is_recorded_run(shared_epoch.run):
        whose = [(address.RUN, shared_epoch.run.id)]
    query = {word.name: word.format(value) for word, value in (*whose, (address.EPOCH, shared_epoch.epoch), *words)}
    st.page_link(f"pages/{page}.py", label=label, icon=":material/arrow_forward:", query_params=query)
