"""What can be done with one dataset: train on it, fetch it, remove one's own."""

from collections.abc import Mapping

import streamlit as st

from ensemble import datasets
from ensemble.access import Action
from ensemble.datasets import DatasetInfo
from ensemble.datasets.own import entries, staging
from ensemble.errors import EnsembleError
from ensemble.ui.frame import danger
from ensemble.ui.shared import address, guard, loaders, settings, widget
from ensemble.ui.shared.tab import Tab, tab
from ensemble.ui.sign_in import rights
from ensemble.ui.train import controls
from ensemble.wording import escaping, formats

# To begin with on images of one's own: so many steps in all, and in an epoch.
STEPS, STEPS_AN_EPOCH, SMALLEST_BATCH, LARGEST_BATCH = 400, 20, 8, 128
FEWEST_EPOCHS, MOST_EPOCHS = 10, 50
RATE = 0.01
CLASSES = 12  # names of classes that are said


def panel(info: DatasetInfo) -> None:
    """Everything that can be done with one dataset."""
    with st.container(border=True, key="data_actions"):
        st.markdown(f"**{escaping.markdown(info.title)}**")
        st.caption(about(info))
        if tab.data_to_remove == info.name:
            sure(info)
        else:
            buttons(info)
    if not info.prepared and not info.own:
        controls.fetch_panel(info)


def about(info: DatasetInfo) -> str:
    """Where it is from and what its classes are, in Markdown."""
    names = ", ".join(map(str, info.class_names[:CLASSES]))
    more = len(info.class_names) - CLASSES
    every = f"{names} and {more:,} more" if more > 0 else names
    return escaping.markdown(f"{info.source}. Classes: {every}.")


def buttons(info: DatasetInfo) -> None:
    """Train on it, and the first question before one's own is removed."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if info.prepared:
            train_on(info.name)
        if info.own:
            st.space("stretch")
            danger.ask_button(
                "Remove…",
                key="data_remove",
                on_click=ask,
                args=(info.name,),
                **rights.given(Action.DELETE, entries.folder() / info.name),
            )


def train_on(name: str) -> None:
    """The way to Train with this dataset chosen there."""
    wanted = fitting(datasets.info(name))
    said = ", ".join(settings.in_words(one, value) for one, value in wanted.items())
    if st.button(
        "Train on it",
        icon=":material/model_training:",
        type="primary",
        key="data_train",
        on_click=choose,
        args=(name, wanted),
        help=f"Opens Train with it chosen: {said}." if wanted else None,
    ):
        st.switch_page("pages/train.py")


def choose(name: str, wanted: Mapping[str, float]) -> None:
    """Callback: the dataset for the next run, and settings that suit it."""
    for setting, value in {"dataset": name, **wanted}.items():
        widget.put(settings.key(setting), value)


def fitting(info: DatasetInfo) -> dict[str, float]:
    """Settings to begin with on a dataset of one's own, which is small as a rule.

    Those of the built-in ones make a step or two an epoch of a few hundred images; with batches
    small enough for more, members only guess at their rate, and learn at a tenth of it.
    """
    if not info.own:
        return {}
    size = info.train_size
    room = min(max(size // STEPS_AN_EPOCH, SMALLEST_BATCH), LARGEST_BATCH, size)
    batch = max(step for step in settings.steps("batch_size") if step <= max(room, 1))
    epochs = -(-STEPS * batch // max(size, 1))
    longest = [step for step in settings.steps("epochs") if step >= epochs] or [MOST_EPOCHS]
    return {
        "batch_size": batch,
        "learning_rate": RATE,
        "epochs": min(max(longest[0], FEWEST_EPOCHS), MOST_EPOCHS),
    }


def sure(info: DatasetInfo) -> None:
    """The second question before one's own is removed."""
    name = escaping.markdown(info.title)
    images = formats.count(info.train_size + info.test_size, "image")
    st.warning(
        f"Remove {name} with its {images}? Your own files stay where they are. Runs that learnt "
        "it are kept, but can no longer show its images.",
        icon=":material/delete_forever:",
    )
    with st.container(horizontal=True):
        danger.sure_button(
            f"Remove {name} for good",
            key="data_remove_sure",
            on_click=remove,
            args=(info.name, info.title),
        )
        st.button("Keep it", key="data_keep", on_click=ask, args=(None,))


def ask(name: str | None) -> None:
    """Callback: the first press on Remove, or Keep it."""
    tab.data_to_remove = name


def remove(name: str, title: str) -> None:
    """Callback: the second press."""
    ask(None)
    try:
        staging.remove(name)
    except EnsembleError as error:
        tab.data_said = "error", str(error)
        return
    loaders.dataset.clear()
    address.DATASET.put(None)
    tab.data_said = "done", f"Removed {title}."


def tell() -> None:
    """What came of the last press, once."""
    kind, said = Tab.data_said.take()
    if kind == "error":
        guard.problem(said)
    elif kind:
        st.success(escaping.markdown(said), icon=":material/check:")
