"""Pictures without labels uploaded as a pool: a .zip, or files one by one."""

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.datasets.own.sources.encoded.picture_decoding import SUFFIXES
from ensemble.errors import EnsembleError
from ensemble.jobs.uploads import dataset_upload
from ensemble.jobs.uploads.dataset_upload import UploadJob
from ensemble.runs.test_set import load_run_dataset
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping
from ensemble.wording.formats import pluralize_noun

_TYPES = ["zip", *(suffix.removeprefix(".") for suffix in sorted(SUFFIXES))]


def show_first_upload(run: runs.Run) -> None:
    """Where there is no pool yet: what one is, and the way to the first."""
    things = pluralize_noun(run.data.noun)
    st.markdown(f"#### No {things} wait for a label yet")
    st.caption(
        escaping.escape_markdown(
            f"Give {things} that nobody has labelled: the members say which labels would teach "
            "them most, and you label those here. What the dataset has already is left out."
        )
    )
    show_pool_upload(run)


def show_pool_upload(run: runs.Run) -> None:
    """Show the uploader; in its place the last upload of this tab until it is read, and why it failed."""
    job = dataset_upload.read_upload_job(tab.pool_upload)
    if job:
        job_panel.show_live_job(lambda: dataset_upload.read_upload_job(tab.pool_upload), _draw_upload)
        if not job.active:
            st.button(
                "Upload other pictures", icon=":material/upload:", key="labels_pool_again", on_click=_leave_upload
            )
        return
    things = pluralize_noun(run.data.noun)
    files = st.file_uploader(
        escaping.escape_markdown(f"A .zip of {things} without labels, or the pictures"),
        type=_TYPES,
        accept_multiple_files=True,
        key=f"labels_pool_upload_{tab.pool_upload_count}",
        **rights.build_control_arguments(
            Action.ADD_DATA,
            help="They are opened by a process of their own. Larger ones: `ensemble label pool` on its machine.",
        ),
    )
    if st.button(
        "Keep them as a pool",
        key="labels_pool_add",
        type="primary",
        icon=":material/library_add:",
        **rights.build_control_arguments(Action.ADD_DATA, disabled=not files),
    ):
        try:
            tab.pool_upload = dataset_upload.receive_pool_upload(files or [], load_run_dataset(run).name).id
            tab.pool_upload_count += 1  # another key: the files that were uploaded are forgotten
        except EnsembleError as error:
            tab.label_problem = str(error)
        st.rerun()


def leave_added_upload() -> None:
    """Forget the upload of this tab once it is a pool."""
    if (job := dataset_upload.read_upload_job(tab.pool_upload)) and job.state == "done":
        _leave_upload()


def _draw_upload(job: UploadJob) -> None:
    job_panel.show_job_progress(job, "you can continue meanwhile", prefix="labels_pool_")


def _leave_upload() -> None:
    """Remove the upload's files; the uploader takes its place."""
    try:
        dataset_upload.discard_upload(tab.pool_upload)
    except EnsembleError as error:
        tab.label_problem = str(error)
    else:
        tab.pool_upload = ""
