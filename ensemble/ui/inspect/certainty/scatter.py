"""Each image by its aleatoric and its epistemic uncertainty: unclear in itself, or disputed."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from ensemble.analysis.members.uncertainty import Uncertainty, uncertainty
from ensemble.analysis.predictions import ordered
from ensemble.analysis.quality.averaging import Ints
from ensemble.figures.inspect.uncertainty import GLOSS, figure, points, sees, thinning
from ensemble.ui.inspect import images
from ensemble.ui.inspect.loader import measured, pictured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions import downloads
from ensemble.ui.shared import figure_panel
from ensemble.wording import formats

KEY = "inspect_scatter"


def show(shown: Inspected) -> None:
    """Draw the scatter, and beside it the images that are chosen in it."""
    measures = measured(shown, uncertainty)
    drawn = points(shown.made, measures)
    left, right = st.columns([3, 2], gap="large")
    with left:
        state = picture(shown, measures, drawn)
        if len(drawn) < shown.n:
            st.caption(f"Drawn are all mistakes and the unsure; of the surest, one in "
                       f"{thinning(shown.made)} stands for the rest.")  # fmt: skip
    with right:
        digits_of(shown, measures, chosen_numbers(state, shown))


def picture(shown: Inspected, measures: Uncertainty, drawn: Ints) -> Any:
    """The scatter; returns what is chosen in it."""
    title = f"Uncertainty · {shown.source}"
    return figure_panel.show(
        pictured(shown, lambda palette: figure(
            shown.made, measures, drawn, shown.names, shown.noun, title, palette
        ), KEY),
        key=KEY, of=shown.run, epoch=shown.epoch,
        name=f"{shown.stem}-uncertainty", title="Both uncertainties of every image",
        alt="Aleatoric against epistemic uncertainty of "
        f"{formats.count(shown.n, shown.noun)}, right and wrong marked",
        table=lambda: table(shown, measures), sees=sees(shown.made, measures, shown.noun),
        help=GLOSS, on_select="rerun", selection_mode=("points", "box", "lasso"),
    )  # fmt: skip


def digits_of(shown: Inspected, measures: Uncertainty, chosen: Ints) -> None:
    """The images that are chosen; before any is, the most uncertain ones."""
    numbers = chosen
    if len(chosen):
        st.markdown(f"**{formats.count(len(chosen), shown.noun)} chosen**, the least sure first")
    else:
        st.markdown(
            f"Click a point to see its {shown.noun}, or take the box or lasso over the picture and "
            "draw it around many. Until then: those the members disagree about most."
        )
        numbers = np.argsort(-measures.information, kind="stable")
    images.show(shown, numbers, key="inspect_scatter_digits", rows=4)


def chosen_numbers(state: Any, shown: Inspected) -> Ints:
    """The images of the points that are chosen, the least sure first."""
    found = [point.get("customdata") for point in state.selection.points]
    numbers = np.unique([int(facts[0]) for facts in found if facts]).astype(int)
    return ordered(shown.made, numbers[numbers < shown.n], "unsure")


def table(shown: Inspected, measures: Uncertainty) -> pd.DataFrame:
    """Every image with its measures and what is said of it."""
    frame = downloads.table(shown.made, np.arange(shown.n), shown.names)
    frame = frame.drop(columns="mutual_information_nats")
    frame.insert(5, "predictive_entropy_nats", measures.predictive)
    frame.insert(6, "aleatoric_nats", measures.expected)
    frame.insert(7, "epistemic_nats", measures.information)
    frame.insert(8, "variation_ratio", measures.variation_ratio)
    frame.insert(9, "vote_margin", measures.vote_margin)
    return frame
