"""What can be done with one dataset: train on it, fetch it, remove one's own."""

from collections.abc import Mapping

import streamlit as st

from ensemble import datasets
from ensemble.access import Action
from ensemble.datasets import DatasetInfo
from ensemble.datasets.own import custom_registry, staging
from ensemble.errors import EnsembleError
from ensemble.ui.frame import destructive_buttons
from ensemble.ui.shared import address, guard, loaders, settings, widget_state
from ensemble.ui.shared.tab import Tab, tab
from ensemble.ui.sign_in import rights
from ensemble.ui.train import controls
from ensemble.wording import escaping, formats

# To begin with on images of one's own: so many steps in all, and in an epoch.
_TARGET_STEPS, _STEPS_PER_EPOCH, _MIN_BATCH_SIZE, MAX_BATCH_SIZE = 400, 20, 8, 128
_MIN_EPOCHS, MAX_EPOCHS = 10, 50
_STARTING_LEARNING_RATE = 0.01
_MAX_LISTED_CLASSES = 12  # names of classes that are said


def show_dataset_panel(info: DatasetInfo) -> None:
    with st.container(border=True, key="data_actions"):
        st.markdown(f"**{escaping.escape_markdown(info.title)}**")
        st.caption(_describe_dataset_source(info))
        if tab.data_to_remove == info.name:
            _show_removal_confirmation(info)
        else:
            _show_dataset_buttons(info)
    if not info.prepared and not info.own:
        controls.show_fetch_panel(info)


def _describe_dataset_source(info: DatasetInfo) -> str:
    names = ", ".join(map(str, info.class_names[:_MAX_LISTED_CLASSES]))
    more = len(info.class_names) - _MAX_LISTED_CLASSES
    every = f"{names} and {more:,} more" if more > 0 else names
    return escaping.escape_markdown(f"{info.source}. Classes: {every}.")


def _show_dataset_buttons(info: DatasetInfo) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if info.prepared:
            _show_train_on_button(info.name)
        if info.own:
            st.space("stretch")
            destructive_buttons.show_destructive_button(
                "Remove…",
                key="data_remove",
                on_click=_request_dataset_removal,
                args=(info.name,),
                **rights.build_control_arguments(Action.DELETE, custom_registry.custom_datasets_folder() / info.name),
            )


def _show_train_on_button(name: str) -> None:
    wanted = _suggest_training_settings(datasets.find_dataset_info(name))
    listing = ", ".join(settings.describe_run_setting(setting, value) for setting, value in wanted.items())
    if st.button(
        "Train on it",
        icon=":material/model_training:",
        type="primary",
        key="data_train",
        on_click=_apply_training_settings,
        args=(name, wanted),
        help=f"Opens Train with it chosen: {listing}." if wanted else None,
    ):
        st.switch_page("pages/train.py")


def _apply_training_settings(name: str, wanted: Mapping[str, float]) -> None:
    """Callback: the dataset for the next run, and settings that suit it."""
    for setting, value in {"dataset": name, **wanted}.items():
        widget_state.set_widget_value(settings.format_setting_key(setting), value)


def _suggest_training_settings(info: DatasetInfo) -> dict[str, float]:
    """Settings to begin with on a dataset of one's own, which is small as a rule.

    Those of the built-in ones make a step or two an epoch of a few hundred images; with batches
    small enough for more, members only guess at their rate, and learn at a tenth of it.
    """
    if not info.own:
        return {}
    size = info.train_size
    room = min(max(size // _STEPS_PER_EPOCH, _MIN_BATCH_SIZE), MAX_BATCH_SIZE, size)
    batch = max(step for step in settings.list_slider_steps("batch_size") if step <= max(room, 1))
    epochs = -(-_TARGET_STEPS * batch // max(size, 1))
    longest = [step for step in settings.list_slider_steps("epochs") if step >= epochs] or [MAX_EPOCHS]
    return {
        "batch_size": batch,
        "learning_rate": _STARTING_LEARNING_RATE,
        "epochs": min(max(longest[0], _MIN_EPOCHS), MAX_EPOCHS),
    }


def _show_removal_confirmation(info: DatasetInfo) -> None:
    name = escaping.escape_markdown(info.title)
    images = formats.format_count(info.train_size + info.test_size, "image")
    st.warning(
        f"Remove {name} with its {images}? Your own files stay where they are. Runs that learnt "
        "it are kept, but can no longer show its images.",
        icon=":material/delete_forever:",
    )
    with st.container(horizontal=True):
        destructive_buttons.show_confirmation_button(
            f"Remove {name} for good",
            key="data_remove_sure",
            on_click=_confirm_dataset_removal,
            args=(info.name, info.title),
        )
        st.button("Keep it", key="data_keep", on_click=_request_dataset_removal, args=(None,))


def _request_dataset_removal(name: str | None) -> None:
    """Callback: the first press on Remove, or Keep it."""
    tab.data_to_remove = name


def _confirm_dataset_removal(name: str, title: str) -> None:
    """Callback: the second press."""
    _request_dataset_removal(None)
    try:
        staging.remove_custom_dataset(name)
    except EnsembleError as error:
        tab.data_message = "error", str(error)
        return
    loaders.load_cached_dataset.clear()
    address.DATASET.set_value(None)
    tab.data_message = "done", f"Removed {title}."


def show_last_data_result() -> None:
    kind, message = Tab.data_message.pop()
    if kind == "error":
        guard.show_error_message(message)
    elif kind:
        st.success(escaping.escape_markdown(message), icon=":material/check:")
