"""Datasets in, (N, H, W, channels) uint8 out.

    from ensemble import datasets
    datasets.infos()                     what there is, without loading any of it
    datasets.load("digits")              always works: no network, nothing written
    datasets.prepare("mnist", progress)  fetches once; after that load("mnist") takes milliseconds

Data lives in `storage.folders.data_folder()`: `prepared/` is what `load_dataset` reads,
`downloads/<name>` the files as they came, `downloads/manual` is for files that a person puts
there, and `own/<name>` is a dataset that a person has added (`datasets.own`).
"""

import contextlib

from ensemble.datasets import advice, store
from ensemble.datasets.dataset import Dataset, DatasetInfo
from ensemble.datasets.digits import load_digits
from ensemble.datasets.download_manifest import load_download_manifest
from ensemble.datasets.entry import DatasetEntry
from ensemble.datasets.own import arrays as own_arrays
from ensemble.datasets.preparation import prepare_dataset_files
from ensemble.datasets.progress import Progress
from ensemble.datasets.registry import find_dataset_entry, list_dataset_names
from ensemble.datasets.transfer import DEFAULT_TRANSFER, TransferSettings
from ensemble.errors import ConfigError, NotPreparedError
from ensemble.storage.folders import data_folder

__all__ = [
    "Dataset",
    "DatasetInfo",
    "Progress",
    "Transfer",
    "TransferSettings",
    "find_dataset_info",
    "info",
    "infos",
    "is_dataset_prepared",
    "is_prepared",
    "list_dataset_infos",
    "load",
    "load_dataset",
    "prepare",
    "prepare_dataset",
]


def load_dataset(name: str) -> Dataset:
    """The dataset called `name`; images of all but `digits` are a memory map, read as used.

    Args:
      name: one of `registry.list_dataset_names()`.

    Raises:
      ConfigError: there is no such dataset.
      NotPreparedError: it has not been prepared, or what is on disk is not whole; the message
        says how to.
    """
    entry = find_dataset_entry(name)
    if is_built_in_dataset(entry):
        return load_digits()
    if entry.own:
        return own_arrays.load_custom_dataset(entry)
    try:
        return store.read_prepared_dataset(data_folder(), entry)
    except store.IncompleteDatasetError as torn:
        raise NotPreparedError(advice.describe_unprepared_dataset(entry, str(torn))) from torn
    except FileNotFoundError as error:
        raise NotPreparedError(advice.describe_unprepared_dataset(entry)) from error
    except OSError as error:
        raise NotPreparedError(advice.describe_unprepared_dataset(entry, str(error))) from error


def is_dataset_prepared(name: str) -> bool:
    """Whether `load(name)` will find the dataset, told in milliseconds; `digits` always is.

    Raises:
      ConfigError: there is no such dataset.
    """
    entry = find_dataset_entry(name)
    if entry.own:
        return own_arrays.is_custom_dataset_intact(entry)
    return is_built_in_dataset(entry) or store.is_prepared_dataset_intact(data_folder(), entry)


def prepare_dataset(
    name: str, progress: Progress | None = None, *, transfer: TransferSettings = DEFAULT_TRANSFER
) -> None:
    """Fetches and prepares a dataset, unless it is prepared already.

    Files that lie in `downloads/manual` are used instead of the network. Any number of
    processes and threads may call this at once: one works, the others wait for it.

    Args:
      name: one of `registry.list_dataset_names()`; there is nothing to do for `digits` and a
        person's own.
      progress: called now and then as progress(fraction in [0, 1] or None where it is not
        known, message for people).
      transfer: how to fetch; the default suits people.

    Raises:
      ConfigError: there is no such dataset.
      DownloadError: no network, a cut or stalled transfer, a wrong checksum. What came as a
        whole is kept for the next try.
      StorageError: a full disk, or a folder that cannot be written.
    """
    entry = find_dataset_entry(name)
    if is_dataset_prepared(name):
        if progress:
            progress(1.0, f"{entry.title} is ready")
        return
    if entry.own:
        own_arrays.load_custom_dataset(entry)  # says what is amiss, and how to mend it
        return
    prepare_dataset_files(entry, load_download_manifest(name), data_folder(), progress, transfer)


def find_dataset_info(name: str) -> DatasetInfo:
    """What can be said of a dataset without loading it.

    Raises:
      ConfigError: there is no such dataset.
    """
    entry = find_dataset_entry(name)
    return DatasetInfo(
        name=entry.name,
        title=entry.title,
        train_size=entry.train_size,
        test_size=entry.test_size,
        class_names=entry.class_names,
        prepared=is_dataset_prepared(name),
        source=entry.source,
        nbytes_download=entry.nbytes_download,
        image_shape=entry.image_shape,
        noun=entry.noun,
        own=entry.own,
        fingerprint=entry.fingerprint,
    )


def list_dataset_infos() -> list[DatasetInfo]:
    """`find_dataset_info` of every dataset, in the order of `registry.list_dataset_names()`."""
    dataset_infos = []
    for name in list_dataset_names():
        with contextlib.suppress(ConfigError):  # removed meanwhile
            dataset_infos.append(find_dataset_info(name))
    return dataset_infos


def is_built_in_dataset(entry: DatasetEntry) -> bool:
    return not (entry.nbytes_download or entry.own)


# As they were called up to version 0.1.0, for programs of other people.
info, infos, is_prepared = find_dataset_info, list_dataset_infos, is_dataset_prepared
load, prepare, Transfer = load_dataset, prepare_dataset, TransferSettings
