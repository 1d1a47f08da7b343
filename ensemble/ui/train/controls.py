"""Train's settings: folded to one line while a run is shown, so that its curves have the page."""

import streamlit as st

from ensemble import datasets, runs
from ensemble.access import Action
from ensemble.datasets import DatasetInfo, registry
from ensemble.jobs import dataset_fetch
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared import settings
from ensemble.ui.shared.guard import guard_page
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.ui.train import network_control, placement_control, precision_control, presets
from ensemble.ui.train.varied import variation_control as varied
from ensemble.wording import escaping, run_names
from ensemble.wording import jobs as jobs_words
from ensemble.wording.runs import networks as networks_words


def show_train_settings(run: runs.Run | None) -> None:
    """The settings of the next run; beside a run one line, until a person unfolds it.

    Args:
      run: the run on the page. With another one, and so after a launch, they fold again.
    """
    reset_removed_dataset()
    network_control.reset_removed_network()
    if not run:
        show_all_settings()
        return
    folded = has_folded_settings(run)
    # A button, for an expander with another label is another expander, and would close.
    st.button(
        escaping.escape_markdown(
            run_names.format_learner_settings(
                *map(settings.get_run_setting, run_names.LEARNER_SETTINGS)
            )
        ),
        icon=f":material/{'chevron_right' if folded else 'expand_more'}:",
        key="fold",
        width="stretch",
        on_click=set_unfolded_run,
        args=(run.id if folded else "",),
    )
    if not folded:
        show_all_settings()
    presets.show_settings_difference(run)
    chosen = datasets.find_dataset_info(settings.get_run_setting("dataset"))
    if folded and not chosen.prepared:
        show_fetch_panel(chosen)


def has_folded_settings(run: runs.Run | None) -> bool:
    """Whether the settings are a line, as beside a run until a person unfolds them."""
    return run is not None and tab.unfolded_run_id != run.id


def reset_removed_dataset() -> None:
    """Where the chosen dataset is no longer there, as one's own once removed, take the first."""
    if (gone := settings.get_run_setting("dataset")) not in registry.list_dataset_names():
        settings.reset_run_setting("dataset")
        text = escaping.escape_markdown(
            f"The dataset {gone} is no longer there: another is chosen."
        )
        st.warning(text, icon=":material/folder_off:")


def set_unfolded_run(run_id: str) -> None:
    """Callback: unfold the settings beside this run, or beside none."""
    tab.unfolded_run_id = run_id


def show_all_settings() -> None:
    """Every setting as a widget; those that a first run can leave alone stand under More.

    Dataset, network and the five that are turned first come before all else, close together, so
    that they stand in view at once.
    """
    differ = varied.list_chosen_variations()
    with st.container(gap="xxsmall", key="first_settings"):
        show_dataset_control()
        network_control.show_network_control()
        for name in settings.PRIMARY_FIELDS:
            settings.select_run_setting(name, **varied.build_varied_control_arguments(name, differ))
    network_control.show_rate_warning()
    chosen = datasets.find_dataset_info(settings.get_run_setting("dataset"))
    if not chosen.prepared:
        show_fetch_panel(chosen)
    presets.show_preset_buttons()
    network_control.show_network_details()
    varied.show_variation_control()
    settings.select_run_setting("seed")
    precision_control.show_precision_control()
    placement_control.show_placement_control()
    show_advanced_settings()


def show_advanced_settings() -> None:
    """The rest, made only when asked for: each widget takes the browser time at every visit."""
    more = st.expander("More", key="more", on_change="rerun")
    if more.open:
        with more:
            for name in settings.ADVANCED_FIELDS:
                if name == "groups" and placement_control.get_selected_place():
                    continue  # It stands beside where they are to run.
                settings.select_run_setting(
                    name,
                    **varied.build_varied_control_arguments(name, varied.list_chosen_variations()),
                )
                if name == "flip":
                    chosen = datasets.find_dataset_info(settings.get_run_setting("dataset"))
                    st.caption(
                        escaping.escape_markdown(networks_words.describe_flip_advice(chosen))
                    )
    elif changed_run_controls := settings.describe_changed_run_controls():
        st.caption(f"Also: {changed_run_controls}.")


def show_dataset_control() -> None:
    """Which images; those that are there come first, and of these MNIST."""
    dataset_infos = sorted(
        datasets.list_dataset_infos(), key=lambda info: (not info.prepared, info.name != "mnist")
    )
    titles = {info.name: format_dataset_title(info) for info in dataset_infos}
    settings.select_run_setting("dataset", choices=list(titles), format_func=titles.__getitem__)


def show_mnist_offer() -> None:
    """Where MNIST is not there: a button that fetches it, and why that takes a button."""
    chosen = settings.get_run_setting("dataset")
    if chosen != "mnist" and not datasets.is_dataset_prepared("mnist"):
        show_fetch_panel(datasets.find_dataset_info("mnist"))


def format_dataset_title(info: DatasetInfo) -> str:
    """A dataset and how much of it there is: "MNIST · 60,000 images"."""
    return f"{info.title} · " + (
        f"{info.train_size:,} images" if info.prepared else "not fetched yet"
    )


def show_fetch_panel(info: DatasetInfo) -> None:
    """A button that fetches `info`, then how far it is; looks again by itself while it runs."""
    job = dataset_fetch.read_fetch_job(info.name)
    active = job is not None and job.active
    st.fragment(refresh_fetch_panel, run_every=1.0 if active else None)(info, active)


def refresh_fetch_panel(info: DatasetInfo, was_active: bool) -> None:
    """The body of `show_fetch_panel`: reruns the page when fetching begins or ends."""
    job = dataset_fetch.read_fetch_job(info.name)
    if (job is not None and job.active) != was_active:
        st.rerun()
    if job and job.active:
        job_panel.show_job_progress(
            job,
            f"{jobs_words.describe_job_stage(job, [])}. You can continue meanwhile.",
            prefix=f"fetch_{info.name}_",
        )
        return
    if job and job.state == "failed":
        st.warning(escaping.escape_markdown(job.message), icon=":material/cloud_off:")
    elif job and job.state == "stopped":
        st.info(escaping.escape_markdown(job.message), icon=":material/stop:")
    megabytes = f"{info.nbytes_download / 1e6:.1f} MB"
    help = (
        f"{info.source}. {info.train_size:,} images to learn from and {info.test_size:,} to test."
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
    st.caption(
        f"{info.title} does not come with the program: it is downloaded once. Digits works at "
        "once, without a download."
    )
