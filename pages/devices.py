"""Devices: what there is to train on, what it is doing, and how fast it is."""

import streamlit as st

from ensemble.ui.devices import host_users, job_queue, machine_info, partitions
from ensemble.ui.shared import navigation


def show_devices_page() -> None:
    with st.container(gap="xsmall", key="job_queue"):
        job_queue.show_job_queue()
    machine_info.show_machine_header()
    machine_info.show_training_speed()
    with st.container(width=560):
        machine_info.show_member_distribution_panel()
    partitions.show_cluster()
    host_users.show_audit_log()


navigation.draw_page("devices", show_devices_page)
