"""Samples for logistic regression: drawn ones, kept on disk, or a dataset's pixels.

The drawn ones are scikit-learn's `make_classification` (Guyon 2003, "Design of experiments for
the NIPS 2003 variable selection benchmark"), as in JAXopt's example. Drawing takes seconds and
several times the samples' memory, in double precision: a process of its own draws them once,
and they are read as a memory map after that.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets import load_dataset
from ensemble.errors import StorageError
from ensemble.jobs.launch import build_worker_environment
from ensemble.regression.regression_job import LbfgsConfig
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray, map_npy
from ensemble.storage.folders import data_folder

_INFORMATIVE_FEATURES = 50  # features that tell the classes apart, as in JAXopt's example
_REDUNDANT_FEATURES = 2  # sums of those, scikit-learn's default; the others are noise
_MAX_STORED_PROBLEMS = 4  # drawn problems that stay on disk
_DRAW_SCRIPT = """
import sys, numpy, sklearn.datasets
folder, *numbers = sys.argv[1:]
samples, features, classes, informative, redundant, seed = map(int, numbers)
x, labels = sklearn.datasets.make_classification(
    n_samples=samples, n_features=features, n_classes=classes,
    n_informative=informative, n_redundant=redundant, random_state=seed)
numpy.save(folder + "/labels.npy", labels.astype(numpy.int32))
numpy.save(folder + "/x.npy", x.astype(numpy.float32))
"""


class ClassificationProblem(NamedTuple):
    """What is to be classified: x float32 (N, F), labels int32 (N,) in [0, classes)."""

    x: NDArray[np.float32]
    labels: NDArray[np.int32]
    classes: int


def load_regression_samples(config: LbfgsConfig) -> ClassificationProblem:
    """The samples that the settings ask for.

    Raises:
      NotPreparedError: a dataset that has not been fetched yet.
      StorageError: the drawn samples cannot be kept or read.
    """
    if config.dataset != "synthetic":
        dataset = load_dataset(config.dataset)
        pixels = np.asarray(dataset.train_images).reshape(len(dataset.train_labels), -1)
        x = pixels.astype(np.float32)
        x /= 255
        return ClassificationProblem(x, np.asarray(dataset.train_labels, np.int32), len(dataset.class_names))
    folder = _prepare_drawn_samples(config)
    try:
        with contextlib.suppress(DamagedFileError, FileNotFoundError):
            return _read_drawn_samples(folder, config)
        shutil.rmtree(folder, ignore_errors=True)  # Drawn again they are the same numbers.
        return _read_drawn_samples(_prepare_drawn_samples(config), config)
    except (OSError, DamagedFileError) as error:
        raise StorageError(
            f"The samples drawn into {folder} cannot be read ({error}): see to that folder, or delete it."
        ) from error


def _read_drawn_samples(folder: Path, config: LbfgsConfig) -> ClassificationProblem:
    x = map_npy(folder / "x.npy", ExpectedArray((config.samples, config.features)))
    labels = np.array(map_npy(folder / "labels.npy", ExpectedArray((config.samples,), "int32")))
    if labels.min() < 0 or labels.max() >= config.classes:
        raise DamagedFileError("a label is of no class")
    return ClassificationProblem(x, labels, config.classes)


def _prepare_drawn_samples(config: LbfgsConfig) -> Path:
    """The folder of the drawn samples; drawn now if they are not there."""
    informative = min(_INFORMATIVE_FEATURES, config.features)
    redundant = min(_REDUNDANT_FEATURES, config.features - informative)
    numbers = [config.samples, config.features, config.classes, informative, redundant, config.seed]
    place = data_folder() / "synthetic"
    folder = place / "-".join(map(str, numbers))
    try:
        place.mkdir(parents=True, exist_ok=True)
        if not folder.is_dir():
            _draw_samples(folder, numbers)
        os.utime(folder)
    except (OSError, subprocess.CalledProcessError) as error:
        raise StorageError(
            f"The samples could not be drawn and kept in {place} ({error}): make room there, or ask for fewer."
        ) from error
    _delete_old_samples(place)
    return folder


def _draw_samples(folder: Path, numbers: list[int]) -> None:
    """Draw beside and rename, so that the folder is there as a whole or not at all."""
    beside = Path(tempfile.mkdtemp(prefix=".drawn-", dir=folder.parent))
    try:
        words = [sys.executable, "-c", _DRAW_SCRIPT, str(beside), *map(str, numbers)]
        subprocess.run(words, check=True, capture_output=True, env=build_worker_environment())
        with contextlib.suppress(OSError):  # Another process may have been faster.
            beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not there")


def _delete_old_samples(place: Path) -> None:
    newest = sorted(place.glob("[0-9]*"), key=lambda folder: folder.stat().st_mtime, reverse=True)
    for old in newest[_MAX_STORED_PROBLEMS:]:
        shutil.rmtree(old, ignore_errors=True)
