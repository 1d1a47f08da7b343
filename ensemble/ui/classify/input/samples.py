"""Test images of the run's own dataset, for whoever has no picture at hand."""

import io

import numpy as np
import streamlit as st
from PIL import Image

from ensemble import datasets, runs
from ensemble.datasets import Dataset
from ensemble.figures import thumbnails
from ensemble.ui.classify.input import tray
from ensemble.ui.classify.state import Source, source
from ensemble.ui.shared import loaders
from ensemble.ui.shared.tab import tab
from ensemble.wording import escaping

STRIDE = 7919  # a prime: one test image after another from all over the test set
LONG, MARGIN, TIMES = 4, 24, 4  # digits of a number, pixels around it, pixels to a pixel


def buttons(run: runs.Run, first: bool) -> None:
    """One test image, or several of them written side by side, at a press.

    Args:
      run: whose dataset they are from.
      first: whether there is no picture yet: then it is the thing to press.
    """
    noun = run.data.noun
    st.button(
        f"Try a test {escaping.markdown(noun)}",
        key="classify_try",
        on_click=try_one,
        icon=":material/casino:",
        args=(run.config.dataset,),
        type="primary" if first else "secondary",
        help="One that the members have not learnt from.",
    )
    if noun == "digit" and run.data.written:
        st.button(
            "Try a number",
            key="classify_try_number",
            on_click=try_number,
            args=(run.config.dataset,),
            help="Four test digits on one paper.",
        )


def try_one(name: str) -> None:
    """Callback: open another test image."""
    dataset, (number, *_) = loaders.dataset(name), following(loaders.dataset(name), 1)
    title = f"Test image {number} of {datasets.info(name).title}"
    tray.add([sample(title, thumbnails.picture(dataset.test_images[number]))])


def try_number(name: str) -> None:
    """Callback: open a paper with a few test digits side by side."""
    dataset = loaders.dataset(name)
    numbers = following(dataset, LONG)
    title = f"Test images {', '.join(map(str, numbers))} of {datasets.info(name).title}"
    tray.add([sample(title, paper(dataset.test_images[numbers]))])


def following(dataset: Dataset, count: int) -> list[int]:
    """The next numbers of test images to be tried in this tab."""
    tried = tab.tried
    tab.tried = tried + count
    return [STRIDE * (tried + k + 1) % len(dataset.test_labels) for k in range(count)]


def paper(images: np.ndarray) -> Image.Image:
    """Test images (K, 28, 28, 1) as dark ink on light paper, side by side."""
    across = images[..., 0].transpose(1, 0, 2).reshape(28, -1)
    ink = Image.fromarray(across).resize(
        (across.shape[1] * TIMES, 28 * TIMES), Image.Resampling.BICUBIC
    )
    page = Image.new("RGB", (ink.width + 2 * MARGIN, ink.height + 2 * MARGIN), "#F4F1E8")
    page.paste("#20304F", (MARGIN, MARGIN), ink)
    return page


def sample(title: str, image: Image.Image) -> Source:
    """A picture of that title, as if it had been handed in."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return source(title, buffer.getvalue())
