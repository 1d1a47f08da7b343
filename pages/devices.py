"""Devices: what there is to train on, what it is doing, and how fast it is."""

import streamlit as st

from ensemble.ui import devices_here, devices_now, devices_race, entry


def main() -> None:
    entry.through_app()
    devices_here.header()
    devices_race.show()
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**At work and waiting**")
        devices_now.show()
    with right:
        st.markdown("**Members per device**")
        devices_here.spread()


main()
