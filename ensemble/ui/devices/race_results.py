"""What races have found on this machine, as the pages read it: once for each version."""

import socket

import streamlit as st

from ensemble.jobs.folders import machine_folder
from ensemble.race import Race, read_races
from ensemble.ui.shared import loaders


def list_machine_races() -> list[Race]:
    """Every race on this machine, newest last; shared between tabs: treat it as read-only."""
    return _load_machine_races(str(machine_folder()), loaders.get_file_version(machine_folder()))


def find_latest_race() -> Race | None:
    """The newest race on this machine; None where there was none."""
    return list_machine_races()[-1] if list_machine_races() else None


@st.cache_resource(max_entries=2, show_spinner=False)
def _load_machine_races(folder: str, version: tuple[int, int]) -> list[Race]:
    # A data folder may be shared by several machines, and a task on a cluster has a share of one.
    mine = socket.gethostname()
    return [race for race in read_races() if race.host == mine and not race.on]
