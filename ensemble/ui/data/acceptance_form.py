"""What a dataset of one's own is to be called, and the button that adds it."""

import re
from collections.abc import Callable
from typing import Any

import streamlit as st

from ensemble.access import Action
from ensemble.datasets.label_meanings import LABEL_READINGS
from ensemble.datasets.own import custom_registry
from ensemble.datasets.own.request import COMPANION_CHOICES, MAX_NAME_LENGTH, DatasetNaming
from ensemble.errors import EnsembleError
from ensemble.jobs.uploads import dataset_upload, upload_preview
from ensemble.jobs.uploads.dataset_upload import UploadJob
from ensemble.jobs.uploads.upload_preview import UploadPreview
from ensemble.jobs.uploads.upload_request import UploadRequest
from ensemble.ui.data import uploader
from ensemble.ui.shared import address, widget_state
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import formats

_UNREADABLE_SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_TEST_SHARES = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
_MAX_SIDE_PX = 256
_SIMILAR_CLASS_TITLES = {True: "Make them one", False: "Keep them apart"}


def show_acceptance_form(job: UploadJob, preview: UploadPreview) -> None:
    """The fields; what was typed stays until it is added."""
    stem = job.request.file.rpartition(".")[0]
    _draw_field(
        job,
        "title",
        st.text_input,
        "Title",
        stem[:MAX_NAME_LENGTH],
        max_chars=MAX_NAME_LENGTH,
        help="What people call it.",
    )
    left, right = st.columns(2)
    left.text_input(
        "Name",
        _suggest_dataset_name(stem),
        max_chars=32,
        key=_build_upload_field_key(job, "name"),
        help="On the command line and in addresses: small letters, digits and _.",
        persist_state="session",
    )
    right.text_input(
        "One is called",
        "image",
        max_chars=MAX_NAME_LENGTH,
        key=_build_upload_field_key(job, "noun"),
        help="In the singular: leaf, cell, digit.",
        persist_state="session",
    )
    with st.expander("Size, test share, unreadable files, classes"):
        other = show_preparation_controls(job)
    changed = other != job.request
    with st.container(horizontal=True, vertical_alignment="center"):
        images = formats.format_count(preview.note.train_size + preview.note.test_size, "image")
        st.button(
            f"Add {images}",
            type="primary",
            icon=":material/add:",
            key="data_accept",
            on_click=_accept_uploaded_dataset,
            args=(job,),
            **rights.build_control_arguments(Action.ADD_DATA, disabled=changed),
        )
        st.button(
            "Discard",
            key="data_discard",
            type="tertiary",
            on_click=uploader.leave_upload,
            args=(job.id,),
            **rights.build_control_arguments(Action.ADD_DATA),
        )
    if changed:
        st.caption("Something was changed: read the file again to see the result first.")


def show_preparation_controls(job: UploadJob) -> UploadRequest:
    """Size and share as they stand in their controls; a button reads the upload again so."""
    now = job.request
    size = _draw_field(
        job,
        "size",
        st.number_input,
        "Size in pixels",
        0,
        _MAX_SIDE_PX,
        now.size,
        help="0 leaves images as they are where all are of one size, and brings others to 28×28.",
    )
    share = _draw_field(
        job,
        "share",
        st.select_slider,
        "Test share",
        sorted({*_TEST_SHARES, now.test_share}),
        now.test_share,
        format_func=lambda fraction: formats.format_percent(fraction, places=0),
        help="Of each class alike; where the upload has test images of its own, these are taken.",
    )
    bad = _draw_field(
        job,
        "bad",
        st.select_slider,
        "Unreadable",
        sorted({*_UNREADABLE_SHARES, now.max_unreadable}),
        now.max_unreadable,
        format_func=lambda fraction: formats.format_percent(fraction, figures=2),
        help="Share of the files that may be unreadable: they are left out, and listed.",
    )
    merge = _draw_field(
        job,
        "merge",
        st.segmented_control,
        "Similar classes",
        list(_SIMILAR_CLASS_TITLES),
        default=now.merge_classes,
        format_func=lambda choice: _SIMILAR_CLASS_TITLES[choice],
        help="Classes whose names differ only in capitals, spaces or underscores.",
    )
    pattern = _draw_field(
        job,
        "pattern",
        st.text_input,
        "Class in the name",
        now.class_pattern,
        max_chars=100,
        placeholder="{class}_#",
        help="Where pictures' names hold the class: {class}_# for cat_12.jpg; # stands for digits, * for anything.",
    )
    labels = _draw_field(
        job,
        "labels",
        st.segmented_control,
        "Read labels as",
        list(LABEL_READINGS),
        default=now.labels_as or None,
        format_func=LABEL_READINGS.__getitem__,
        help="Labels in arrays can be the names of classes, or count them. What was taken is said.",
    )
    masks = _draw_field(
        job,
        "masks",
        st.segmented_control,
        "Masks",
        list(COMPANION_CHOICES),
        default=now.masks or None,
        format_func=lambda choice: choice.replace("-", " ").capitalize(),
        help="Masks, thumbnails and segmentation images next to pictures.",
    )
    other = UploadRequest(
        file=now.file,
        size=int(size),
        test_share=float(share),
        max_unreadable=float(bad),
        merge_classes=merge,
        class_pattern=pattern.strip(),
        labels_as=labels or "",
        masks=masks or "",
    )
    st.button(
        "Read it again",
        icon=":material/refresh:",
        key="data_reread",
        on_click=_restart_upload_reading,
        args=(job, other),
        **rights.build_control_arguments(Action.ADD_DATA, disabled=other == now),
    )
    return other


def _draw_field(job: UploadJob, field: str, widget: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    key = _build_upload_field_key(job, field)
    return widget_state.draw_widget(widget, *arguments, key=key, persist_state="session", **options)


def _build_upload_field_key(job: UploadJob, field: str) -> str:
    return f"data_{field}_{job.id}"


def _suggest_dataset_name(stem: str) -> str:
    """A name made of a file's: "My Leaves (2)" -> "my_leaves_2"."""
    name = re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_")[:32]
    return name if custom_registry.NAME_PATTERN.fullmatch(name) else f"my_{name}"[:32].rstrip("_")


def _restart_upload_reading(job: UploadJob, other: UploadRequest) -> None:
    """Callback: prepare the upload once more, in another way."""
    try:
        dataset_upload.start_upload_reading(job.id, other)
    except EnsembleError as error:
        tab.data_message = "error", str(error)


def _accept_uploaded_dataset(job: UploadJob) -> None:
    """Callback: the dataset takes its place among the others; the upload goes."""
    name, title, noun = (
        widget_state.get_widget_value(_build_upload_field_key(job, field)).strip()
        for field in ("name", "title", "noun")
    )
    try:
        upload_preview.accept_preview(job.path, DatasetNaming(name, title, noun))
    except EnsembleError as error:
        tab.data_message = "error", str(error)
        return
    uploader.leave_upload(job.id)
    address.DATASET.set_value(name)
    tab.data_message = "done", f"{title or name} is added: train on it whenever you like."
