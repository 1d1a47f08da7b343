"""Devices: what there is to train on, what it is doing, and how fast it is."""

import streamlit as st

from ensemble.ui.devices import here, now, partitions, race, who
from ensemble.ui.shared import entry


def main() -> None:
    here.header()
    race.show()
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**At work and waiting**")
        now.show()
    with right:
        st.markdown("**Members per device**")
        here.spread()
    partitions.show()
    who.show()


entry.draw("devices", main)
