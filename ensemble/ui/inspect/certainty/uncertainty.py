"""Uncertainty: how much of it is the images' own and how much the members', and what is mixed up.

Two pictures, one at a time. What is chosen in either shows its images below.
"""

import streamlit as st

from ensemble.ui.inspect.certainty import confusion, scatter
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import address

PICTURES = {"scatter": "Two kinds of uncertainty", "confusion": "What is taken for what"}


def show(shown: Inspected) -> None:
    """Draw the picture that is chosen, and the images that are chosen in it."""
    if shown.members == 1:
        st.caption("One member has nobody to disagree with: all its uncertainty is of one kind, "
                   "the images' own. What is left to see is what it takes for what.")  # fmt: skip
        confusion.show(shown)
        return
    picture = address.choose(
        address.PICTURE, "Picture", PICTURES, "scatter", label_visibility="collapsed"
    )
    {"scatter": scatter, "confusion": confusion}[picture].show(shown)
