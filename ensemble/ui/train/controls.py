"""Train's settings: folded to one line while a run is shown, so that its curves have the page."""

import streamlit as st

from ensemble import datasets, runs
from ensemble.access import Action
from ensemble.datasets import DatasetInfo, registry
from ensemble.jobs import dataset_fetch
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared import settings
from ensemble.ui.shared.guard import guarded
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.ui.train import network, precision, presets, where
from ensemble.ui.train.varied import control as varied
from ensemble.wording import escaping, run_names
from ensemble.wording import jobs as jobs_words
from ensemble.wording.runs import networks as networks_words


def panel(shown: runs.Run | None) -> None:
    """The settings of the next run; beside a run one line, until a person unfolds it.

    Args:
      shown: the run on the page. With another one, and so after a launch, they fold again.
    """
    leave_removed()
    network.leave_removed()
    if not shown:
        every()
        return
    folded = is_folded(shown)
    # A button, for an expander with another label is another expander, and would close.
    st.button(
        escaping.markdown(run_names.learner(*map(settings.value, run_names.LEARNER))),
        icon=f":material/{'chevron_right' if folded else 'expand_more'}:",
        key="fold",
        width="stretch",
        on_click=fold,
        args=(shown.id if folded else "",),
    )
    if not folded:
        every()
    presets.of_the_run(shown)
    chosen = datasets.info(settings.value("dataset"))
    if folded and not chosen.prepared:
        fetch_panel(chosen)


def is_folded(shown: runs.Run | None) -> bool:
    """Whether the settings are a line, as beside a run until a person unfolds them."""
    return shown is not None and tab.unfolded != shown.id


def leave_removed() -> None:
    """Where the chosen dataset is no longer there, as one's own once removed, take the first."""
    if (gone := settings.value("dataset")) not in registry.names():
        settings.reset("dataset")
        said = escaping.markdown(f"The dataset {gone} is no longer there: another is chosen.")
        st.warning(said, icon=":material/folder_off:")


def fold(run_id: str) -> None:
    """Callback: unfold the settings beside this run, or beside none."""
    tab.unfolded = run_id


def every() -> None:
    """Every setting as a widget; those that a first run can leave alone stand under More.

    Dataset, network and the five that are turned first come before all else, close together, so
    that they stand in view at once.
    """
    differ = varied.names()
    with st.container(gap="xxsmall", key="first_settings"):
        dataset_control()
        network.control()
        for name in settings.FIRST:
            settings.control(name, **varied.instead(name, differ))
    network.rate_doubt()
    chosen = datasets.info(settings.value("dataset"))
    if not chosen.prepared:
        fetch_panel(chosen)
    presets.control()
    network.draw_details()
    varied.control()
    settings.control("seed")
    precision.control()
    where.control()
    more_controls()


def more_controls() -> None:
    """The rest, made only when asked for: each widget takes the browser time at every visit."""
    more = st.expander("More", key="more", on_change="rerun")
    if more.open:
        with more:
            for name in settings.MORE:
                if name == "groups" and where.choice():
                    continue  # It stands beside where they are to run.
                settings.control(name, **varied.instead(name, varied.names()))
                if name == "flip":
                    chosen = datasets.info(settings.value("dataset"))
                    st.caption(escaping.markdown(networks_words.flip(chosen)))
    elif said := settings.unusual_now():
        st.caption(f"Also: {said}.")


def dataset_control() -> None:
    """Which images; those that are there come first, and of these MNIST."""
    known = sorted(datasets.infos(), key=lambda info: (not info.prepared, info.name != "mnist"))
    titles = {info.name: titled(info) for info in known}
    settings.control("dataset", choices=list(titles), format_func=titles.__getitem__)


def offer_mnist() -> None:
    """Where MNIST is not there: a button that fetches it, and why that takes a button."""
    chosen = settings.value("dataset")
    if chosen != "mnist" and not datasets.is_prepared("mnist"):
        fetch_panel(datasets.info("mnist"))


def titled(info: DatasetInfo) -> str:
    """A dataset and how much of it there is: "MNIST · 60,000 images"."""
    return f"{info.title} · " + (f"{info.train_size:,} images" if info.prepared else "not here yet")


def fetch_panel(info: DatasetInfo) -> None:
    """A button that fetches `info`, then how far it is; looks again by itself while it runs."""
    job = dataset_fetch.read(info.name)
    active = job is not None and job.active
    st.fragment(fetch_progress, run_every=1.0 if active else None)(info, active)


def fetch_progress(info: DatasetInfo, was_active: bool) -> None:
    """The body of `fetch_panel`: reruns the page when fetching begins or ends."""
    job = dataset_fetch.read(info.name)
    if (job is not None and job.active) != was_active:
        st.rerun()
    if job and job.active:
        job_panel.show(
            job,
            f"{jobs_words.stage(job, [])}. You can go on meanwhile.",
            prefix=f"fetch_{info.name}_",
        )
        return
    if job and job.state == "failed":
        st.warning(escaping.markdown(job.message), icon=":material/cloud_off:")
    elif job and job.state == "stopped":
        st.info(escaping.markdown(job.message), icon=":material/stop:")
    megabytes = f"{info.nbytes_download / 1e6:.1f} MB"
    help = (
        f"{info.source}. {info.train_size:,} images to learn from and {info.test_size:,} to test."
    )
    if st.button(
        f"Fetch {info.title} ({megabytes})",
        icon=":material/download:",
        key=f"fetch_{info.name}",
        width="stretch",
        **rights.given(Action.ADD_DATA, help=help),
    ):
        with guarded():
            dataset_fetch.start(info.name)
            st.rerun()
    st.caption(
        f"{info.title} does not come with the program: it is fetched once, over the network. "
        "Digits works at once, without one."
    )
