"""Uncertainty: how much is aleatoric and how much epistemic, and the confusion matrix.

Two pictures, one at a time. What is chosen in either shows its images below.
"""

import streamlit as st

from ensemble.ui.inspect.certainty import confusion, scatter
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import address

PICTURES = {"scatter": "Aleatoric and epistemic", "confusion": "Confusion matrix"}
GLOSSES = {
    "scatter": "Aleatoric: what is unclear in the image itself. Epistemic: what the members "
    "disagree about.",
    "confusion": "What each class is taken for: a row a class, a column an answer.",
}


def show(shown: Inspected) -> None:
    """Draw the picture that is chosen, and the images that are chosen in it."""
    if shown.members == 1:
        st.caption("One member has nobody to disagree with: all its uncertainty is of one kind, "
                   "the images' own. What is left to see is the confusion matrix: what it takes "
                   "for what.")  # fmt: skip
        confusion.show(shown)
        return
    picture = address.choose(
        address.PICTURE, "Picture", PICTURES, "scatter", label_visibility="collapsed"
    )
    st.caption(GLOSSES[picture])
    {"scatter": scatter, "confusion": confusion}[picture].show(shown)
