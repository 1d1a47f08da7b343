"""Pictures that TensorFlow Datasets has, as far as it prepares and reads them without TensorFlow.

A dataset that lies prepared as array_record in its folder (`TFDS_DATA_DIR`, by default
`~/tensorflow_datasets`) is read as a data source. One that does not is prepared there, unless its
builder calls TensorFlow: that is asked first, for it would fail after the download. The downloader
opens each address ten times, over three minutes, before it says that there is no network: whether
one answers is asked first too (`host_check.py`).
"""

import contextlib
import importlib.util
import logging
import re
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets import registry
from ensemble.datasets.own.source import DatasetImageFormat, PictureSurvey, Pixels, UnreadablePicture
from ensemble.datasets.own.sources import host_check
from ensemble.datasets.own.sources.arrays import array_values
from ensemble.errors import DataError

# What unpacks archives, with TensorFlow's files.
_UNPACKING_METHODS = {"download_and_extract", "iter_archive"}
_MISSING_PATTERN = re.compile(r"No module named '(\w+)")
_TFDS_NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]*(/[A-Za-z0-9_.\-]+)?(:\d+\.\d+\.\d+)?")


class TfdsSource:
    """Pictures of TensorFlow Datasets; a `source.PictureSource`.

    Args:
      name: as it names them: `beans`, `food101`, `NAME/CONFIG:VERSION`.

    Raises:
      DataError: there is none, it cannot be prepared or read without TensorFlow, or it is no
        set of images with one label each.
    """

    def __init__(self, name: str) -> None:
        if not _TFDS_NAME_PATTERN.fullmatch(name):
            raise DataError(f"{name!r:.60} is not a name in TensorFlow Datasets: tfds:beans is one.")
        if (built_in := re.split("[/:]", name)[0]) in registry.ENTRIES:
            raise DataError(
                f"{built_in} is built in and need not be added: train with `--dataset {built_in}`, "
                f"which fetches it, or fetch it with `ensemble data prepare {built_in}`."
            )
        self.origin, self.notes = f"{name} of TensorFlow Datasets", list[str]()
        self.groups: dict[str, NDArray[np.int64]] = {}
        builder = _prepare_tfds_builder(name)
        self._image, label = _find_feature_keys(builder.info.features, name)
        names = {array_values.parse_split_name(split_name): split_name for split_name in builder.info.splits}
        if "train" not in names:
            raise DataError(f"{name} has no training images: choose another.")
        labels_by_split, self._parts = dict[str, NDArray[Any]](), dict[str, list[Any]]()
        for split in (split_name for split_name in ("train", "test", "val") if split_name in names):
            self._parts[split] = [builder.as_data_source(split=names[split])]
            labels_by_split[split] = _read_tfds_labels(builder, names[split], self._image, label)
        class_names = np.array(getattr(builder.info.features[label], "names", None) or [])
        self.class_names, self.labels = array_values.map_class_labels(
            labels_by_split, class_names, name, labels_as="positions" if class_names.size else ""
        )
        for bare in [split for split, each in self.labels.items() if (each < 0).all()]:
            del self.labels[bare], self._parts[bare]
            self.notes.append(f"The {bare} images of {name} have no label (−1) and were left out.")
        if "train" not in self.labels or any((each < 0).any() for each in self.labels.values()):
            raise DataError(f"{name} has images without a label: save those with one as .npz, and add that file.")
        self._shape = builder.info.features[self._image].shape
        if "val" in self.labels:
            into = array_values.assign_validation_split(set(self._parts), self.notes)
            self._parts.setdefault(into, []).extend(self._parts.pop("val"))
            joined = [self.labels[split_name] for split_name in (into, "val") if split_name in self.labels]
            self.labels[into] = np.concatenate(joined)
            del self.labels["val"]

    def survey(self) -> PictureSurvey:
        """The pictures' sizes: each is decoded once for it, unless all are said to be equal."""
        survey = PictureSurvey()
        for source in (source for parts in self._parts.values() for source in parts):
            shape = self._shape
            for place in range(len(source)):
                if None in self._shape:
                    shape = np.shape(source[place][self._image])
                survey.sizes[shape[0], shape[1]] += 1
                survey.grey &= shape[2] == 1
        return survey

    def iterate_pictures(self, split: str, form: DatasetImageFormat) -> Iterator[Pixels | UnreadablePicture]:
        """Each picture of a split."""
        for source in self._parts[split]:
            for place in range(len(source)):
                pixels = np.asarray(source[place][self._image])
                if pixels.dtype == np.uint8:
                    yield array_values.fit_array_to_format(pixels, form)
                else:
                    yield UnreadablePicture(f"{split} {place}", f"it is of {pixels.dtype}")


def _prepare_tfds_builder(name: str) -> Any:
    """The builder of a dataset that lies prepared as array_record, perhaps since just now.

    Raises:
      DataError: there is none of this name, or it cannot be prepared.
    """
    import tensorflow_datasets as tfds

    try:
        tfds.disable_progress_bar()
        # It tells each of its ten tries of a name that cannot be looked up.
        logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)
        # It says on stdout what it does.
        with contextlib.redirect_stdout(sys.stderr), host_check.require_answers(name):
            builder = tfds.builder(name, file_format="array_record")
            if not builder.data_path.exists():
                if _requires_tensorflow(builder) and not importlib.util.find_spec("tensorflow"):
                    raise DataError(_describe_tensorflow_requirement(name))
                builder.download_and_prepare()
        return builder
    except DataError:
        raise
    except ImportError as error:
        missing = _MISSING_PATTERN.search(str(error))
        if missing and missing[1] != "tensorflow":
            raise DataError(
                f"TensorFlow Datasets prepares {name} with the package {missing[1]}: install it, "
                "or save the images as an .npz."
            ) from error
        raise DataError(_describe_tensorflow_requirement(name)) from error
    except Exception as error:  # its builders raise what their authors chose
        reason = " ".join(str(error).split()).split(" Available ")[0] or type(error).__name__
        raise DataError(
            f"TensorFlow Datasets cannot provide {name} ({reason:.200}): check its name and your "
            "network, or save the images as an .npz."
        ) from error


def _requires_tensorflow(builder: Any) -> bool:
    for made in type(builder).__mro__:
        if made.__module__.startswith(("tensorflow_datasets.core.", "builtins")):
            continue
        if hasattr(sys.modules.get(made.__module__), "tf"):
            return True
        for name, function in vars(made).items():
            if isinstance(function, FunctionType):
                used = _collect_names(function.__code__)
                if used & _UNPACKING_METHODS or (name == "_split_generators" and "extract" in used):
                    return True
    return False


def _collect_names(code: CodeType) -> set[str]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_collect_names, inner))


def _describe_tensorflow_requirement(name: str) -> str:
    return (
        f"TensorFlow Datasets can prepare {name} with TensorFlow only: where TensorFlow is "
        f"installed, run `tfds build {name} --file_format=array_record`, and point "
        "TFDS_DATA_DIR here at the folder that it made, or save the images as an .npz."
    )


def _find_feature_keys(features: Any, name: str) -> tuple[str, str]:
    """The names of the one image and the one label; DataError where it has others."""
    kinds = {"Image": "image", "ClassLabel": "label"}
    keys_by_kind = {
        kind: [key for key, feature in features.items() if type(feature).__name__ == kind] for kind in kinds
    }
    for kind, usual in kinds.items():
        if usual in keys_by_kind[kind]:
            keys_by_kind[kind] = [usual]
        if len(keys_by_kind[kind]) != 1:
            raise DataError(f"{name} is not a set of images with one label each: choose another.")
    return keys_by_kind["Image"][0], keys_by_kind["ClassLabel"][0]


def _read_tfds_labels(builder: Any, split: str, image: str, label: str) -> NDArray[np.int64]:
    """The labels (N,) of a split; its images are not decoded for them."""
    import tensorflow_datasets as tfds

    source = builder.as_data_source(split=split, decoders={image: tfds.decode.SkipDecoding()})
    return np.array([int(source[place][label]) for place in range(len(source))], np.int64)
