"""Data: what there is to train on, and how to add images of one's own."""

import streamlit as st

from ensemble.ui.data import actions, listing, received, uploader
from ensemble.ui.shared import address, entry


def main() -> None:
    actions.tell()
    if wanted := address.UPLOAD.read():
        received.show(wanted)
        return
    listing.show()
    st.divider()
    uploader.show()


entry.draw("data", main)
