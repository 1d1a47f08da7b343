"""Train's control for the precision of products, with what it is worth on this machine."""

import streamlit as st

from ensemble.datasets import registry
from ensemble.machine import product_plans
from ensemble.machine.this_machine import machine as this_machine
from ensemble.ui.devices import loader, probe
from ensemble.ui.shared import settings
from ensemble.wording import devices as devices_words

FLOAT32 = "float32, usual"


def control() -> None:
    """The choice; below it the speed-up as measured, or why there is none."""
    here = probe.probe().answer
    platform = here.platform if here else ""
    known = loader.latest(), platform, this_machine().fast_bfloat16, _plan()
    words = {"float32": FLOAT32, "bfloat16": devices_words.bfloat16_choice(*known)}
    settings.control("precision", format_func=words.__getitem__)
    if said := devices_words.precision(*known):
        st.caption(said)
    elif here:
        st.caption("What it is worth on this machine is not measured yet.")
        st.page_link("pages/devices.py", label="Measure it on Devices", icon=":material/timer:")


def _plan() -> product_plans.Plan | None:
    """What was measured for the network that is chosen, if it was."""
    images = registry.find(settings.value("dataset")).image_shape
    network, width = str(settings.value("network")), int(settings.value("width"))
    return product_plans.planned(product_plans.Purpose(network, width, tuple(images)))
