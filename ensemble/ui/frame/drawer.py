"""A phone's drawer, in which the menu and the settings stand: closed when it has been used."""

import functools
import json
import os
from pathlib import Path

import streamlit as st

from ensemble.jobs.launch import STOP_WITH_SERVER
from ensemble.ui.frame.logo import STYLE_ID, load_stylesheet
from ensemble.ui.shared.tab import tab


def close_drawer_after_use(page: str) -> None:
    """Close the drawer of a narrow window when another page is drawn, or a job was launched.

    Moving a slider in it changes neither, so that all can be set in one go.
    """
    place = json.dumps((page, tab.launched_at))
    with st.container(key="drawer_closer"):
        # The script is the program's own, and its argument a word and a time of its own.
        st.html(
            f"<script>{_load_drawer_script()}\ndrawer({json.dumps(place)}, {json.dumps(page)})</script>",
            unsafe_allow_javascript=True,
        )


@functools.cache
def _load_drawer_script() -> str:
    """What closes it, in the browser, and what else watches over every page.

    That is: what a lost server means for runs, names that have no room, the focus once a dialog is closed, and the
    page's style.
    """
    folder = Path(__file__).parent / "js"
    scripts = [(folder / f"{name}.js").read_text("utf-8") for name in ("drawer", "connection", "names", "focus")]
    calls = f"watchConnection({json.dumps(_describe_lost_server())})\nwatchNames()\nwatchDialogs()"
    style = f"addStyle({json.dumps(STYLE_ID)}, {json.dumps(load_stylesheet())})"
    return "\n".join([*scripts, calls, style])


def _describe_lost_server() -> str:
    runs = "Your runs go on: each trains in a process of its own, and nothing is lost."
    if os.environ.get(STOP_WITH_SERVER) == "1":
        runs = "Runs stop with a checkpoint where the server was ended, and go on once resumed."
    return f"{runs} This page comes back by itself when the server does; whoever looks after it starts it again."
