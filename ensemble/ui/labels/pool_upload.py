"""Pictures without labels taken in as a pool: a .zip, or files one by one."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.datasets.own.pools.label_pool import add_label_pool, suggest_pool_name
from ensemble.datasets.own.sources.encoded.picture_decoding import SUFFIXES
from ensemble.errors import DataError, EnsembleError
from ensemble.runs.test_set import load_run_dataset
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping
from ensemble.wording.formats import pluralize_noun

UPLOAD_KEY = "labels_pool_upload"
TYPES = ["zip", *(suffix.removeprefix(".") for suffix in sorted(SUFFIXES))]


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
    """Takes pictures in, and keeps them as a pool of the run's dataset."""
    things = pluralize_noun(run.data.noun)
    key = f"{UPLOAD_KEY}_{tab.pool_upload_count}"
    files = st.file_uploader(
        escaping.escape_markdown(f"A .zip of {things} without labels, or the pictures"),
        type=TYPES,
        accept_multiple_files=True,
        key=key,
        **rights.build_control_arguments(
            Action.ADD_DATA,
            help="Larger ones: `ensemble label pool` on its machine.",
        ),
    )
    if st.button(
        "Keep them as a pool",
        key="labels_pool_add",
        type="primary",
        icon=":material/library_add:",
        **rights.build_control_arguments(Action.ADD_DATA, disabled=not files),
    ):
        keep_uploaded_pool(run, files or [])


def keep_uploaded_pool(run: runs.Run, files: Sequence[BinaryIO]) -> None:
    """Adds the pool, and draws the page again, which asks what to label of it."""
    try:
        with (
            st.spinner("Reading the pictures …"),
            tempfile.TemporaryDirectory(prefix="ensemble-pool-") as folder,
        ):
            source = write_uploaded_files(Path(folder), files)
            dataset = load_run_dataset(run)
            add_label_pool(suggest_pool_name(dataset.name), source, dataset)
        tab.pool_upload_count += 1  # another key: what was handed in is forgotten
    except EnsembleError as error:
        tab.label_problem = str(error)
    st.rerun()


def write_uploaded_files(folder: Path, files: Sequence[BinaryIO]) -> Path:
    """The uploaded archive, or a folder of the uploaded pictures, under names of our own.

    Raises:
      DataError: an archive came with other files.
    """
    archives = [file for file in files if file.name.lower().endswith(".zip")]
    if archives and len(files) > 1:
        raise DataError("Give one .zip, or pictures, not both.")
    if archives:
        path = folder / "upload.zip"
        path.write_bytes(archives[0].read())
        return path
    inner = folder / "upload"
    inner.mkdir()
    for number, file in enumerate(files):
        (inner / f"{number:06}{Path(file.name).suffix.lower()[:8]}").write_bytes(file.read())
    return inner
