"""Devices: what there is to train on, what it is doing, and how fast it is."""

import streamlit as st

from ensemble.ui.devices import host_users, job_queue, machine_info, partitions, race
from ensemble.ui.shared import navigation


def show_devices_page() -> None:
    machine_info.show_machine_header()
    race.show_race()
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**At work and waiting**")
        job_queue.show_job_queue()
    with right:
        st.markdown("**Members per device**")
        machine_info.show_member_distribution()
    partitions.show_cluster()
    host_users.show_audit_log()


navigation.draw_page("devices", show_devices_page)
