"""Train's control for the precision of products, with what it is worth on this machine."""

import streamlit as st

from ensemble.datasets import registry
from ensemble.machine import bfloat16_plans
from ensemble.machine.machine_info import read_machine_info as this_machine
from ensemble.ui.devices import bench_results, probe
from ensemble.ui.shared import settings
from ensemble.wording import bench as bench_words

_FLOAT32_LABEL = "float32, usual"


def show_precision_control() -> None:
    """The choice; below it the speed-up as measured, or why there is none."""
    here = probe.get_device_probe().inventory
    platform = here.platform if here else ""
    circumstances = (bench_results.find_latest_bench(), platform, this_machine().fast_bfloat16, _find_product_plan())
    words = {"float32": _FLOAT32_LABEL, "bfloat16": bench_words.label_bfloat16_choice(*circumstances)}
    settings.select_run_setting("precision", format_func=words.__getitem__)
    if bfloat16_support := bench_words.describe_bfloat16_support(*circumstances):
        st.caption(bfloat16_support)
    elif here:
        st.caption("Not measured on this machine yet. To measure it, run `ensemble bench`.")


def _find_product_plan() -> bfloat16_plans.Bfloat16Plan | None:
    images = registry.find_dataset_entry(settings.get_run_setting("dataset")).image_shape
    network, width = (str(settings.get_run_setting("network")), int(settings.get_run_setting("width")))
    return bfloat16_plans.load_bfloat16_plan(bfloat16_plans.PlanKey(network, width, tuple(images)))
