"""The dashboard: page config, navigation and what a page shows when it fails."""

from pathlib import Path

import streamlit as st

from ensemble.ui.entry import navigation
from ensemble.ui.guard import guarded

# A file of our own: an icon by its name would be fetched from another machine.
ICON = Path(__file__).parent / "ensemble" / "ui" / "icon.svg"
st.set_page_config(page_title="Deep ensembles", page_icon=ICON, layout="wide")

page = navigation()
with guarded():
    page.run()
