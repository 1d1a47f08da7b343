"""Train's control for the precision of products, with what it is worth on this machine."""

import streamlit as st

from ensemble.machine.this_machine import machine as this_machine
from ensemble.ui.devices import loader, probe
from ensemble.ui.shared import settings
from ensemble.wording import devices as devices_words

WORDS = {"float32": "float32, usual", "bfloat16": "bfloat16, half the bits"}


def control() -> None:
    """The choice; below it the speed-up as measured, or why there is none."""
    settings.control("precision", format_func=WORDS.__getitem__)
    here = probe.probe().answer
    platform = here.platform if here else ""
    fast = this_machine().fast_bfloat16
    if said := devices_words.precision(loader.latest(), platform, fast):
        st.caption(said)
    elif here:
        st.caption("What it is worth on this machine is not measured yet.")
        st.page_link("pages/devices.py", label="Measure it on Devices", icon=":material/timer:")
