"""Pictures in an .npz file, read a few at a time: it need not fit into memory, nor be unpacked.

Names: `train_images`, `train_labels`, and the same of `test` and `val`; or Keras's `x_train`,
`y_train`; or `images` and `labels` alone. `class_names` is there or not, and so is `train_groups`
(and of the others), who wrote each picture, or whose it is. Nothing is unpickled.
"""

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

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
from ensemble.datasets.own.sources import array_values
from ensemble.datasets.own.sources.array_levels import ArrayLevelSurvey
from ensemble.errors import DataError
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ArrayHeader, read_header
from ensemble.storage.arrays.npz import ZIP_ERRORS
from ensemble.storage.disk_errors import describe_error_with_path
from ensemble.storage.plain_files import open_plain_file

MOST_ENTRIES = 1000
MAX_LABEL_BYTES = 2**28  # bytes of labels and names
MAX_FORTRAN_BYTES = 2**31
BLOCK = 2**22  # bytes that are unpacked in one go
PIECE = 2**17
IMAGES, LABELS = {"images", "image", "x"}, {"labels", "label", "y"}
NAMES = {"class_names", "classes", "label_names"}
REQUIRED_ARRAYS = (
    "It has to hold train_images (N, H, W) or (N, H, W, channels) and train_labels (N,), "
    "ideally test_images and test_labels too: np.savez(file, train_images=…, train_labels=…)."
)


class NpzSource:
    """Pictures in an .npz file; a `source.PictureSource`.

    Raises:
      DataError: it cannot be read, or does not hold what it has to.
    """

    def __init__(self, path: Path) -> None:
        self._path, self.notes = path, list[str]()
        self.origin = f"arrays of the file {path.name}"
        with open_npz_archive(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            if len(set(names)) != len(names) or len(names) > MOST_ENTRIES:
                raise DataError(f"{path.name} is not a NumPy file. {REQUIRED_ARRAYS}")
            roles = self._assign_roles(names)
            every = [name for part in roles.values() for name in part.values()]
            self._headers = {name: self._read_array_header(archive, name) for name in every}
            names_entry = roles.pop("").get("names")
            labels_by_split = {
                split: self._read_small_array(archive, part["labels"])
                for split, part in roles.items()
            }
            class_names = self._read_small_array(archive, names_entry) if names_entry else None
            groups_by_split = {
                split: self._read_small_array(archive, part["groups"])
                for split, part in roles.items()
                if "groups" in part
            }
        self._images = {split: [part["images"]] for split, part in roles.items()}
        self.class_names, self.labels = array_values.map_class_labels(
            labels_by_split, class_names, path.name, self.notes
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
            count, height, width, channels = array_values.parse_image_layout(
                self._headers[name].shape, name
            )
            survey.sizes[height, width] += int(self._labelled_rows[name].sum())
            survey.grey &= channels == 1
            level_survey.add(name, self._iterate_blocks(name), count, channels)
        self._scales, survey.levels = level_survey.choose_levels(self.notes)
        self._ground = survey.levels.ground
        return survey

    def iterate_pictures(
        self, split: str, form: DatasetImageFormat
    ) -> Iterator[Pixels | UnreadablePicture]:
        """Each picture of a split, unpacked a few at a time."""
        for name in self._images[split]:
            shape = array_values.parse_image_layout(self._headers[name].shape, name)[1:]
            first = 0
            for block in self._iterate_blocks(name):
                kept = self._labelled_rows[name][first : first + len(block)]
                first += len(block)
                for pixels in array_values.scale_to_bytes(block[kept], self._scales.get(name)):
                    yield array_values.fit_array_to_format(
                        pixels.reshape(shape), form, self._ground
                    )

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
                f"{self._path.name} holds {format_name_list(names, 8) or 'nothing'}. "
                f"{REQUIRED_ARRAYS}"
            )
        if left:
            self.notes.append(
                f"Arrays of {self._path.name} that are not used: {format_name_list(left, 8)}."
            )
        return roles

    def _number_groups(self, by_split: dict[str, NDArray[Any]]) -> dict[str, NDArray[np.int64]]:
        """Groups as numbers, the same in every split for the same name."""
        for split, groups in by_split.items():
            if groups.shape != self.labels[split].shape or groups.dtype.kind not in "iuU":
                raise DataError(
                    f"{self._path.name} has groups of shape {groups.shape} for "
                    f"{len(self.labels[split]):,} {split} images: give each one, as a whole "
                    "number or text."
                )
        if len({groups.dtype.kind == "U" for groups in by_split.values()}) > 1:
            raise DataError(
                f"{self._path.name} has groups that are numbers and groups that are text: "
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
                    f"{self._path.name} has {images[0]:,} {split} images and {labels[0]:,} labels: "
                    "give each image one label."
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

    def _read_array_header(self, archive: zipfile.ZipFile, name: str) -> ArrayHeader:
        entry = find_npz_entry(archive, name)
        with convert_npz_errors(self._path, name), archive.open(entry) as file:
            header = read_header(cast(BinaryIO, file))
            if entry.file_size != header.start + header.nbytes:
                raise DamagedFileError("its shape does not match its length")
        return header

    def _read_small_array(self, archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
        header = self._headers[name]
        if header.nbytes > MAX_LABEL_BYTES:
            raise DataError(f"{name} of {self._path.name} is too large for labels or names.")
        with (
            convert_npz_errors(self._path, name),
            archive.open(find_npz_entry(archive, name)) as file,
        ):
            file.read(header.start)
            return header.view_as_array(read_exact_bytes(file, header.nbytes))

    def _iterate_blocks(self, name: str) -> Iterator[NDArray[Any]]:
        """The rows of an array, some at a time; all at once where its first axis varies fastest."""
        header = self._headers[name]
        count, *shape = header.shape
        row = header.nbytes // max(1, count)
        rows = count if header.fortran_order else max(1, BLOCK // row)
        if header.fortran_order and header.nbytes > MAX_FORTRAN_BYTES:
            raise DataError(
                f"{name} of {self._path.name} is stored column by column and is too large to "
                "be reordered: save np.ascontiguousarray of it."
            )
        with (
            open_npz_archive(self._path) as archive,
            convert_npz_errors(self._path, name),
            archive.open(find_npz_entry(archive, name)) as file,
        ):
            file.read(header.start)
            for start in range(0, count, rows):
                flat = read_exact_bytes(file, min(rows, count - start) * row)
                if header.fortran_order:
                    yield header.view_as_array(flat)
                else:
                    yield flat.view(header.dtype).reshape(-1, *shape)


def parse_array_role(name: str) -> tuple[str, str]:
    """Which split an array is of, and its role: "images", "labels", "groups"; "" for neither.

    The classes' names have the role "names" of the split "".
    """
    if name.lower() in NAMES:
        return "", "names"
    split, rest = "train", list[str]()
    for word in re.split(r"[_\-]", name.lower()):
        split_name = array_values.parse_split_name(word)
        split, rest = (split_name, rest) if split_name else (split, [*rest, word])
    kind = "_".join(rest)
    roles = {"images": IMAGES, "labels": LABELS, "groups": GROUP_NAMES}
    what = next((role for role, names in roles.items() if kind in names), "")
    return (split, what) if what else ("", "")


@contextmanager
def open_npz_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive in a file; DataError where it is none."""
    with (
        convert_npz_errors(path, ""),
        open_plain_file(path) as file,
        zipfile.ZipFile(file) as archive,
    ):
        yield archive


@contextmanager
def convert_npz_errors(path: Path, name: str) -> Iterator[None]:
    """What is damaged or refused within is said of the file, and of the array in it."""
    what = f"{name} of {path.name}" if name else path.name
    try:
        yield
    except DataError:
        raise
    except OSError as error:
        raise DataError(
            f"{what} cannot be read ({describe_error_with_path(error)}): check what is there."
        ) from error
    except DamagedFileError as error:
        raise DataError(
            f"{what} cannot be used ({error}): save it with np.savez, as numbers or text, not "
            "as Python objects."
        ) from error
    except ZIP_ERRORS as error:
        raise DataError(
            f"{what} is damaged, truncated or not an .npz file: save it again."
        ) from error


def find_npz_entry(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """The entry of an array, which NumPy names with .npy at its end."""
    try:
        return archive.getinfo(f"{name}.npy")
    except KeyError:
        return archive.getinfo(name)


def read_exact_bytes(file: IO[bytes], size: int) -> NDArray[np.uint8]:
    """So many bytes; DamagedFileError where there are fewer."""
    content = np.empty(size, np.uint8)
    for start in range(0, size, PIECE):
        piece = content[start : start + PIECE]
        got = file.read(len(piece))
        if len(got) != len(piece):
            raise DamagedFileError("it is truncated")
        piece[:] = np.frombuffer(got, np.uint8)
    return content
