"""An upload: how far its reading is, and then what was found, before anything is added."""

import streamlit as st

from ensemble.errors import EnsembleError
from ensemble.jobs.uploads import dataset_upload
from ensemble.jobs.uploads.dataset_upload import UploadJob
from ensemble.jobs.uploads.handed_in import ON_THE_PAGE
from ensemble.ui.data import acceptance, preview, uploader
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared import guard
from ensemble.ui.shared.guard import guarded
from ensemble.wording import escaping
from ensemble.wording import jobs as jobs_words

SECONDS_BETWEEN = 1.0


def show(ident: str) -> None:
    """The upload that the address names."""
    job = dataset_upload.read(ident)
    if job is None:
        st.warning(
            "This upload is no longer here: it was added, thrown away, or is over a day "
            "old. Nothing else was lost.",
            icon=":material/link_off:",
        )
        uploader.again()
        return
    st.caption(f"Your upload {escaping.markdown(job.request.file)}")
    if job.active:
        st.fragment(progress, run_every=SECONDS_BETWEEN)(ident)
    elif job.state != "done":
        ended(job)
    else:
        try:
            preview.show(job)
        except EnsembleError as error:
            uploader.problem(error)


def progress(ident: str) -> None:
    """How far the reading is; the whole page is drawn once it has ended."""
    with guarded():
        job = dataset_upload.read(ident)
        if job is None or not job.active:
            st.rerun()
        job_panel.show(
            job, f"{jobs_words.stage(job, [])}. You can go on meanwhile.", prefix="upload_"
        )


def ended(job: UploadJob) -> None:
    """Why nothing came of it, and the way back."""
    if job.state == "stopped":
        st.info(escaping.markdown(job.message), icon=":material/stop:")
    else:
        guard.problem(job.message or f"It ended unexpectedly; {job.kind.kept}.")
    if any(f"“{field}” below" in job.message for field in ON_THE_PAGE.values()):
        left, _ = st.columns([2, 3])
        with left:
            acceptance.prepared_otherwise(job)
    st.button(
        "Upload another file",
        icon=":material/upload:",
        key="data_again",
        on_click=uploader.leave,
        args=(job.id,),
    )
