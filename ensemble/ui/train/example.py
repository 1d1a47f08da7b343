"""The first screen: what a run looks like, on one that was recorded, until there is one.

Its files are in `example/`, written by `python -m benchmarks.screens.example` from a real run.
"""

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ensemble.analysis.predictions import Predictions, judge
from ensemble.analysis.quality.averaging import Ints
from ensemble.config import EnsembleConfig
from ensemble.datasets import registry
from ensemble.ui.predictions.grid import grid
from ensemble.ui.shared import run_figures
from ensemble.ui.train import history
from ensemble.ui.train.curves import learning_curves
from ensemble.wording import escaping, run_names
from ensemble.wording import images as images_words

FOLDER = Path(__file__).parent / "example"
SMOOTHING = 0.6


@dataclass(frozen=True, eq=False)
class Example:
    """A run that was recorded.

    Attributes:
      config: its settings.
      rows: the lines of its history.
      made: what its members said of the N test images after the last epoch.
      numbers: (K,), the most disputed of them, the most first.
      images: uint8 (K, 28, 28, 1), these.
    """

    config: EnsembleConfig
    rows: list[dict[str, Any]]
    made: Predictions
    numbers: Ints
    images: NDArray[np.uint8]


@functools.cache
def read() -> Example:
    """The example, read once: the same for every tab."""
    kept = json.loads((FOLDER / "history.json").read_text("utf-8"))
    with np.load(FOLDER / "predictions.npz", allow_pickle=False) as arrays:
        made = judge(arrays["probabilities"].astype(np.float32), arrays["labels"].astype(int))
        numbers, images = arrays["numbers"].astype(int), arrays["images"]
    return Example(EnsembleConfig.from_dict(kept["settings"]), kept["rows"], made, numbers, images)


def show() -> None:
    """The example's answer, its curves, and the digits its members dispute most."""
    kept = read()
    info = registry.find(kept.config.dataset)
    called = run_names.ensemble(kept.config)
    noun = info.noun
    with st.container(border=True, key="example"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge("Example", icon=":material/history:", color="orange")
            st.caption(f"{called}, recorded. Yours will stand in its place.", width="content")
        if last := history.latest(kept.rows):
            with st.container(horizontal=True, gap="medium"):
                run_figures.accuracy(last, info)
                run_figures.gain(last, info)
        learning_curves(
            "example", kept.rows, caption=f"Example · {called}", epochs=kept.config.epochs,
            members=kept.config.members, n_test=info.test_size, log=True,
            smoothing=SMOOTHING,
        )  # fmt: skip
        st.caption(images_words.answer(kept.made, noun))
        grid(kept.images, kept.made, kept.numbers, info.class_names, noun, opened, "example_grid")


def opened(number: int) -> None:
    """One of the digits was pressed: what was said of it, in a sentence."""
    kept = read()
    names = registry.find(kept.config.dataset).class_names
    st.toast(escaping.markdown(images_words.sentence(kept.made, number, names)))
