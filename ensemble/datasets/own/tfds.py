"""Pictures that TensorFlow Datasets has, as far as it prepares and reads them without TensorFlow.

A dataset that lies prepared as array_record in its folder (`TFDS_DATA_DIR`, by default
`~/tensorflow_datasets`) is read as a data source. One that does not is prepared here, which most of
its builders can do with TensorFlow only.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ensemble.datasets.own import values
from ensemble.datasets.own.source import Form, Pixels, Size, Survey, Unreadable
from ensemble.errors import DataError

NAME = re.compile(r"[a-z][a-z0-9_]*(/[A-Za-z0-9_.\-]+)?(:\d+\.\d+\.\d+)?")


class Tfds:
    """Pictures of TensorFlow Datasets; a `source.Source`.

    Args:
      name: as it names them: `mnist`, `cifar10`, `oxford_flowers102`, `NAME/CONFIG:VERSION`.

    Raises:
      DataError: there is none, it cannot be prepared or read without TensorFlow, or it is no
        set of images with one label each.
    """

    def __init__(self, name: str) -> None:
        if not NAME.fullmatch(name):
            raise DataError(f"{name!r:.60} is no name of TensorFlow Datasets: tfds:cifar10 is one.")
        self.origin, self.said = f"{name} of TensorFlow Datasets", list[str]()
        sources, info = self._sources(name)
        self._image, label = keys(info.features, name)
        found = {split: labels_of(source, label) for split, source in sources.items()}
        if "val" in sources:
            into = values.validation_into(set(sources), self.said)
            joined = [one for one in (into, "val") if one in sources]
            found[into] = np.concatenate([found[one] for one in joined])
            self._parts = {split: [source] for split, source in sources.items() if split != "val"}
            self._parts.setdefault(into, []).append(sources["val"])
            del found["val"]
        else:
            self._parts = {split: [source] for split, source in sources.items()}
        given = np.array(getattr(info.features[label], "names", None) or [])
        self.class_names, self.labels = values.classes(found, given, name)

    def survey(self) -> Survey:
        """The pictures' sizes: each is decoded once for it, unless all are said to be equal."""
        survey = Survey()
        for parts in self._parts.values():
            for source in parts:
                said = source.dataset_info.features[self._image].shape
                if None not in said:
                    survey.sizes[said[0], said[1]] += len(source)
                    survey.grey &= said[2] == 1
                    continue
                for place in range(len(source)):
                    size, grey = seen(np.asarray(source[place][self._image]))
                    survey.sizes[size] += 1
                    survey.grey &= grey
        return survey

    def pictures(self, split: str, form: Form) -> Iterator[Pixels | Unreadable]:
        """Each picture of a split."""
        for source in self._parts[split]:
            for place in range(len(source)):
                one = np.asarray(source[place][self._image])
                if one.dtype != np.uint8:
                    yield Unreadable(f"{split} {place}", f"it is of {one.dtype}")
                    continue
                yield values.in_form(one.reshape(*one.shape[:2], -1), form)

    def _sources(self, name: str) -> tuple[dict[str, Any], Any]:
        """What there is of each split, prepared where it is not."""
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        try:
            import tensorflow_datasets as tfds

            builder = tfds.builder(name, file_format="array_record")
            if not builder.data_path.exists():
                builder.download_and_prepare()
            splits = {values.split_name(one): one for one in builder.info.splits}
            found = {one: builder.as_data_source(split) for one, split in splits.items() if one}
        except ImportError as error:
            raise DataError(needs_tensorflow(name)) from error
        except Exception as error:  # its builders raise what their authors chose
            if "tensorflow" in str(error).lower() and "No module" in str(error):
                raise DataError(needs_tensorflow(name)) from error
            said = " ".join(str(error).split()) or type(error).__name__
            raise DataError(
                f"TensorFlow Datasets cannot give {name} ({said:.200}): look at its name and at "
                "your network, or save the images as an .npz."
            ) from error
        if "train" not in found:
            raise DataError(f"{name} has no training images: choose another.")
        return found, builder.info


def needs_tensorflow(name: str) -> str:
    """What to do where TensorFlow would be needed, which this program does without."""
    return (
        f"TensorFlow Datasets can prepare {name} with TensorFlow only: where that is installed run "
        f"`tfds build {name} --file_format=array_record`, and point TFDS_DATA_DIR here at the "
        "folder that it made, or save the images as an .npz."
    )


def keys(features: Any, name: str) -> tuple[str, str]:
    """The names of the one image and the one label; DataError where it has others."""
    images = [key for key, one in features.items() if type(one).__name__ == "Image"]
    labels = [key for key, one in features.items() if type(one).__name__ == "ClassLabel"]
    if len(images) > 1 and "image" in images:
        images = ["image"]
    if len(labels) > 1 and "label" in labels:
        labels = ["label"]
    if len(images) != 1 or len(labels) != 1:
        raise DataError(f"{name} is no set of images with one label each: choose another.")
    return images[0], labels[0]


def labels_of(source: Any, key: str) -> np.ndarray:
    """The labels (N,) of a split; only these are decoded where the source can do that."""
    return np.array([int(source[place][key]) for place in range(len(source))], np.int64)


def seen(one: np.ndarray) -> tuple[Size, bool]:
    """A picture's size, and whether it is grey."""
    return (one.shape[0], one.shape[1]), one.ndim == 2 or one.shape[2] == 1
