"""Fetching a dataset's files and preparing them: once, as a whole, or not at all."""

import errno
import os
import shutil
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets import advice, idx, original_files, store
from ensemble.datasets.progress import Progress, Teller
from ensemble.datasets.registry import Entry
from ensemble.datasets.sources import Recipe, RemoteFile
from ensemble.datasets.transfer import Transfer, TransferError, fetch
from ensemble.errors import DownloadError, StorageError
from ensemble.storage.atomic import remove_parts
from ensemble.storage.lock import only_one

PARTS = (  # in the order of the prepared array
    "train-images-idx3-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)


def prepare_files(
    entry: Entry, recipe: Recipe, folder: Path, progress: Progress | None, transfer: Transfer
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
    teller = Teller(progress, sum(file.size for file in recipe.files))
    fetched = original_files.fetched_folder(folder, entry.name)
    waiting = f"Waiting for another process that is preparing {entry.title}"
    with advice.storage_in_words(entry, folder):
        fetched.mkdir(parents=True, exist_ok=True)
        original_files.manual_folder(folder).mkdir(exist_ok=True)
        check_access(fetched)
        with only_one(fetched, lambda: teller.say(None, waiting)) as alone:
            if alone:
                remove_parts(fetched)
                remove_parts(store.array_path(folder, entry.name).parent, entry.name)
            if not store.is_sound(folder, entry):
                build(entry, recipe, folder, teller, transfer)
    teller.say(1.0, f"{entry.title} is ready")


def build(entry: Entry, recipe: Recipe, folder: Path, teller: Teller, transfer: Transfer) -> None:
    """Finds or fetches the files, then writes the prepared dataset."""
    missing = [file for file in recipe.files if not original_files.find(file, entry.name, folder)]
    check_space(entry, folder, sum(file.size for file in missing) + entry.nbytes_prepared)
    teller.before = teller.total - sum(file.size for file in missing)
    for number, file in enumerate(missing):
        try:
            fetch_file(file, original_files.fetched_folder(folder, entry.name), teller, transfer)
        except TransferError as error:
            place, still = transfer.place(file), missing[number:]
            message = advice.not_fetched(entry, str(error), place, still, folder)
            raise DownloadError(message) from error
    teller.say(None, f"Preparing {entry.title}")
    parts = [unpack(name, entry, recipe, folder) for name in PARTS]
    origin = f"from {transfer.place(missing[0])}" if missing else "from files on this disk"
    made = f"version {recipe.version} of TensorFlow Datasets, {origin}, {date.today()}"
    store.write(folder, entry, parts, f"{entry.source}; {made}")


def check_access(folder: Path) -> None:
    """Raises PermissionError when `folder` cannot be written.

    Checked first, because a disk that is mounted read-only often calls itself full as well.
    """
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, "it cannot be written to", str(folder))


def check_space(entry: Entry, folder: Path, needed: int) -> None:
    """Raises StorageError when the disk of `folder` has no `needed` bytes left."""
    if shutil.disk_usage(folder).free < needed:
        raise StorageError(advice.no_space(entry, folder, needed))


def fetch_file(file: RemoteFile, fetched: Path, teller: Teller, transfer: Transfer) -> None:
    """Fetches one file to the folder `fetched`, and tells how far it is.

    Raises:
      TransferError: it did not come.
    """
    fetch(
        file,
        fetched / file.name,
        transfer,
        lambda done, attempt: teller.fetching(file, done, attempt),
    )
    teller.finished(file)


def unpack(name: str, entry: Entry, recipe: Recipe, folder: Path) -> NDArray[np.uint8]:
    """The array in the file called `name`: images (N, H, W) or labels (N,).

    Raises:
      DownloadError: the file is the right one, yet not what this program can read.
    """
    size = entry.train_size if name.startswith("train") else entry.test_size
    shape = (size, *entry.image_shape[:2]) if "images" in name else (size,)
    paths = [
        original_files.find(file, entry.name, folder) for file in recipe.files if file.name == name
    ]
    if not paths or not paths[0]:
        raise DownloadError(f"{name} of {entry.title} vanished while it was being prepared.")
    try:
        array = idx.parse(paths[0].read_bytes(), shape)
    except ValueError as error:
        raise DownloadError(f"{paths[0]} is {error}: please report this.") from error
    return array
