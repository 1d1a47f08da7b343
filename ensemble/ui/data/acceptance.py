"""What a dataset of one's own is to be called, and the button that adds it."""

import re

import streamlit as st

from ensemble.access import Action
from ensemble.datasets.own import entries
from ensemble.datasets.own.request import WORDS, Called
from ensemble.errors import EnsembleError
from ensemble.jobs.uploads import dataset_upload, trial
from ensemble.jobs.uploads.dataset_upload import UploadJob
from ensemble.jobs.uploads.handed_in import Request
from ensemble.jobs.uploads.trial import Trial
from ensemble.ui.data import uploader
from ensemble.ui.shared import address, widget
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import formats

UNREADABLE = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
SHARES = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
MOST_SIDE = 256


def form(job: UploadJob, found: Trial) -> None:
    """The fields; what was typed stays until it is added."""
    stem = job.request.file.rpartition(".")[0]
    st.text_input(
        "Title",
        stem[:WORDS],
        max_chars=WORDS,
        key=key(job, "title"),
        help="What people call it.",
        persist_state="session",
    )
    left, right = st.columns(2)
    left.text_input(
        "Name",
        suggested(stem),
        max_chars=32,
        key=key(job, "name"),
        help="On the command line and in addresses: small letters, digits and _.",
        persist_state="session",
    )
    right.text_input(
        "One is called",
        "image",
        max_chars=WORDS,
        key=key(job, "noun"),
        help="In the singular: leaf, cell, digit.",
        persist_state="session",
    )
    with st.expander("Size, test share, unreadable files"):
        other = prepared_otherwise(job)
    changed = other != job.request
    with st.container(horizontal=True, vertical_alignment="center"):
        images = formats.count(found.note.train_size + found.note.test_size, "image")
        st.button(
            f"Add {images}",
            type="primary",
            icon=":material/add:",
            key="data_accept",
            on_click=accept,
            args=(job,),
            **rights.given(Action.ADD_DATA, disabled=changed),
        )
        st.button(
            "Throw it away",
            key="data_discard",
            type="tertiary",
            on_click=uploader.leave,
            args=(job.id,),
            **rights.given(Action.ADD_DATA),
        )
    if changed:
        st.caption("Size or share was changed: read it again, and see what comes of it first.")


def prepared_otherwise(job: UploadJob) -> Request:
    """Size and share as they stand in their controls; a button reads the upload again so."""
    now = job.request
    size = st.number_input(
        "Size in pixels",
        0,
        MOST_SIDE,
        now.size,
        key=key(job, "size"),
        persist_state="session",
        help="0 leaves images as they are where all are of one size, and brings others to 28×28.",
    )
    share = st.select_slider(
        "Test share",
        sorted({*SHARES, now.test_share}),
        now.test_share,
        key=key(job, "share"),
        format_func=lambda one: formats.percent(one, places=0),
        persist_state="session",
        help="Of each class alike; where the upload has test images of its own, these are taken.",
    )
    bad = st.select_slider(
        "Unreadable",
        sorted({*UNREADABLE, now.max_unreadable}),
        now.max_unreadable,
        key=key(job, "bad"),
        persist_state="session",
        format_func=lambda one: formats.percent(one, figures=2),
        help="Share of the files that may be unreadable: they are left out, and listed.",
    )
    other = Request(now.file, int(size), float(share), float(bad))
    st.button(
        "Read it again",
        icon=":material/refresh:",
        key="data_reread",
        on_click=reread,
        args=(job, other),
        **rights.given(Action.ADD_DATA, disabled=other == now),
    )
    return other


def key(job: UploadJob, field: str) -> str:
    """The key of a field's widget."""
    return f"data_{field}_{job.id}"


def suggested(stem: str) -> str:
    """A name made of a file's: "My Leaves (2)" -> "my_leaves_2"."""
    made = re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_")[:32]
    return made if entries.NAME.fullmatch(made) else f"my_{made}"[:32].rstrip("_")


def reread(job: UploadJob, other: Request) -> None:
    """Callback: prepare the upload once more, in another way."""
    try:
        dataset_upload.start(job.id, other)
    except EnsembleError as error:
        tab.data_said = "error", str(error)


def accept(job: UploadJob) -> None:
    """Callback: the dataset takes its place among the others; the upload goes."""
    name, title, noun = (widget.value(key(job, one)).strip() for one in ("name", "title", "noun"))
    try:
        trial.keep(job.path, Called(name, title, noun))
    except EnsembleError as error:
        tab.data_said = "error", str(error)
        return
    uploader.leave(job.id)
    address.DATASET.put(name)
    tab.data_said = "done", f"{title or name} is added: train on it whenever you like."
