"""Fetching a dataset's files and preparing them: once, as a whole, or not at all."""

import errno
import os
import shutil
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets import advice, idx, original_files, store
from ensemble.datasets.download_manifest import DownloadManifest, RemoteFile
from ensemble.datasets.progress import FetchProgress, Progress
from ensemble.datasets.registry import DatasetEntry
from ensemble.datasets.transfer import TransferError, TransferSettings, fetch_remote_file
from ensemble.errors import DownloadError, StorageError
from ensemble.storage.atomic_files import remove_partial_files
from ensemble.storage.file_lock import hold_folder_lock

ARRAY_FILES = (  # in the order of the prepared array
    "train-images-idx3-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)


def prepare_dataset_files(
    entry: DatasetEntry, recipe: DownloadManifest, folder: Path, progress: Progress | None, transfer: TransferSettings
) -> None:
    """Brings `entry` into the data folder, from its files on disk or over the network.

    Args:
      entry: the dataset.
      recipe: its files.
      folder: the data folder.
      progress: called as progress(fraction in [0, 1] or None, message).
      transfer: how to fetch.

    Raises:
      DownloadError: a file is neither in `downloads/manual` nor to be fetched.
      StorageError: the disk is full, or the folder cannot be written.
    """
    teller = FetchProgress(progress, sum(file.size for file in recipe.files))
    fetched = original_files.dataset_download_folder(folder, entry.name)
    waiting = f"Waiting for another process that is preparing {entry.title}"
    with advice.convert_storage_errors(entry, folder):
        fetched.mkdir(parents=True, exist_ok=True)
        original_files.manual_download_folder(folder).mkdir(exist_ok=True)
        _check_folder_writable(fetched)
        with hold_folder_lock(fetched, lambda: teller.report_message(None, waiting)) as alone:
            if alone:
                remove_partial_files(fetched)
                remove_partial_files(store.prepared_array_path(folder, entry.name).parent, entry.name)
            if not store.is_prepared_dataset_intact(folder, entry):
                _build_dataset_files(entry, recipe, folder, teller, transfer)
    teller.report_message(1.0, f"{entry.title} is ready")


def _build_dataset_files(
    entry: DatasetEntry, recipe: DownloadManifest, folder: Path, teller: FetchProgress, transfer: TransferSettings
) -> None:
    missing = [file for file in recipe.files if not original_files.find_original_file(file, entry.name, folder)]
    _check_download_space(entry, folder, sum(file.size for file in missing) + entry.nbytes_prepared)
    teller.completed_bytes = teller.total - sum(file.size for file in missing)
    for number, file in enumerate(missing):
        try:
            _fetch_original_file(file, original_files.dataset_download_folder(folder, entry.name), teller, transfer)
        except TransferError as error:
            place, still = transfer.folder_url(file), missing[number:]
            message = advice.describe_failed_fetch(entry, str(error), place, still, folder)
            raise DownloadError(message) from error
    teller.report_message(None, f"Preparing {entry.title}")
    parts = [unpack_idx_array(name, entry, recipe, folder) for name in ARRAY_FILES]
    origin = f"from {transfer.folder_url(missing[0])}" if missing else "from files on this disk"
    version_text = f"version {recipe.version} of TensorFlow Datasets, {origin}, {date.today()}"
    store.write_prepared_dataset(folder, entry, parts, f"{entry.source}; {version_text}")


def _check_folder_writable(folder: Path) -> None:
    """Raises PermissionError when `folder` cannot be written.

    Checked first, because a disk that is mounted read-only often calls itself full as well.
    """
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, "it cannot be written to", str(folder))


def _check_download_space(entry: DatasetEntry, folder: Path, needed: int) -> None:
    """Raises StorageError when the disk of `folder` has no `needed` bytes left."""
    if shutil.disk_usage(folder).free < needed:
        raise StorageError(advice.describe_full_disk(entry, folder, needed))


def _fetch_original_file(file: RemoteFile, fetched: Path, teller: FetchProgress, transfer: TransferSettings) -> None:
    """Fetches one file to the folder `fetched`, and tells how far it is.

    Raises:
      TransferError: it did not come.
    """
    fetch_remote_file(
        file, fetched / file.name, transfer, lambda done, attempt: teller.report_bytes(file, done, attempt)
    )
    teller.finish_file(file)


def unpack_idx_array(name: str, entry: DatasetEntry, recipe: DownloadManifest, folder: Path) -> NDArray[np.uint8]:
    """The array in the file called `name`: images (N, H, W) or labels (N,).

    Raises:
      DownloadError: the file is the right one, yet not what this program can read.
    """
    size = entry.train_size if name.startswith("train") else entry.test_size
    shape = (size, *entry.image_shape[:2]) if "images" in name else (size,)
    paths = [original_files.find_original_file(file, entry.name, folder) for file in recipe.files if file.name == name]
    if not paths or not paths[0]:
        raise DownloadError(f"{name} of {entry.title} vanished while it was being prepared.")
    try:
        array = idx.parse_idx_file(paths[0].read_bytes(), shape)
    except ValueError as error:
        raise DownloadError(f"{paths[0]} is {error}: please report this.") from error
    return array
