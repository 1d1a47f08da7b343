"""Pictures in arrays that have names, wherever these lie: `NamedArrays` says what is asked of them.

Names: `train_images`, `train_labels`, and the same of `test` and `val`; or Keras's `x_train`,
`y_train`; or `images` and `labels` alone. `class_names` is there or not, and so is `train_groups`
(and of the others), who wrote each picture, or whose it is.
"""

import re
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.source import (
    GROUP_NAMES,
    DatasetImageFormat,
    PictureSurvey,
    Pixels,
    UnreadablePicture,
    format_name_list,
)
from ensemble.datasets.own.sources.arrays import array_values
from ensemble.datasets.own.sources.arrays.array_levels import ArrayLevelSurvey
from ensemble.errors import DataError
from ensemble.files.columns import list_unused_notes
from ensemble.files.image_levels import scale_to_bytes
from ensemble.storage.arrays.npy import ArrayHeader

IMAGES, LABELS = {"images", "image", "x"}, {"labels", "label", "y"}
NAMES = {"class_names", "classes", "label_names", "list_classes"}
_FILLER_WORDS = {"set", "data", "dataset"}  # train_set_x


class NamedArrays(Protocol):
    """Arrays by their names, read as far as they are asked for.

    Attributes:
      name: of the file or folder, for sentences.
      origin: where they come from, one line for people.
      required: which arrays there have to be, and how they are saved: a sentence.
      names: of all arrays.
      notes: what was assumed or left out, a sentence each.
    """

    name: str
    origin: str
    required: str
    names: list[str]
    notes: list[str]

    def read_header(self, name: str) -> ArrayHeader:
        """Type and shape of an array; DataError where it cannot be used."""

    def read_array(self, name: str) -> NDArray[Any]:
        """All of an array of labels or names; DataError where it is too large for one."""

    def iterate_blocks(self, name: str) -> Iterator[NDArray[Any]]:
        """The rows of an array, some at a time."""


class ArraySource:
    """Pictures in arrays that have names; a `source.PictureSource`.

    Args:
      arrays: that have them.
      labels_as: what labels are where classes have names, as of `PreparationSettings`.

    Raises:
      DataError: they cannot be read, or are not those that are needed.
    """

    def __init__(self, arrays: NamedArrays, labels_as: str = "") -> None:
        self._arrays, self.origin, self.notes = arrays, arrays.origin, list(arrays.notes)
        roles = self._assign_roles(arrays.names)
        every = [name for part in roles.values() for name in part.values()]
        self._headers = {name: arrays.read_header(name) for name in every}
        names_array = roles.pop("").get("names")
        labels_by_split = {split: arrays.read_array(part["labels"]) for split, part in roles.items()}
        class_names = arrays.read_array(names_array) if names_array else None
        groups_by_split = {
            split: arrays.read_array(part["groups"]) for split, part in roles.items() if "groups" in part
        }
        self._images = {split: [part["images"]] for split, part in roles.items()}
        self.class_names, self.labels = array_values.map_class_labels(
            labels_by_split, class_names, arrays.name, self.notes, labels_as
        )
        self.groups = self._number_groups(groups_by_split)
        self._check_counts()
        self._labelled_rows = self._leave_out_unlabelled()
        self._merge_validation()
        self._scales: dict[str, float] = {}
        self._ground = ""

    def survey(self) -> PictureSurvey:
        """The arrays' shapes; their numbers are read for their range, as far as need be."""
        survey, level_survey = PictureSurvey(), ArrayLevelSurvey()
        for name in (name for names in self._images.values() for name in names):
            count, height, width, channels = array_values.parse_image_layout(self._headers[name].shape, name)
            survey.sizes[height, width] += int(self._labelled_rows[name].sum())
            survey.grey &= channels == 1
            level_survey.add(name, self._arrays.iterate_blocks(name), count, channels)
        self._scales, survey.levels = level_survey.choose_levels(self.notes)
        self._ground = survey.levels.ground
        return survey

    def iterate_pictures(self, split: str, form: DatasetImageFormat) -> Iterator[Pixels | UnreadablePicture]:
        """Each picture of a split, unpacked a few at a time."""
        for name in self._images[split]:
            shape = array_values.parse_image_layout(self._headers[name].shape, name)[1:]
            first = 0
            for block in self._arrays.iterate_blocks(name):
                kept = self._labelled_rows[name][first : first + len(block)]
                first += len(block)
                for pixels in scale_to_bytes(block[kept], self._scales.get(name)):
                    yield array_values.fit_array_to_format(pixels.reshape(shape), form, self._ground)

    def _assign_roles(self, names: list[str]) -> dict[str, dict[str, str]]:
        """The arrays of each split by what they are; under "" that of the classes' names."""
        roles: dict[str, dict[str, str]] = {"": {}}
        left = []
        for name in names:
            split, what = parse_array_role(name)
            if not what or what in roles.setdefault(split, {}):
                left.append(name)
            else:
                roles[split][what] = name
        splits = {split for split in roles if split}
        needed = {"images", "labels"}
        if "train" not in splits or any(not needed <= set(roles[split]) for split in splits):
            raise DataError(
                f"{self._arrays.name} holds {format_name_list(names, 8) or 'nothing'}. {self._arrays.required}"
            )
        self.notes += list_unused_notes(left, "array", self._arrays.name)
        return roles

    def _number_groups(self, by_split: dict[str, NDArray[Any]]) -> dict[str, NDArray[np.int64]]:
        for split, groups in by_split.items():
            if groups.shape != self.labels[split].shape or groups.dtype.kind not in "iuU":
                raise DataError(
                    f"{self._arrays.name} has groups of shape {groups.shape} "
                    f"for {len(self.labels[split]):,} {split} images: give each one, as a whole number or text."
                )
        if len({groups.dtype.kind == "U" for groups in by_split.values()}) > 1:
            raise DataError(
                f"{self._arrays.name} has groups that are numbers and groups that are text: "
                "give all splits the same kind."
            )
        if not by_split:
            return {}
        joined = np.concatenate(list(by_split.values()))
        every = np.unique(joined, return_inverse=True)[1].reshape(-1)
        ends = np.cumsum([len(groups) for groups in by_split.values()])[:-1]
        return dict(zip(by_split, np.split(every.astype(np.int64), ends), strict=True))

    def _check_counts(self) -> None:
        for split, (name,) in self._images.items():
            images, labels = self._headers[name].shape[:1], self.labels[split].shape
            array_values.parse_image_layout(self._headers[name].shape, name)
            if images != labels:
                raise DataError(
                    f"{self._arrays.name} has {images[0]:,} {split} images and {labels[0]:,} "
                    "labels: give each image one label."
                )

    def _leave_out_unlabelled(self) -> dict[str, NDArray[np.bool_]]:
        """Which rows of each array of images have a label; others leave labels and groups."""
        kept = {}
        for split, (name,) in self._images.items():
            rows = self.labels[split] >= 0
            kept[name] = rows
            self.labels[split] = self.labels[split][rows]
            if split in self.groups:
                self.groups[split] = self.groups[split][rows]
        return kept

    def _merge_validation(self) -> None:
        if "val" not in self._images:
            return
        into = array_values.assign_validation_split(set(self._images), self.notes)
        self._images.setdefault(into, []).extend(self._images.pop("val"))
        parts = [self.labels[split] for split in (into, "val") if split in self.labels]
        both = [self.groups.get(split) for split in (into, "val") if split in self.labels]
        self.labels[into] = np.concatenate(parts)
        del self.labels["val"]
        known = [groups for groups in both if groups is not None]
        self.groups.pop("val", None)
        if known and len(known) == len(both):
            self.groups[into] = np.concatenate(known)
        elif self.groups.pop(into, None) is not None or known:
            self.notes.append(
                f"Groups of the {into} images are not used: those of the validation images, which "
                "join them, are known of one part alone."
            )


def parse_array_role(name: str) -> tuple[str, str]:
    """Which split an array is of, and its role: "images", "labels", "groups"; "" for neither.

    The classes' names have the role "names" of the split "".
    """
    if name.lower() in NAMES:
        return "", "names"
    split, rest = "train", list[str]()
    for word in re.split(r"[_\-]", name.lower()):
        split_name = array_values.parse_split_name(word)
        if split_name:
            split = split_name
        elif word not in _FILLER_WORDS:
            rest.append(word)
    kind = "_".join(rest)
    roles = {"images": IMAGES, "labels": LABELS, "groups": GROUP_NAMES}
    what = next((role for role, names in roles.items() if kind in names), "")
    return (split, what) if what else ("", "")
