"""A pool: images without labels in the form of a dataset, whose classes they are to be given.

An image that the dataset has already is left out, learnt from or tested on: nobody labels it twice,
and no test image is learnt from. So a folder of which a part was added as the dataset may be given
as it is.
"""

import functools
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemble.access import Action, audit_log, check_permission, owners
from ensemble.datasets.dataset import Dataset
from ensemble.datasets.decisions.label_decision import checksum_image
from ensemble.datasets.entry import DatasetEntry
from ensemble.datasets.own.custom_registry import NAME_PATTERN, read_custom_note
from ensemble.datasets.own.recorded_levels import load_dataset_levels
from ensemble.datasets.own.request import sanitize_text
from ensemble.datasets.own.row_writer import RowWriter
from ensemble.datasets.own.source import DatasetImageFormat, Pixels, UnreadablePicture, format_name_list
from ensemble.datasets.own.sources.encoded import picture_decoding
from ensemble.datasets.own.sources.encoded.parallel_reading import (
    count_decoder_threads,
    count_pictures_ahead,
    map_files,
)
from ensemble.datasets.own.sources.folders.folder_walk import FolderWalk
from ensemble.datasets.progress import Progress
from ensemble.datasets.registry import find_dataset_entry
from ensemble.errors import ConfigError, DataError, ImageError, StorageError
from ensemble.pictures.files.levels import PictureLevels
from ensemble.pictures.files.picture import open_picture
from ensemble.pictures.preparation import prepare_picture
from ensemble.storage.archives.unpacking import unpack_archive
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray, map_npy
from ensemble.storage.atomic_files import write_json
from ensemble.storage.disk_errors import describe_os_error
from ensemble.storage.folders import data_folder
from ensemble.storage.plain_files import parse_json, read_limited_bytes, read_small_file
from ensemble.storage.records.field_checks import Count, parse_dataclass

FORMAT = 1
NOTE_FILE, _NAMES_FILE, IMAGES_FILE = "pool.json", "names.json", "images.npy"
_COPIES_FILE = "copies.json"
MAX_NOTE_BYTES, _MAX_NAMES_BYTES = 2**20, 2**28
_MOST_IMAGES = 1_000_000
_MAX_PICTURE_BYTES = 2**26  # of a photograph in which a digit is looked for
MAX_NAME_LETTERS = 200
_MAX_LISTED = 20
_REPORT_EVERY = 50  # pictures
_PART_SUFFIX = ".part"


@dataclass(frozen=True)
class _PoolNote:
    """What `pool.json` says.

    Attributes:
      format: of the note and the files beside it.
      dataset: the name of the dataset in whose form the images are.
      class_names: of that dataset, which labels count from 0.
      image_shape: [H, W, channels].
      noun: what one image is called.
      images: how many there are.
      fingerprint: SHA-256 of the images and the classes' names.
      source: where they came from, one line for people.
      added: when, unix seconds.
      said: what was left out, a sentence each.
    """

    format: int
    dataset: str
    class_names: list[str]
    image_shape: list[Count]
    noun: str
    images: Count
    fingerprint: str
    source: str
    added: float = 0.0
    said: list[str] = field(default_factory=list)


class _PoolCopy(NamedTuple):
    """A picture that was left out of a pool as a copy.

    Attributes:
      name: of its file.
      number: of the image that it copies; None for an image of the dataset.
      place: among all pictures that could be read, from 0.
    """

    name: str
    number: int | None
    place: int


@dataclass(frozen=True)
class LabelPool:
    """A pool of images that wait for labels.

    Attributes:
      name: of the pool.
      folder: where its files are.
      note: what is kept of it.
    """

    name: str
    folder: Path
    note: _PoolNote

    @property
    def images(self) -> NDArray[np.uint8]:
        """uint8 (N, H, W, channels), a read-only map.

        Raises:
          DataError: the file is gone or damaged.
        """
        shape = (self.note.images, *self.note.image_shape)
        try:
            return np.asarray(map_npy(self.folder / IMAGES_FILE, ExpectedArray(shape, "uint8")))
        except (OSError, DamagedFileError) as error:
            raise DataError(self._describe_damage("images")) from error

    def read_image_names(self) -> tuple[str, ...]:
        """N names, of the files that the images were.

        Raises:
          DataError: the file is gone or damaged.
        """
        path = self.folder / _NAMES_FILE
        try:
            names = parse_json(read_limited_bytes(path, _MAX_NAMES_BYTES))
        except (OSError, ValueError) as error:
            raise DataError(self._describe_damage("images' names")) from error
        if not isinstance(names, list) or len(names) != self.note.images:
            raise DataError(self._describe_damage("images' names"))
        return tuple(map(str, names))

    def read_copies(self) -> list[_PoolCopy]:
        """The pictures that were left out as copies, in their order. Pools of earlier versions do not know them.

        Raises:
          DataError: the file is damaged.
        """
        path = self.folder / _COPIES_FILE
        if not path.exists():
            return []
        try:
            found = [_PoolCopy(*each) for each in parse_json(read_limited_bytes(path, _MAX_NAMES_BYTES))]
            if all(copy.number is None or 0 <= copy.number < self.note.images for copy in found):
                return found
        except (OSError, ValueError, TypeError) as error:
            raise DataError(self._describe_damage("list of copies")) from error
        raise DataError(self._describe_damage("list of copies"))

    def _describe_damage(self, what: str) -> str:
        return (
            f"The {what} of the pool {self.name} cannot be read: remove it with `ensemble label "
            f"remove {self.name}` and add it again. What was labelled is kept."
        )


def pools_folder() -> Path:
    """Where all pools lie; it need not be there."""
    return data_folder() / "pools"


def list_label_pools() -> list[LabelPool]:
    """The pools that can be read, by name."""
    try:
        names = sorted(entry.name for entry in os.scandir(pools_folder()))
    except (OSError, StorageError):
        return []
    return [pool for name in names if (pool := read_label_pool(name))]


def list_dataset_pools(dataset: str) -> list[LabelPool]:
    """The pools of a dataset, and of those that it is a later version of."""
    versions, name = list[str](), dataset
    while name and name not in versions:
        versions.append(name)
        note = read_custom_note(name)
        name = (note.extended_from or note.relabeled_from) if note else ""
    return [pool for pool in list_label_pools() if pool.note.dataset in versions]


def find_label_pool(name: str) -> LabelPool:
    """The pool of this name.

    Raises:
      DataError: there is none that can be read; says which there are.
    """
    if pool := read_label_pool(name):
        return pool
    there = ", ".join(pool.name for pool in list_label_pools()) or "none"
    raise DataError(f"There is no pool {name!r:.60}. There are: {there:.300}.")


def read_label_pool(name: str) -> LabelPool | None:
    """The pool of this name; None where there is none that can be read."""
    if not isinstance(name, str) or not NAME_PATTERN.fullmatch(name):
        return None
    try:
        path = pools_folder() / name / NOTE_FILE
        status = path.stat()
        return LabelPool(name, path.parent, _read_note(path, (status.st_ino, status.st_mtime_ns)))
    except (OSError, ValueError, StorageError):
        return None


@functools.lru_cache(maxsize=256)
def _read_note(path: Path, version: tuple[int, int]) -> _PoolNote:
    note = parse_dataclass(_PoolNote, parse_json(read_limited_bytes(path, MAX_NOTE_BYTES)))
    if note.format != FORMAT or len(note.image_shape) != 3 or len(note.class_names) < 2:
        raise ValueError("it is no note of a pool")
    return note


def suggest_pool_name(dataset: str) -> str:
    """A free name for a pool of a dataset: "leaves_pool", after that "leaves_pool2"."""
    number = 1
    while True:
        suffix = f"_pool{number if number > 1 else ''}"
        name = dataset[: 32 - len(suffix)] + suffix
        if not os.path.lexists(pools_folder() / name):
            return name
        number += 1


def add_label_pool(name: str, source: Path, dataset: Dataset, progress: Progress | None = None) -> LabelPool:
    """Keep images without labels in the form of a dataset.

    Args:
      name: of the pool.
      source: a folder of pictures, also within further folders, or a .zip of one; or an .npy of
        images that have the dataset's form already.
      dataset: whose classes they are to be labelled as.
      progress: called now and then as progress(fraction in [0, 1], message).

    Raises:
      AccessError: whoever asks may add no data.
      ConfigError: the name is none.
      DataError: there is a pool of that name, or no image that is new.
      StorageError: a full disk, or a data folder that cannot be written; nothing is left behind.
    """
    check_permission(Action.ADD_DATA)
    if not NAME_PATTERN.fullmatch(name):
        raise ConfigError(
            f"{name!r:.60} is no name of a pool: begin with a small letter, then up to 31 small "
            "letters, digits and underscores."
        )
    if os.path.lexists(pools_folder() / name):
        raise DataError(
            f"A pool {name} already exists: choose another name, or remove that one first with "
            f"`ensemble label remove {name}`."
        )
    with _convert_disk_errors(name), _open_part_folder(name) as folder:
        _write_pool(folder, source, dataset, progress)
        owners.write_owner(folder)
        try:
            folder.rename(pools_folder() / name)
        except OSError as error:
            if os.path.lexists(pools_folder() / name):
                raise DataError(f"A pool {name} has been added meanwhile.") from error
            raise
        audit_log.write_audit_entry(Action.ADD_DATA, name)
    return find_label_pool(name)


@contextmanager
def open_temporary_pool(source: Path, dataset: Dataset, progress: Progress | None = None) -> Iterator[LabelPool]:
    """A pool that is there within this alone; otherwise as `add_label_pool`."""
    name = "temporary"
    with _convert_disk_errors(name), _open_part_folder(name) as folder:
        try:
            yield LabelPool(source.name, folder, _write_pool(folder, source, dataset, progress))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def remove_label_pool(name: str) -> None:
    """Remove a pool and its batches; what was decided of its images is kept beside the datasets.

    Raises:
      AccessError: it is somebody else's.
      DataError: there is none.
      StorageError: it cannot be removed.
    """
    pool = find_label_pool(name)
    owners.check_folder_access(Action.DELETE, pool.folder)
    try:
        audit_log.write_audit_entry(Action.DELETE, name)
        hidden = pools_folder() / f".{name}-{uuid.uuid4().hex[:12]}{_PART_SUFFIX}"
        pool.folder.rename(hidden)
        shutil.rmtree(hidden)
    except OSError as error:
        raise StorageError(
            f"The pool {name} could not be removed completely ({describe_os_error(error)}): make "
            f"{pools_folder()} writable for you, then remove the rest."
        ) from error


@contextmanager
def _open_part_folder(name: str) -> Iterator[Path]:
    pools_folder().mkdir(parents=True, exist_ok=True)
    for left in pools_folder().glob(f".*{_PART_SUFFIX}"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > 24 * 3600:
                shutil.rmtree(left)
    folder = pools_folder() / f".{name}-{uuid.uuid4().hex[:12]}{_PART_SUFFIX}"
    folder.mkdir()
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def _convert_disk_errors(name: str) -> Iterator[None]:
    try:
        yield
    except ConnectionError:  # not the disk: a pipe that takes the progress was closed
        raise
    except OSError as error:
        raise StorageError(
            f"The pool {name} cannot be saved in {pools_folder()} ({describe_os_error(error)}): "
            "free some space, or point ENSEMBLE_DATA at a folder that you can write to, and add it again."
        ) from error


def _write_pool(folder: Path, source: Path, dataset: Dataset, progress: Progress | None) -> _PoolNote:
    entry = find_dataset_entry(dataset.name)
    known = {
        checksum_image(images, number): split
        for split, images in (("training", dataset.train_images), ("test", dataset.test_images))
        for number in range(len(images))
    }
    names, left_out = list[str](), {"training": 0, "test": 0, "pool": 0}
    places, copies = dict[str, int](), list[_PoolCopy]()
    unreadable, unreadable_count = list[str](), 0
    with RowWriter(folder / IMAGES_FILE, "uint8", dataset.image_shape) as writer:
        for name, image in _iterate_source(folder, source, entry, progress):
            if isinstance(image, UnreadablePicture):
                unreadable_count += 1
                if len(unreadable) < _MAX_LISTED:
                    unreadable.append(f"{image.location}: {image.reason}")
                continue
            checksum = checksum_image(image[np.newaxis], 0)
            if there := known.get(checksum):
                left_out[there] += 1
                place = len(names) + len(copies)
                copies.append(_PoolCopy(sanitize_text(name)[:MAX_NAME_LETTERS], places.get(checksum), place))
                continue
            known[checksum] = "pool"
            places[checksum] = len(names)
            writer.append(image[np.newaxis])
            names.append(sanitize_text(name)[:MAX_NAME_LETTERS])
        said = _describe_left_out(left_out, unreadable, unreadable_count, dataset.name)
        if not names:
            raise DataError(
                f"There is no new image in {source.name}. {' '.join(said)} "
                "Give a folder of pictures that have no labels yet."
            )
        digest = writer.finish()
    (folder / _NAMES_FILE).write_text(json.dumps(names), "utf-8")
    (folder / _COPIES_FILE).write_text(json.dumps(copies), "utf-8")
    classes = json.dumps([digest, dataset.class_names])
    note = _PoolNote(
        format=FORMAT,
        dataset=dataset.name,
        class_names=list(dataset.class_names),
        image_shape=list(dataset.image_shape),
        noun=entry.noun,
        images=len(names),
        fingerprint=hashlib.sha256(classes.encode()).hexdigest(),
        source=sanitize_text(source.name)[:MAX_NAME_LETTERS],
        added=time.time(),
        said=said,
    )
    write_json(folder / NOTE_FILE, vars(note), durable=True)
    return note


def _describe_left_out(
    left_out: dict[str, int], unreadable: list[str], unreadable_count: int, dataset: str
) -> list[str]:
    sentences = []
    for split, place in (
        ("training", f"a training image of {dataset} already"),
        ("test", f"a test image of {dataset}"),
        ("pool", "a copy of another one"),
    ):
        if count := left_out[split]:
            verb = "1 picture is" if count == 1 else f"{count:,} pictures are"
            sentences.append(f"{verb} left out, each {place}.")
    if unreadable_count:
        listing = sanitize_text(format_name_list(unreadable))
        verb = "1 picture" if unreadable_count == 1 else f"{unreadable_count:,} pictures"
        sentences.append(f"{verb} cannot be taken ({listing}).")
    return sentences


def _iterate_source(
    folder: Path, source: Path, entry: DatasetEntry, progress: Progress | None
) -> Iterator[tuple[str, Pixels | UnreadablePicture]]:
    """Each image's name and pixels uint8 (H, W, channels), or why it cannot be taken."""
    source = source.expanduser()
    if source.suffix.lower() == ".npy" and source.is_file():
        for number, image in enumerate(_map_source_array(source, entry)):
            yield f"{source.name} {number}", image
        return
    if source.is_dir():
        yield from _iterate_folder(source, entry, progress)
        return
    if not source.is_file():
        raise DataError(f"There is no file or folder {source}: give a folder of pictures.")
    if source.suffix.lower() != ".zip":
        raise DataError(f"{source.name} is neither a folder, a .zip nor an .npy: give a folder of pictures.")
    with tempfile.TemporaryDirectory(_PART_SUFFIX, ".unpacked-", folder.parent) as unpacked:
        inner = Path(unpacked) / (re.sub(r"\W+", "_", source.stem)[:60] or "archive")
        with source.open("rb") as content:
            unpack_archive(content, inner)
        yield from _iterate_folder(inner, entry, progress)


def _map_source_array(source: Path, entry: DatasetEntry) -> NDArray[np.uint8]:
    height, width, channels = entry.image_shape
    try:
        return np.asarray(map_npy(source, ExpectedArray(("N", *entry.image_shape), "uint8")))
    except (OSError, DamagedFileError) as error:
        raise DataError(
            f"{source.name} cannot be taken ({error}): give images of the form of {entry.name}, "
            f"uint8 (N, {height}, {width}, {channels})."
        ) from error


def _iterate_folder(
    root: Path, entry: DatasetEntry, progress: Progress | None
) -> Iterator[tuple[str, Pixels | UnreadablePicture]]:
    walk = FolderWalk(root)
    files = walk.list_pictures(root)
    if not files:
        raise DataError(f"There is no picture in {root.name}.{walk.format_skipped_hint()}")
    if len(files) > _MOST_IMAGES:
        raise DataError(f"There are {len(files):,} pictures: at most {_MOST_IMAGES:,} make a pool; give a part.")
    form = DatasetImageFormat(*entry.image_shape, resize=True)
    levels = load_dataset_levels(entry.name, entry.fingerprint)

    def read_file(file: Path) -> tuple[str, Pixels | UnreadablePicture]:
        name = walk.relative_path(file)
        try:
            if entry.is_mnist_like:
                return name, _read_written_mark(file, levels)
            return name, picture_decoding.read_picture_pixels(file, form, levels)
        except picture_decoding.UnreadablePictureError as error:
            return name, UnreadablePicture(name, str(error))

    with picture_decoding.silence_pillow_warnings(), ThreadPoolExecutor(count_decoder_threads()) as pool:
        ahead = count_pictures_ahead(entry.bytes_per_image)
        for number, read in enumerate(map_files(read_file, files, pool, ahead)):
            if progress and number % _REPORT_EVERY == 0:
                progress(number / len(files), f"Reading pictures, {number:,} of {len(files):,}")
            yield read


def _read_written_mark(file: Path, levels: PictureLevels) -> Pixels:
    try:
        content = read_small_file(file, _MAX_PICTURE_BYTES)
        if content is None:
            raise picture_decoding.UnreadablePictureError("it is too large")
        marks = prepare_picture(open_picture(content, levels)).marks
    except OSError as error:
        raise picture_decoding.UnreadablePictureError(describe_os_error(error)) from error
    except ImageError as error:
        raise picture_decoding.UnreadablePictureError(str(error).rstrip(".")) from error
    if len(marks) != 1:
        raise picture_decoding.UnreadablePictureError(
            f"{len(marks) or 'no'} digits were found in it, where one is taken"
        )
    return marks[0].image
