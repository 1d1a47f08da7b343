"""Train's settings: dataset, network and five numbers in one glance, all else under More."""

import streamlit as st

from ensemble import datasets, runs
from ensemble.access import Action
from ensemble.datasets import DatasetInfo, registry
from ensemble.jobs import dataset_fetch
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared import settings
from ensemble.ui.shared.guard import guard_page
from ensemble.ui.sign_in import rights
from ensemble.ui.train import (
    network_control,
    number_fields,
    placement_control,
    precision_control,
    presets,
    teacher_control,
)
from ensemble.ui.train.varied import variation_control as varied
from ensemble.wording import escaping
from ensemble.wording.runs import networks as networks_words


def show_main_settings() -> None:
    settings.begin_settings_visit(settings.RUN_FORM)
    differ = varied.list_chosen_variations()
    _reset_removed_dataset()
    network_control.reset_removed_network()
    # Close together, so that they stand in view at once.
    with st.container(gap="xsmall", key="first_settings"):
        _show_dataset_control()
        network_control.show_network_control()
        number_fields.show_number_fields(settings.RUN_FORM, differ)
    network_control.show_network_advice()
    network_control.show_rate_warning()
    chosen = datasets.find_dataset_info(settings.get_run_setting("dataset"))
    if not chosen.prepared:
        show_fetch_panel(chosen)


def show_more_settings(run: runs.Run | None) -> None:
    """All other settings, and settings to begin with.

    Args:
      run: the run on the page, whose settings can be copied; None where there is none.
    """
    settings.show_setting_groups(settings.RUN_FORM, _show_other_setting)
    placement_control.show_placement_control()
    presets.show_preset_buttons()
    if run:
        presets.show_settings_difference(run)


def _reset_removed_dataset() -> None:
    if (gone := settings.get_run_setting("dataset")) not in registry.list_dataset_names():
        settings.reset_run_setting("dataset")
        text = escaping.escape_markdown(f"The dataset {gone} is no longer there: another is chosen.")
        st.warning(text, icon=":material/folder_off:")


def _show_other_setting(name: str) -> None:
    if name == "vary":
        varied.show_variation_control()
    elif name == "width":
        network_control.show_network_details()
    elif name == "teacher":
        teacher_control.show_teacher_control()
    elif name == "precision":
        precision_control.show_precision_control()
    elif name != "groups" or not placement_control.get_selected_place():
        # With a place, groups stand beside it.
        settings.select_run_setting(
            name, **varied.build_varied_control_arguments(name, varied.list_chosen_variations())
        )
        if name == "flip":
            chosen = datasets.find_dataset_info(settings.get_run_setting("dataset"))
            st.caption(escaping.escape_markdown(networks_words.describe_flip_advice(chosen)))


def _show_dataset_control() -> None:
    """Which images; those that are there come first, and of these MNIST."""
    dataset_infos = sorted(datasets.list_dataset_infos(), key=lambda info: (not info.prepared, info.name != "mnist"))
    titles = {info.name: _format_dataset_title(info) for info in dataset_infos}
    settings.select_run_setting("dataset", choices=list(titles), format_func=titles.__getitem__)


def show_mnist_offer() -> None:
    """Where MNIST is not there: a button that fetches it, and why that takes a button."""
    chosen = settings.get_run_setting("dataset")
    if chosen != "mnist" and not datasets.is_dataset_prepared("mnist"):
        show_fetch_panel(datasets.find_dataset_info("mnist"))


def _format_dataset_title(info: DatasetInfo) -> str:
    """A dataset and how much of it there is: "MNIST · 60,000 images"."""
    return f"{info.title} · " + (f"{info.train_size:,} images" if info.prepared else "not fetched yet")


def show_fetch_panel(info: DatasetInfo) -> None:
    """A button that fetches `info`, then how far it is; looks again by itself while it runs."""
    if dataset_fetch.read_fetch_job(info.name):
        job_panel.show_live_job(
            lambda: dataset_fetch.read_fetch_job(info.name), lambda job: _draw_fetch_panel(info, job)
        )
    else:
        _show_fetch_button(info)


def _draw_fetch_panel(info: DatasetInfo, job: dataset_fetch.FetchJob) -> None:
    if job.active:
        job_panel.show_job_progress(job, "you can continue meanwhile", prefix=f"fetch_{info.name}_")
        return
    if job.state == "failed":
        st.warning(escaping.escape_markdown(job.message), icon=":material/cloud_off:")
    elif job.state == "stopped":
        st.info(escaping.escape_markdown(job.message), icon=":material/stop:")
    _show_fetch_button(info)


def _show_fetch_button(info: DatasetInfo) -> None:
    megabytes = f"{info.nbytes_download / 1e6:.1f} MB"
    help = (
        f"{info.source}. {info.train_size:,} images to learn from and {info.test_size:,} to test. "
        f"{info.title} does not come with the program: it is downloaded once. Digits works at "
        "once, without a download."
    )
    if st.button(
        f"Fetch {info.title} ({megabytes})",
        icon=":material/download:",
        key=f"fetch_{info.name}",
        width="stretch",
        **rights.build_control_arguments(Action.ADD_DATA, help=help),
    ):
        with guard_page():
            dataset_fetch.start_fetch(info.name)
            st.rerun()
