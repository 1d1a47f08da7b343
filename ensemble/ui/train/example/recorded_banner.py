"""The band over a screen that shows the recorded run: whose it is not, and the way to one's own."""

import streamlit as st

from ensemble.ui.frame import plain_words
from ensemble.ui.train.example import recording
from ensemble.wording import run_names


def show_recorded_banner(title: str) -> None:
    st.subheader(title, anchor=False)
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small", key="recorded_band"):
        st.badge("Recorded example, not one of your runs", icon=":material/history:", color="orange")
        st.caption(
            f"{run_names.format_ensemble_settings(recording.load_recorded_config())}. Yours "
            "replaces it after its first epoch.",
            width="content",
        )
        st.page_link("pages/train.py", label="Train a first ensemble", icon=":material/arrow_forward:", width="content")
        plain_words.show_terms_control()
