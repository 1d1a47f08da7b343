"""Arrays in memory made a dataset of one's own, to be trained on here and on the screens."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemble import datasets
from ensemble.errors import DataError

if TYPE_CHECKING:
    from ensemble.datasets import DatasetInfo


def add_dataset(
    name: str,
    images: ArrayLike,
    labels: ArrayLike,
    *,
    test_images: ArrayLike | None = None,
    test_labels: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    test_groups: ArrayLike | None = None,
    class_names: Sequence[str] | None = None,
    title: str = "",
    noun: str = "image",
    **settings: Any,
) -> "DatasetInfo":
    """Add images and labels as a dataset: `ensemble.Config(dataset=name)` trains on it.

    As `ensemble data add` does for files. What was assumed, left out or stands out is said in a
    warning.

    Args:
      name: what to call it: lower-case letters, digits and _, at most 32.
      images: (N, H, W) or (N, H, W, channels), from 0 to 255 or from 0 to 1.
      labels: (N,), whole numbers or text.
      test_images: those to be tested on; without them a share of each class becomes test images.
      test_labels: what they are.
      groups: (N,), which writer, patient or video each image is of: whole groups are held out.
      test_groups: the same of the test images.
      class_names: what the classes are called, in the order of their numbers.
      title: what people call the dataset; by default its name.
      noun: one image of it, in the singular.
      settings: `size`, `test_share`, `seed`, as of `ensemble data add`.

    Returns:
      What is known of it: sizes, classes, shape.

    Raises:
      DataError: there is one of that name, or the arrays are not fit to be one.
      ConfigError: a name or a setting that is none.
      StorageError: the data folder cannot be written; nothing is left behind.
    """
    # Here: it is a while to decoders.
    from ensemble.datasets.own.dataset_builder import add_custom_dataset
    from ensemble.datasets.own.request import DatasetNaming, PreparationSettings
    from ensemble.datasets.own.sources.arrays.array_source import ArraySource
    from ensemble.datasets.own.sources.arrays.memory_arrays import MemoryArrays

    if (test_images is None) != (test_labels is None):
        raise DataError("test_images and test_labels belong together: give both, or neither.")
    called = DatasetNaming(name, title, noun)
    how = PreparationSettings.from_dict(settings)
    given = {
        "train_images": images,
        "train_labels": labels,
        "train_groups": groups,
        "test_images": test_images,
        "test_labels": test_labels,
        "test_groups": test_groups,
        "class_names": class_names,
    }
    arrays = {key: _convert_array(key, value) for key, value in given.items() if value is not None}
    report = add_custom_dataset(ArraySource(MemoryArrays(arrays)), how, called)
    if said := report.note.said:
        warnings.warn(" ".join(said), stacklevel=2)
    return datasets.find_dataset_info(name)


def _convert_array(name: str, value: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError as error:
        raise DataError(f"{name} is no array: give images of one size, one after the other.") from error
