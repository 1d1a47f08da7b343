"""Train's control for the network: what it is, what it takes, and whether it can be trained."""

import streamlit as st

from ensemble import architectures, datasets
from ensemble.architectures import ARCHITECTURES
from ensemble.config import EnsembleConfig
from ensemble.datasets import DatasetInfo
from ensemble.errors import ConfigError
from ensemble.machine import network_cost
from ensemble.settings import FILE
from ensemble.ui.shared import settings
from ensemble.ui.train import asked
from ensemble.ui.train.asked import Known
from ensemble.wording import escaping
from ensemble.wording.runs import networks as networks_words


def control() -> None:
    """Which network."""
    listed = architectures.names()
    titles = {one: networks_words.told_apart(one, listed) for one in listed}
    settings.control(
        "network",
        choices=listed,
        format_func=titles.__getitem__,
        on_change=settings.reset,
        args=("width",),
    )


def draw_details() -> None:
    """Where the chosen network comes from, what it takes, what suits the images, how wide it is."""
    name, info = settings.value("network"), datasets.info(settings.value("dataset"))
    found = known(name, info, settings.value("width"))
    looked = st.fragment(facts, run_every=0.5 if found.waiting else None)
    looked(name, info, settings.value("width"), found.waiting)
    if said := networks_words.advice(name, info):
        st.caption(escaping.markdown(said))
    if usual := ARCHITECTURES[name].width if name in ARCHITECTURES else None:
        settings.control("width", help=f"Of its layers. 0 is its own, {usual}.")
        st.caption(networks_words.how_wide(name, settings.value("width")))
    if architectures.is_own(name) and not found.waiting:
        st.button(
            "Look at it again",
            key="network_again",
            icon=":material/refresh:",
            type="tertiary",
            on_click=asked.forget,
            help="Its files in this folder are watched; this is for what it imports from "
            "elsewhere.",
        )
    own_file()


def rate_doubt() -> None:
    """Beside rate and momentum: that they were too high for such a network and such images."""
    name, rate, momentum, dataset = (
        settings.value(one) for one in ("network", "learning_rate", "momentum", "dataset")
    )
    if said := networks_words.rate_doubt(name, rate, momentum, datasets.info(dataset)):
        st.caption(f":material/speed: {said}")


def facts(name: str, info: DatasetInfo, width: int, was_waiting: bool) -> None:
    """Where it is from and what it takes; looks again until that is known."""
    found = known(name, info, width)
    if found.waiting != was_waiting:
        st.rerun()
    said = f"{networks_words.source(name)} {taken(found)}".rstrip()
    st.caption(escaping.markdown(said), help=networks_words.GLOSS)


def taken(found: Known) -> str:
    """What a member takes, in words, or that it is still being asked."""
    if found.waiting:
        return "Looking at it…"
    return f"{networks_words.takes(found.cost)}." if found.cost else ""


def own_file() -> None:
    """What is amiss with the file that names networks of one's own."""
    try:
        architectures.offered()
    except ConfigError as error:
        st.caption(f":material/warning: {escaping.markdown(str(error))}")


def known(name: str, info: DatasetInfo, width: int) -> Known:
    """What is known of a network by now, for the images of a dataset."""
    try:
        architectures.check_image(name, *info.image_shape[:2])
        if architectures.is_own(name):
            return asked.known(name, info.name, info.fingerprint)
        cost = network_cost.of(name, info.image_shape, len(info.class_names), width)
    except ConfigError as error:
        return Known(problem=str(error))
    return Known(cost)


def still_asked() -> bool:
    """Whether the chosen network is one that has not said yet what it is."""
    name = settings.value("network")
    if not architectures.is_own(name):
        return False
    return known(name, datasets.info(settings.value("dataset")), settings.value("width")).waiting


def unfit(config: EnsembleConfig, found: Known) -> str:
    """Why a network cannot be trained so, or not yet, in a sentence; else ""."""
    if found.waiting:
        return f"Looking at {config.network}: a few seconds."
    if found.problem:
        return found.problem
    if config.precision != "float32" and not found.bfloat16:
        return (
            f"{config.network} has no field dtype to be told {config.precision} by: choose "
            "float32, or give it one."
        )
    return ""


def leave_removed() -> None:
    """Where the chosen network is no longer allowed here, take the first."""
    if (gone := settings.value("network")) in architectures.names():
        return
    settings.reset("network")
    settings.reset("width")
    said = f"The network {gone} is not in {FILE} here: another is chosen."
    st.warning(escaping.markdown(said), icon=":material/folder_off:")
