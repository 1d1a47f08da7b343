"""Test images of the run's own dataset, for whoever has no picture at hand."""

import io

import numpy as np
import streamlit as st
from PIL import Image

from ensemble import datasets, runs
from ensemble.datasets import Dataset
from ensemble.figures import thumbnails
from ensemble.ui.classify.input import tab_pictures
from ensemble.ui.classify.state import InputPicture, create_input_picture
from ensemble.ui.shared import loaders
from ensemble.ui.shared.tab import tab
from ensemble.wording import escaping

_STRIDE = 7919  # a prime: one test image after another from all over the test set
_SAMPLE_NUMBER_LENGTH, _MARGIN_PX, _PIXEL_SCALE = (4, 24, 4)  # digits of a number, pixels around it, pixels to a pixel


def show_sample_buttons(run: runs.Run, first: bool) -> None:
    noun = run.data.noun
    st.button(
        f"Try a test {escaping.escape_markdown(noun)}",
        key="classify_try",
        on_click=_open_sample_image,
        icon=":material/casino:",
        args=(run.config.dataset,),
        type="primary" if first else "secondary",
        help="One that the members were not trained on.",
    )
    if noun == "digit" and run.data.is_mnist_like:
        st.button(
            "Try a number",
            key="classify_try_number",
            on_click=_open_sample_number,
            args=(run.config.dataset,),
            help="Four test digits on one paper.",
        )


def _open_sample_image(name: str) -> None:
    """Callback: open another test image."""
    dataset, (number, *_) = (
        loaders.load_cached_dataset(name),
        _select_next_samples(loaders.load_cached_dataset(name), 1),
    )
    title = f"Test image {number} of {datasets.find_dataset_info(name).title}"
    tab_pictures.add_tab_pictures(
        [_create_sample_picture(title, thumbnails.convert_to_picture(dataset.test_images[number]))]
    )


def _open_sample_number(name: str) -> None:
    """Callback: open a paper with a few test digits side by side."""
    dataset = loaders.load_cached_dataset(name)
    numbers = _select_next_samples(dataset, _SAMPLE_NUMBER_LENGTH)
    title = f"Test images {', '.join(map(str, numbers))} of {datasets.find_dataset_info(name).title}"
    tab_pictures.add_tab_pictures([_create_sample_picture(title, _compose_number_paper(dataset.test_images[numbers]))])


def _select_next_samples(dataset: Dataset, count: int) -> list[int]:
    tried = tab.tried_image_count
    tab.tried_image_count = tried + count
    return [_STRIDE * (tried + k + 1) % len(dataset.test_labels) for k in range(count)]


def _compose_number_paper(images: np.ndarray) -> Image.Image:
    """Test images (K, 28, 28, 1) as dark ink on light paper, side by side."""
    across = images[..., 0].transpose(1, 0, 2).reshape(28, -1)
    ink = Image.fromarray(across).resize((across.shape[1] * _PIXEL_SCALE, 28 * _PIXEL_SCALE), Image.Resampling.BICUBIC)
    page = Image.new("RGB", (ink.width + 2 * _MARGIN_PX, ink.height + 2 * _MARGIN_PX), "#F4F1E8")
    page.paste("#20304F", (_MARGIN_PX, _MARGIN_PX), ink)
    return page


def _create_sample_picture(title: str, image: Image.Image) -> InputPicture:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return create_input_picture(title, buffer.getvalue())
