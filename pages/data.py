"""Data: what there is to train on, and how to add images of one's own."""

import streamlit as st

from ensemble.ui.data import dataset_actions, dataset_table, upload_progress, uploader
from ensemble.ui.shared import address, navigation


def show_data_page() -> None:
    dataset_actions.show_last_data_result()
    if wanted := address.UPLOAD.read():
        upload_progress.show_received_upload(wanted)
        return
    dataset_table.show_datasets()
    st.divider()
    uploader.show_dataset_uploader()


navigation.draw_page("data", show_data_page)
