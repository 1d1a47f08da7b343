"""A word where the folder of runs is full, or nearly: nothing new can be kept then."""

import streamlit as st

from ensemble.access import limits
from ensemble.wording import escaping


def tell() -> None:
    """Says how full it is, once it is worth a word; nothing where nobody set a size."""
    if not (found := limits.room()) or not found.nearly:
        return
    icon = ":material/disc_full:" if found.full else ":material/storage:"
    st.warning(escaping.markdown(str(found)), icon=icon)
