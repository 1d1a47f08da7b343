"""The dashboard: page config, navigation and what a page shows when it fails."""

import streamlit as st

from ensemble.ui.entry import navigation
from ensemble.ui.guard import guarded

st.set_page_config(page_title="Deep ensembles", page_icon=":material/hub:", layout="wide")

page = navigation()
with guarded():
    page.run()
