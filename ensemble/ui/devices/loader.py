"""What races have found on this machine, as the pages read it: once for each version."""

import socket

import streamlit as st

from ensemble.jobs.folders import machine_folder
from ensemble.race import Race, read_races
from ensemble.ui.shared import loaders


def races() -> list[Race]:
    """Every race on this machine, newest last; shared between tabs: treat it as read-only."""
    return _races(str(machine_folder()), loaders.version(machine_folder()))


def latest() -> Race | None:
    """The newest race on this machine; None where there was none."""
    return races()[-1] if races() else None


@st.cache_resource(max_entries=2, show_spinner=False)
def _races(folder: str, seen: tuple[int, int]) -> list[Race]:
    # A data folder may be shared by several machines, and a task on a cluster has a share of one.
    mine = socket.gethostname()
    return [race for race in read_races() if race.host == mine and not race.on]
