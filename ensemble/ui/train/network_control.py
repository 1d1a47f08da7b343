"""Train's control for the network: what it is, what it takes, and whether it can be trained."""

import streamlit as st

from ensemble import architectures, datasets
from ensemble.architectures import ARCHITECTURES
from ensemble.config import EnsembleConfig
from ensemble.datasets import DatasetInfo
from ensemble.errors import ConfigError
from ensemble.jobs.network_probe import ProbeResult, describe_unfit_precision
from ensemble.machine import network_cost
from ensemble.settings import SETTINGS_FILE_NAME
from ensemble.ui.shared import settings
from ensemble.ui.train import network_probe
from ensemble.wording import escaping
from ensemble.wording.runs import networks as networks_words


def show_network_control() -> None:
    listed = architectures.list_network_names()
    titles = {name: networks_words.format_unique_network_name(name, listed) for name in listed}
    settings.select_run_setting(
        "network", choices=listed, format_func=titles.__getitem__, on_change=settings.reset_run_setting, args=("width",)
    )


def show_network_advice() -> None:
    name, info = (settings.get_run_setting("network"), datasets.find_dataset_info(settings.get_run_setting("dataset")))
    if text := networks_words.recommend_network(name, info):
        st.caption(escaping.escape_markdown(text))
    width = settings.get_run_setting("width")
    waiting = probe_network(name, info, width).is_pending
    noted = st.fragment(_show_network_notes, run_every=0.5 if waiting else None)
    noted(name, info, width, waiting)
    _show_network_file_problem()


def _show_network_notes(name: str, info: DatasetInfo, width: int, was_waiting: bool) -> None:
    """What a network of one's own is found to do; looks again until that is known.

    The answer may come while the page is drawn: what stands lower down has it then, and nothing
    else would draw these lines again.
    """
    probed = probe_network(name, info, width)
    if probed.is_pending != was_waiting:
        st.rerun()
    for note in probed.notes:
        st.caption(escaping.escape_markdown(note))
    for note in probed.advice:
        st.caption(f":material/warning: {escaping.escape_markdown(note)}")


def show_network_details() -> None:
    name, info = (settings.get_run_setting("network"), datasets.find_dataset_info(settings.get_run_setting("dataset")))
    network = probe_network(name, info, settings.get_run_setting("width"))
    looked = st.fragment(_show_network_facts, run_every=0.5 if network.is_pending else None)
    looked(name, info, settings.get_run_setting("width"), network.is_pending)
    if usual := ARCHITECTURES[name].width if name in ARCHITECTURES else None:
        settings.select_run_setting("width", help=f"Of its layers. 0 is its own, {usual}.")
        st.caption(networks_words.describe_network_width(name, settings.get_run_setting("width")))
    if architectures.is_custom_network(name) and not network.is_pending:
        st.button(
            "Inspect it again",
            key="network_again",
            icon=":material/refresh:",
            type="tertiary",
            on_click=network_probe.forget_network_probes,
            help="Its files in this folder are watched; this is for what it imports from elsewhere.",
        )


def show_rate_warning() -> None:
    """Beside rate and momentum: that they were too high for such a network and such images."""
    name, rate, momentum, dataset = (
        settings.get_run_setting(setting) for setting in ("network", "learning_rate", "momentum", "dataset")
    )
    if high_rate_risk := networks_words.describe_high_rate_risk(
        name, rate, momentum, datasets.find_dataset_info(dataset)
    ):
        st.caption(f":material/speed: {high_rate_risk}")


def _show_network_facts(name: str, info: DatasetInfo, width: int, was_waiting: bool) -> None:
    """Where it is from and what it takes; looks again until that is known."""
    network = probe_network(name, info, width)
    if network.is_pending != was_waiting:
        st.rerun()
    text = f"{networks_words.describe_network_source(name)} {_describe_probed_cost(network)}".rstrip()
    st.caption(escaping.escape_markdown(text), help=networks_words.FLOPS_GLOSS)


def _describe_probed_cost(result: ProbeResult) -> str:
    if result.is_pending:
        return "Inspecting it…"
    return f"{networks_words.format_network_cost(result.cost)}." if result.cost else ""


def _show_network_file_problem() -> None:
    try:
        architectures.list_configured_networks()
    except ConfigError as error:
        st.caption(f":material/warning: {escaping.escape_markdown(str(error))}")


def probe_network(name: str, info: DatasetInfo, width: int) -> ProbeResult:
    try:
        architectures.check_image_size(name, *info.image_shape[:2])
        if architectures.is_custom_network(name):
            return network_probe.probe_own_network(name, info.name, info.fingerprint)
        cost = network_cost.compute_network_cost(name, info.image_shape, len(info.class_names), width)
    except ConfigError as error:
        return ProbeResult(problem=str(error))
    return ProbeResult(cost)


def is_network_pending() -> bool:
    name = settings.get_run_setting("network")
    if not architectures.is_custom_network(name):
        return False
    return probe_network(
        name, datasets.find_dataset_info(settings.get_run_setting("dataset")), settings.get_run_setting("width")
    ).is_pending


def describe_unfit_network(config: EnsembleConfig, result: ProbeResult) -> str:
    """Why a network cannot be trained so, or not yet, in a sentence; else ""."""
    if result.is_pending:
        return f"Inspecting {config.network}: a few seconds."
    if result.problem:
        return result.problem
    return describe_unfit_precision(config, result)


def reset_removed_network() -> None:
    if (gone := settings.get_run_setting("network")) in architectures.list_network_names():
        return
    settings.reset_run_setting("network")
    settings.reset_run_setting("width")
    text = f"The network {gone} is not in {SETTINGS_FILE_NAME} here: another is chosen."
    st.warning(escaping.escape_markdown(text), icon=":material/folder_off:")
