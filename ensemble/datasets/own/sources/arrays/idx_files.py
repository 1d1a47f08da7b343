"""Pictures in IDX files, as MNIST's and EMNIST's: a folder with two or four, gzipped or not."""

import contextlib
import gzip
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.idx import UINT8
from ensemble.datasets.own.source import DatasetImageFormat, PictureSurvey, Pixels, UnreadablePicture
from ensemble.datasets.own.sources.arrays import array_values
from ensemble.datasets.own.sources.arrays.array_files import read_exact_bytes
from ensemble.datasets.own.sources.arrays.array_levels import ArrayLevelSurvey
from ensemble.datasets.own.sources.source_folder import list_source_folder
from ensemble.errors import DataError
from ensemble.files.columns import list_unused_notes
from ensemble.files.image_levels import scale_to_bytes
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.disk_errors import describe_error_with_path
from ensemble.storage.plain_files import open_plain_file

_FILE_PATTERN = re.compile(r".*?(train|t10k|test)[-_.](images|labels)[-_.]idx\d[-_.]ubyte(?:\.gz)?", re.I)
_MOST_LABELS = 2**28
BLOCK = 2**22  # bytes that are unpacked in one go
Shape = tuple[int, ...]


class IdxSource:
    """Pictures in IDX files; a `source.PictureSource`.

    Raises:
      DataError: the files cannot be read, or do not fit together.
    """

    def __init__(self, folder: Path) -> None:
        self.notes = list[str]()
        self.groups: dict[str, NDArray[np.int64]] = {}
        self.origin = f"IDX files of the folder {folder.name}"
        self._scales, self._ground = dict[str, float](), ""
        self._files = find_idx_files(folder)
        if ("train", "images") not in self._files or len(self._files) % 2:
            raise DataError(
                f"{folder} needs images and labels: train-images-idx3-ubyte, "
                "train-labels-idx1-ubyte, ideally t10k-… too, with or without .gz."
            )
        # EMNIST's files have height and width the other way round.
        self._is_turned = any(path.name.lower().startswith("emnist") for path in self._files.values())
        if self._is_turned:
            self.notes.append("EMNIST's files hold images on their side: they were turned upright.")
        left = [path.name for path in list_source_folder(folder).files if path not in self._files.values()]
        self.notes += list_unused_notes(left, "file", folder.name)
        self._shapes = {}
        for (split, what), path in self._files.items():
            with _open_idx_file(path) as (_, shape):
                self._shapes[split, what] = shape
        splits = sorted({split for split, _ in self._files}, reverse=True)
        labels_by_split = {split: self._read_split_labels(split) for split in splits}
        self.class_names, self.labels = array_values.map_class_labels(labels_by_split, None, folder.name)

    def survey(self) -> PictureSurvey:
        """The files' shapes, and whether their numbers are those of dark pictures all over."""
        survey, level_survey = PictureSurvey(), ArrayLevelSurvey()
        for split in self.labels:
            shape = self._shapes[split, "images"]
            count, height, width, channels = array_values.parse_image_layout(shape, f"The {split} file")
            height, width = (width, height) if self._is_turned else (height, width)
            survey.sizes[height, width] += count
            survey.grey &= channels == 1
            name = self._files[split, "images"].name
            level_survey.add(name, self._iterate_blocks(split), count, channels)
        self._scales, survey.levels = level_survey.choose_levels(self.notes)
        self._ground = survey.levels.ground
        return survey

    def iterate_pictures(self, split: str, form: DatasetImageFormat) -> Iterator[Pixels | UnreadablePicture]:
        """Each picture of a split, unpacked a few at a time."""
        scale = self._scales.get(self._files[split, "images"].name)
        for block in self._iterate_blocks(split):
            for pixels in scale_to_bytes(block, scale):
                yield array_values.fit_array_to_format(pixels, form, self._ground)

    def _iterate_blocks(self, split: str) -> Iterator[Pixels]:
        path = self._files[split, "images"]
        count, *shape = array_values.parse_image_layout(self._shapes[split, "images"], path.name)
        row = int(np.prod(shape))
        rows = max(1, BLOCK // row)
        with _open_idx_file(path) as (file, _):
            for start in range(0, count, rows):
                some = min(rows, count - start)
                block = read_exact_bytes(file, some * row).reshape(some, *shape)
                yield block.swapaxes(1, 2) if self._is_turned else block
            if file.read(1):
                raise DataError(f"{path.name} is longer than its header says: use another copy.")

    def _read_split_labels(self, split: str) -> NDArray[np.uint8]:
        if (split, "labels") not in self._files or (split, "images") not in self._files:
            raise DataError(f"The {split} images need their labels, and these their images.")
        images, shape = self._shapes[split, "images"], self._shapes[split, "labels"]
        path = self._files[split, "labels"]
        if len(shape) != 1 or shape[0] != images[0] or shape[0] > _MOST_LABELS:
            raise DataError(
                f"{path.name} has shape {shape}, and there are {images[0]:,} {split} images: give each one label."
            )
        with _open_idx_file(path) as (file, _):
            return read_exact_bytes(file, shape[0])


def find_idx_files(folder: Path) -> dict[tuple[str, str], Path]:
    """The IDX files of a folder by split ("train", "test") and kind ("images", "labels").

    Raises:
      DataError: the folder cannot be read, or two files stand for the same.
    """
    files_by_role: dict[tuple[str, str], Path] = {}
    try:
        every = sorted(folder.iterdir())
    except OSError as error:
        raise DataError(f"The folder cannot be read ({describe_error_with_path(error)}): give another.") from error
    for path in every:
        match = _FILE_PATTERN.fullmatch(path.name)
        if not match or path.name.startswith("."):
            continue
        split = "train" if match[1].lower() == "train" else "test"
        role = split, match[2].lower()
        if role in files_by_role and files_by_role[role].name.removesuffix(".gz") != path.name.removesuffix(".gz"):
            raise DataError(f"{files_by_role[role].name} and {path.name} hold the same part: leave one in the folder.")
        files_by_role.setdefault(role, path)
    return files_by_role


@contextmanager
def _open_idx_file(path: Path) -> Iterator[tuple[IO[bytes], Shape]]:
    """An IDX file of bytes, behind its header, and its shape; DataError where it is none."""
    try:
        with contextlib.ExitStack() as held:
            file: IO[bytes] = held.enter_context(open_plain_file(path))
            if path.name.lower().endswith(".gz"):
                file = cast(IO[bytes], held.enter_context(gzip.GzipFile(fileobj=file)))
            magic = file.read(4)
            if len(magic) != 4 or magic[:3] != bytes((0, 0, UINT8)) or not 1 <= magic[3] <= 4:
                raise DataError(f"{path.name} is not an IDX file of bytes: use another copy.")
            lengths = file.read(4 * magic[3])
            if len(lengths) != 4 * magic[3]:
                raise DamagedFileError("it is truncated")
            yield file, struct.unpack(f">{magic[3]}I", lengths)
    except (DamagedFileError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path.name} is damaged or truncated: use another copy.") from error
    except OSError as error:
        raise DataError(f"{path.name} cannot be read ({describe_error_with_path(error)}): use another.") from error
