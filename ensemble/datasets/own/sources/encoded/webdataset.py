"""WebDataset: .tar files whose members share a key: 000.jpg and 000.cls are one picture.

The key ends at the first point of a name; in a tar where this leaves pictures without their class, at the last.

The class is what `.cls` (or `.label`, `.txt`) says, a number or a name, else `label` or `cls` in
`.json`; `classnames.txt` beside the files names numbers. Nothing is unpacked: a picture is read
from where it lies.
"""

import json
import os
import re
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.source import format_class_names, format_name_list, sort_class_names
from ensemble.datasets.own.sources.encoded.encoded_pictures import EncodedPictures
from ensemble.datasets.own.sources.encoded.picture_decoding import SUFFIXES
from ensemble.datasets.own.sources.encoded.picture_shards import (
    assign_shard_splits,
    describe_unlabelled_pictures,
    name_number_classes,
    read_class_list,
)
from ensemble.datasets.own.sources.folders.split_names import normalize_name
from ensemble.errors import DataError
from ensemble.files.labels import find_missing_labels
from ensemble.storage.disk_errors import describe_error_with_path
from ensemble.storage.plain_files import open_plain_file

_LABEL_ENDINGS = (".cls", ".cls.txt", ".label", ".label.txt", ".txt")
_JSON_ENDING = ".json"
_JSON_FIELDS = ("label", "cls", "class", "class_name", "target")
_MAX_LABEL_BYTES, _MAX_JSON_BYTES = 2**12, 2**24
_LABEL_ENDING = re.compile(r"(.*?)(\.(?:cls|label)(?:\.txt)?|\.txt|\.json)", re.IGNORECASE | re.DOTALL)
_FEWEST_CAPTIONS = 8  # pictures, nearly each with a text of its own
MAX_MEMBERS = 10_000_000
_NEEDED = "a WebDataset has a picture and its class under one key, such as 000.jpg and 000.cls in a .tar"


@dataclass(frozen=True)
class _TarPicture:
    """A picture within a tar.

    Attributes:
      path: of the tar.
      name: of the member.
      start: where its bytes begin.
      size: how many there are.
    """

    path: Path
    name: str
    start: int
    size: int

    def read_bytes(self) -> bytes:
        """The picture as encoded; OSError where the tar cannot be read."""
        with open_plain_file(self.path) as file:
            file.seek(self.start)
            return file.read(self.size)


class WebDatasetSource(EncodedPictures[_TarPicture]):
    """Pictures in .tar files; a `source.PictureSource`.

    Args:
      paths: of the files, of which at least one holds pictures with classes.
      root: the folder that was named, or the file.
      seed: of the order in which pictures are kept.
      labels_as: what numbers of classes are where names are listed, as of `PreparationSettings`.

    Raises:
      DataError: a file cannot be read, or they are not those of at least two classes.
    """

    def __init__(self, paths: Sequence[Path], root: Path, seed: int = 0, labels_as: str = "") -> None:
        super().__init__([])
        self.origin = f"WebDataset {Path(os.path.abspath(root)).name}"
        self.groups: dict[str, NDArray[np.int64]] = {}
        splits, notes = assign_shard_splits(paths, root)
        by_split: dict[str, dict[str, list[_TarPicture]]] = {}
        without, long = list[str](), list[str]()
        for path, split in splits.items():
            classes = by_split.setdefault(split, {})
            for picture, label in _list_tar_pictures(path, long):
                classes.setdefault(label, []).append(picture)
        listed = read_class_list(root if root.is_dir() else root.parent)
        every = {label for classes in by_split.values() for label in classes}
        for label in find_missing_labels(every, listed):
            every.discard(label)
            for classes in by_split.values():
                without += [self.describe_location(picture) for picture in classes.pop(label, [])]
        count = sum(len(pictures) for classes in by_split.values() for pictures in classes.values())
        if count >= _FEWEST_CAPTIONS and 2 * len(every) > count:
            raise DataError(
                f"{root.name} has {len(every):,} different texts for {count:,} pictures: these are captions, not "
                f"classes. {_NEEDED[0].upper()}{_NEEDED[1:]}."
            )
        names, more = name_number_classes(every, listed, labels_as)
        ordered = sort_class_names(names.values())
        if len(ordered) < 2:
            raise DataError(
                f"{root.name} holds pictures of {len(ordered)} class"
                f"{'' if len(ordered) == 1 else 'es'}, but at least 2 are needed: {_NEEDED}."
            )
        if listed:
            ordered.sort(key=lambda name: listed.index(name) if name in listed else len(listed))
        self.class_names = format_class_names(ordered)
        self.notes += [*notes, *more]
        if without:
            self.notes.append(f"{describe_unlabelled_pictures(len(without))}: {format_name_list(without)}.")
        if long:
            self.notes.append(f"Too long to name a class, and not read: {format_name_list(long)}.")
        numbers = {name: number for number, name in enumerate(ordered)}
        for split in sorted(by_split, reverse=True):
            files: dict[int, list[_TarPicture]] = {}
            for label, pictures in sorted(by_split[split].items()):
                files.setdefault(numbers[names[label]], []).extend(pictures)
            self.add_split(split, files, seed)

    def describe_location(self, file: _TarPicture) -> str:
        """The tar and the member."""
        return f"{file.path.name}/{file.name}"


def is_webdataset(path: Path) -> bool:
    """Whether a tar holds a picture with its class; False where it cannot be read."""
    try:
        with _open_tar_members(path) as archive:
            keys: dict[str, set[bool]] = {}
            for number, member in enumerate(archive):
                for key, ending in _split_member_name(member.name):
                    if _is_picture_ending(ending):
                        keys.setdefault(key, set()).add(True)
                    elif ending in (*_LABEL_ENDINGS, _JSON_ENDING):
                        keys.setdefault(key, set()).add(False)
                    if len(keys.get(key, ())) == 2:
                        return True
                if number > 1_000:
                    return False
    except DataError:
        pass
    return False


def _list_tar_pictures(path: Path, long: list[str]) -> list[tuple[_TarPicture, str]]:
    """Each picture of a tar with its class, "" where it has none.

    Args:
      path: of the tar.
      long: members that are too long to name a class are added to it.

    Raises:
      DataError: it cannot be read, or has two pictures of one key.
    """
    pictures: list[tuple[_TarPicture, tuple[str, str]]] = []
    # By the key up to the first point, and up to the last.
    labels: tuple[dict[str, str], dict[str, str]] = {}, {}
    with _open_tar_members(path) as archive, open_plain_file(path) as file:
        for number, member in enumerate(archive):
            if number >= MAX_MEMBERS:
                raise DataError(f"{path.name} has more than {MAX_MEMBERS:,} members.")
            (first, first_ending), (last, ending) = _split_member_name(member.name)
            if _is_picture_ending(ending):
                picture = _TarPicture(path, member.name, member.offset_data, member.size)
                pictures.append((picture, (first, last)))
                continue
            if ending not in (*_LABEL_ENDINGS, _JSON_ENDING):
                continue
            if member.size > (_MAX_JSON_BYTES if ending == _JSON_ENDING else _MAX_LABEL_BYTES):
                long.append(f"{path.name}/{member.name}")
                continue
            file.seek(member.offset_data)
            if not (label := _parse_label(file.read(member.size), ending)):
                continue
            for named, key, known in zip(labels, (first, last), (first_ending, ending), strict=True):
                # `.txt` is a caption where `.cls` says the class.
                if known == ending and not (ending == ".txt" and key in named):
                    named[key] = label

    def count_labelled(place: int) -> tuple[bool, int]:
        keys = [each[place] for _, each in pictures]
        return len(set(keys)) == len(keys), sum(key in labels[place] for key in keys)

    place = max((0, 1), key=count_labelled)
    keys = [each[place] for _, each in pictures]
    if len(set(keys)) < len(keys):
        twice, _ = Counter(keys).most_common(1)[0]
        raise DataError(f"{path.name} has two pictures of the key {twice!r:.120}.")
    return [(picture, labels[place].get(key, "")) for (picture, _), key in zip(pictures, keys, strict=True)]


@contextmanager
def _open_tar_members(path: Path) -> Iterator[Iterator[tarfile.TarInfo]]:
    """The plain files of a tar, one after the other; DataError where it cannot be read."""
    try:
        with open_plain_file(path) as file, tarfile.open(fileobj=file, mode="r:") as archive:
            yield _iterate_members(archive)
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise DataError(f"{path.name} is no .tar, or damaged: use another copy.") from error
    except OSError as error:
        raise DataError(f"{path.name} cannot be read ({describe_error_with_path(error)}): use another.") from error


def _iterate_members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    while (member := archive.next()) is not None:
        archive.members.clear()  # type: ignore[attr-defined]  # else all of them would be kept
        if member.isreg():
            yield member


def _split_member_name(name: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """A member's key and ending, where the first point parts them and where the last does."""
    folder, _, last = name.rpartition("/")
    stem, point, ending = last.partition(".")
    match = _LABEL_ENDING.fullmatch(last)
    key, kind = (match[1], match[2]) if match else os.path.splitext(last)
    return (f"{folder}/{stem}", (point + ending).lower()), (f"{folder}/{key}", kind.lower())


def _is_picture_ending(ending: str) -> bool:
    """Whether it is that of a picture: ".jpg", also "image.jpg"."""
    return "." + ending.rpartition(".")[2] in SUFFIXES


def _parse_label(content: bytes, ending: str) -> str:
    """The class in a member; "" where it holds none."""
    text = content.decode("utf-8", "replace").strip()
    if ending == _JSON_ENDING:
        try:
            values = json.loads(text)
        except (ValueError, RecursionError):
            return ""
        found = values if isinstance(values, dict) else {}
        value = next((found[name] for name in _JSON_FIELDS if _is_class_value(found.get(name))), "")
        text = str(int(value) if isinstance(value, float) and value.is_integer() else value)
    return normalize_name(" ".join(text.split()))


def _is_class_value(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
