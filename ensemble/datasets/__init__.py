"""Datasets in, (N, H, W, channels) uint8 out.

    from ensemble import datasets
    datasets.infos()                     what there is, without loading any of it
    datasets.load("digits")              always works: no network, nothing written
    datasets.prepare("mnist", progress)  fetches once; after that load("mnist") takes milliseconds

Data lives in `storage.folders.data_folder()`: `prepared/` is what `load` reads,
`downloads/<name>` the files as they came, `downloads/manual` is for files that a person puts
there, and `own/<name>` is a dataset that a person has added (`datasets.own`).
"""

import contextlib

from ensemble.datasets import advice, store
from ensemble.datasets.dataset import Dataset, DatasetInfo
from ensemble.datasets.digits import load_digits
from ensemble.datasets.entry import Entry
from ensemble.datasets.own import arrays as own_arrays
from ensemble.datasets.preparation import prepare_files
from ensemble.datasets.progress import Progress
from ensemble.datasets.registry import find, names
from ensemble.datasets.sources import recipe
from ensemble.datasets.transfer import DEFAULT, Transfer
from ensemble.errors import ConfigError, NotPreparedError
from ensemble.storage.folders import data_folder

__all__ = [
    "Dataset",
    "DatasetInfo",
    "Progress",
    "Transfer",
    "info",
    "infos",
    "is_prepared",
    "load",
    "prepare",
]


def load(name: str) -> Dataset:
    """The dataset called `name`; images of all but `digits` are a memory map, read as used.

    Args:
      name: one of `registry.names()`.

    Raises:
      ConfigError: there is no such dataset.
      NotPreparedError: it has not been prepared, or what is on disk is not whole; the message
        says how to.
    """
    entry = find(name)
    if is_built_in(entry):
        return load_digits()
    if entry.own:
        return own_arrays.load(entry)
    try:
        return store.read(data_folder(), entry)
    except store.TornError as torn:
        raise NotPreparedError(advice.not_prepared(entry, str(torn))) from torn
    except FileNotFoundError as error:
        raise NotPreparedError(advice.not_prepared(entry)) from error
    except OSError as error:
        raise NotPreparedError(advice.not_prepared(entry, str(error))) from error


def is_prepared(name: str) -> bool:
    """Whether `load(name)` will find the dataset, told in milliseconds; `digits` always is.

    Raises:
      ConfigError: there is no such dataset.
    """
    entry = find(name)
    if entry.own:
        return own_arrays.is_sound(entry)
    return is_built_in(entry) or store.is_sound(data_folder(), entry)


def prepare(name: str, progress: Progress | None = None, *, transfer: Transfer = DEFAULT) -> None:
    """Fetches and prepares a dataset, unless it is prepared already.

    Files that lie in `downloads/manual` are used instead of the network. Any number of
    processes and threads may call this at once: one works, the others wait for it.

    Args:
      name: one of `registry.names()`; there is nothing to do for `digits` and a person's own.
      progress: called now and then as progress(fraction in [0, 1] or None where it is not
        known, message for people).
      transfer: how to fetch; the default suits people.

    Raises:
      ConfigError: there is no such dataset.
      DownloadError: no network, a cut or stalled transfer, a wrong checksum. What came as a
        whole is kept for the next try.
      StorageError: a full disk, or a folder that cannot be written.
    """
    entry = find(name)
    if is_prepared(name):
        if progress:
            progress(1.0, f"{entry.title} is ready")
        return
    if entry.own:
        own_arrays.load(entry)  # says what is amiss, and how to mend it
        return
    prepare_files(entry, recipe(name), data_folder(), progress, transfer)


def info(name: str) -> DatasetInfo:
    """What can be said of a dataset without loading it.

    Raises:
      ConfigError: there is no such dataset.
    """
    entry = find(name)
    return DatasetInfo(
        name=entry.name,
        title=entry.title,
        train_size=entry.train_size,
        test_size=entry.test_size,
        class_names=entry.class_names,
        prepared=is_prepared(name),
        source=entry.source,
        nbytes_download=entry.nbytes_download,
        image_shape=entry.image_shape,
        noun=entry.noun,
        own=entry.own,
        fingerprint=entry.fingerprint,
    )


def infos() -> list[DatasetInfo]:
    """`info` of every dataset, in the order of `registry.names()`."""
    found = []
    for name in names():
        with contextlib.suppress(ConfigError):  # removed meanwhile
            found.append(info(name))
    return found


def is_built_in(entry: Entry) -> bool:
    """Whether a dataset comes with the package."""
    return not (entry.nbytes_download or entry.own)
