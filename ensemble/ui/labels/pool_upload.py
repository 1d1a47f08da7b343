"""Pictures without labels taken in as a pool: a .zip, or files one by one."""

import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.datasets.own.pools.label_pool import add_label_pool, suggest_pool_name
from ensemble.datasets.own.sources.encoded.picture_decoding import SUFFIXES
from ensemble.errors import DataError, EnsembleError, StorageError
from ensemble.runs.test_set import load_run_dataset
from ensemble.storage.disk_errors import describe_os_error, describe_remedy
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping
from ensemble.wording.formats import pluralize_noun

_MAX_STEM_LETTERS, _COPY_CHUNK_BYTES = 80, 2**20
_UPLOAD_KEY = "labels_pool_upload"
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
    things = pluralize_noun(run.data.noun)
    key = f"{_UPLOAD_KEY}_{tab.pool_upload_count}"
    files = st.file_uploader(
        escaping.escape_markdown(f"A .zip of {things} without labels, or the pictures"),
        type=_TYPES,
        accept_multiple_files=True,
        key=key,
        **rights.build_control_arguments(Action.ADD_DATA, help="Larger ones: `ensemble label pool` on its machine."),
    )
    if st.button(
        "Keep them as a pool",
        key="labels_pool_add",
        type="primary",
        icon=":material/library_add:",
        **rights.build_control_arguments(Action.ADD_DATA, disabled=not files),
    ):
        _keep_uploaded_pool(run, files or [])


def _keep_uploaded_pool(run: runs.Run, files: Sequence[BinaryIO]) -> None:
    try:
        with st.spinner("Reading the pictures …"), tempfile.TemporaryDirectory(prefix="ensemble-pool-") as folder:
            source = _write_uploaded_files(Path(folder), files)
            dataset = load_run_dataset(run)
            add_label_pool(suggest_pool_name(dataset.name), source, dataset)
        tab.pool_upload_count += 1  # another key: what was handed in is forgotten
    except EnsembleError as error:
        tab.label_problem = str(error)
    st.rerun()


def _write_uploaded_files(folder: Path, files: Sequence[BinaryIO]) -> Path:
    """The uploaded archive, or a folder of the uploaded pictures, under names of our own.

    Raises:
      DataError: an archive came with other files.
      StorageError: the disk does not take them.
    """
    archives = [file for file in files if file.name.lower().endswith(".zip")]
    if archives and len(files) > 1:
        raise DataError("Give one .zip, or pictures, not both.")
    if archives:
        _write_uploaded_file(folder / "upload.zip", archives[0])
        return folder / "upload.zip"
    inner = folder / "upload"
    try:
        inner.mkdir()
    except OSError as error:
        raise _build_upload_error(error) from error
    for number, file in enumerate(files):
        # Numbered, so that two of one name are two; of the name only what no disk minds.
        stem = re.sub(r"\W+", "_", Path(file.name).stem)[:_MAX_STEM_LETTERS]
        suffix = Path(file.name).suffix.lower()
        _write_uploaded_file(inner / f"{number + 1:04}_{stem}{suffix}", file)
    return inner


def _write_uploaded_file(path: Path, content: BinaryIO) -> None:
    """Copies what was uploaded, a piece at a time.

    Raises:
      StorageError: the disk does not take it.
    """
    try:
        with path.open("xb") as file:
            shutil.copyfileobj(content, file, _COPY_CHUNK_BYTES)
    except OSError as error:
        raise _build_upload_error(error) from error


def _build_upload_error(error: OSError) -> StorageError:
    return StorageError(
        f"The upload cannot be saved ({describe_os_error(error)}): {describe_remedy(error)}, and hand it in again."
    )
