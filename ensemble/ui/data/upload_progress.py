"""An upload: how far its reading is, and then what was found, before anything is added."""

import streamlit as st

from ensemble.errors import EnsembleError
from ensemble.jobs.uploads import dataset_upload
from ensemble.jobs.uploads.dataset_upload import UploadJob
from ensemble.jobs.uploads.upload_request import PAGE_FIELD_NAMES
from ensemble.ui.data import acceptance_form, upload_preview, uploader
from ensemble.ui.jobs import job_panel
from ensemble.wording import escaping


def show_received_upload(ident: str) -> None:
    job = dataset_upload.read_upload_job(ident)
    if job is None:
        st.warning(
            "This upload is no longer here: it was added, discarded, or is over a day old. Nothing else was lost.",
            icon=":material/link_off:",
        )
        uploader.show_upload_again_button()
        return
    st.caption(f"Your upload {escaping.escape_markdown(job.request.file)}")
    if job.active:
        job_panel.show_live_job(lambda: dataset_upload.read_upload_job(ident), _draw_upload_progress)
    elif job.state != "done":
        _show_upload_failure(job)
    else:
        try:
            upload_preview.show_upload_preview(job)
        except EnsembleError as error:
            uploader.show_upload_problem(error)


def _draw_upload_progress(job: UploadJob) -> None:
    job_panel.show_job_progress(job, "you can continue meanwhile", prefix="upload_")


def _show_upload_failure(job: UploadJob) -> None:
    job_panel.show_job_ending(job)
    if any(f"“{field}” below" in job.message for field in PAGE_FIELD_NAMES.values()):
        left, _ = st.columns([2, 3])
        with left:
            acceptance_form.show_preparation_controls(job)
    st.button(
        "Upload another file",
        icon=":material/upload:",
        key="data_again",
        on_click=uploader.leave_upload,
        args=(job.id,),
    )
