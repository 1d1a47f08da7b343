"""The test images of a run and what they are: its dataset's, or those that it brought along."""

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ensemble import datasets
from ensemble.analysis.inference.image_groups import Groups
from ensemble.datasets import Dataset
from ensemble.datasets.dataset import fingerprint_labels
from ensemble.datasets.example_details import NO_DETAILS, ExampleDetails, read_details
from ensemble.datasets.registry import DatasetEntry
from ensemble.errors import ConfigError, NotPreparedError, RunError
from ensemble.runs.store import Run, require_training_config
from ensemble.runs.test_groups import TestGroups, count_training_copies, find_test_groups
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray, map_npy
from ensemble.storage.arrays.npz import read_arrays

# Of a run that was imported, or came in a report, in its folder.
LABELS_FILE, IMAGES_FILE = "test_labels.npz", "test_images.npy"
GROUPS_FILE, REPEATS_FILE = "test_groups.npz", "test_repeats.npz"
DETAILS_FILE = "test_examples.npz"
_TILE_SIZE = 28


@dataclass(frozen=True, eq=False)
class TestSet:
    """N labelled test images. All arrays are read-only.

    Attributes:
      dataset_entry: what is known of the dataset.
      labels: int32 (N,), each an index into `class_names`.
      images: uint8 (N, H, W, channels); None if only the predictions were brought.
      group_column: (N,), numbers of the groups that came with the images; None without any.
      repeats: (N,), equal numbers for examples without images that are copies; None without any.
      details: what the examples are called, and what else is known of each.
      train_images: uint8 (T, H, W, channels), what the run learnt from; None where it is not here.
    """

    __test__ = False  # not a case of pytest's

    dataset_entry: DatasetEntry
    labels: NDArray[np.int32]
    images: NDArray[np.uint8] | None
    group_column: NDArray[np.int64] | None = None
    train_images: NDArray[np.uint8] | None = None
    repeats: NDArray[np.int64] | None = None
    details: ExampleDetails = NO_DETAILS

    @cached_property
    def test_groups(self) -> TestGroups:
        """Which of the images belong together, and why."""
        return find_test_groups(self.images, self.group_column, self.dataset_entry.fingerprint, self.repeats)

    @cached_property
    def training_copies(self) -> int | None:
        """How many of the images are copies of training images; None where it is not known."""
        if self.train_images is None or self.images is None:
            return None
        return count_training_copies(self.train_images, self.images, self.dataset_entry.fingerprint)

    @property
    def groups(self) -> Groups | None:
        """Which of the images belong together; None where all are independent."""
        return self.test_groups.groups

    @property
    def class_names(self) -> tuple[str, ...]:
        """What people call the classes, C of them."""
        return self.dataset_entry.class_names

    @property
    def noun(self) -> str:
        """What one image is called."""
        return self.dataset_entry.noun

    @property
    def title(self) -> str:
        """What people call the dataset."""
        return self.dataset_entry.title

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """(H, W, channels) of what stands for an image on the screen."""
        height, width, channels = self.tiles.shape[1:]
        return height, width, channels

    @property
    def tiles(self) -> NDArray[np.uint8]:
        """The images; without any, the same blank tile for each, which takes no memory."""
        if self.images is not None:
            return self.images
        return np.broadcast_to(_create_blank_tile(), (len(self.labels), _TILE_SIZE, _TILE_SIZE, 1))

    @property
    def fingerprint(self) -> str:
        """A word that differs where the labels do, or the number of classes."""
        return fingerprint_labels(self.labels, len(self.class_names))


def _create_blank_tile() -> NDArray[np.uint8]:
    """What stands for an image that there is none of: a frame with a stroke through it."""
    tile = np.zeros((_TILE_SIZE, _TILE_SIZE, 1), np.uint8)
    tile[4:-4, [4, -5]] = tile[[4, -5], 4:-4] = 70
    diagonal = np.arange(5, _TILE_SIZE - 5)
    tile[diagonal, diagonal] = 70
    return tile


def load_test_set(run: Run) -> TestSet:
    """What the run was tested on.

    Raises:
      NotPreparedError: its dataset is not on this machine any more, or another one has its name;
        and it brought no labels along.
      RunError: it was imported, and its files cannot be read.
    """
    if run.training_config is None:
        return _load_imported_test_set(run)
    brought = _load_imported_test_set(run) if (run.path / LABELS_FILE).exists() else None
    try:
        run_dataset = load_run_dataset(run)
    except NotPreparedError:
        if brought is None:
            raise
        return brought
    if brought is not None and not np.array_equal(brought.labels, run_dataset.test_labels):
        return brought  # what it predicted, it predicted of these
    return TestSet(
        run.data,
        run_dataset.test_labels,
        run_dataset.test_images,
        run_dataset.test_groups,
        train_images=run_dataset.train_images,
    )


def load_run_dataset(run: Run) -> Dataset:
    """What the run was trained on.

    Raises:
      NotPreparedError: it is not on this machine any more, or another one has its name.
      RunError: the run was trained elsewhere.
    """
    name = require_training_config(run).dataset
    try:
        dataset = datasets.load_dataset(name)
    except ConfigError as error:
        raise NotPreparedError(
            f"The dataset “{name}” that this run was trained on no longer exists: add it again under that name."
        ) from error
    if run.data.fingerprint and run.data.fingerprint != dataset.fingerprint:
        raise NotPreparedError(
            f"The dataset “{run.config.dataset}” is no longer the one that this run was "
            "trained on: add the original dataset again under that name."
        )
    return dataset


load_test_set.__test__ = False  # type: ignore[attr-defined]


def _load_imported_test_set(run: Run) -> TestSet:
    size, path = run.data.test_size, run.path / LABELS_FILE
    try:
        labels = read_arrays(path, {"labels": ExpectedArray((size,), "int32")})["labels"]
        if labels.min() < 0 or labels.max() >= len(run.data.class_names):
            raise DamagedFileError("a label is not one of its classes")
        images = None
        if (path := run.path / IMAGES_FILE).exists():
            expected = ExpectedArray((size, *run.data.image_shape), "uint8")
            images = cast(NDArray[np.uint8], map_npy(path, expected))
    except (OSError, DamagedFileError) as error:
        why = getattr(error, "strerror", None) or error
        raise RunError(
            f"The test set of the run “{run.id}” cannot be read ({path.name}: {why}): import it again."
        ) from error
    labels.setflags(write=False)
    return TestSet(
        run.data,
        labels,
        images,
        _load_group_numbers(run, GROUPS_FILE, size),
        repeats=_load_group_numbers(run, REPEATS_FILE, size),
        details=_load_example_details(run, size),
    )


def _load_example_details(run: Run, size: int) -> ExampleDetails:
    """What the examples are called; nothing where that was not imported."""
    try:
        return read_details(run.path / DETAILS_FILE, size)
    except (OSError, DamagedFileError) as error:
        raise RunError(
            f"The names of the examples of the run “{run.id}” cannot be read ({DETAILS_FILE}): import it again."
        ) from error


def _load_group_numbers(run: Run, file: str, size: int) -> NDArray[np.int64] | None:
    """Return the groups or copies that were imported with predictions, (N,); None without any."""
    path = run.path / file
    if not path.exists():
        return None
    try:
        arrays = read_arrays(path, {"groups": ExpectedArray((size,), "int64")})
    except (OSError, DamagedFileError) as error:
        raise RunError(f"The groups of the run “{run.id}” cannot be read ({path.name}): import it again.") from error
    return cast(NDArray[np.int64], arrays["groups"])
