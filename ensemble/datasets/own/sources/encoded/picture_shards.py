"""What Parquet and WebDataset have in common: files that are each a part of a split."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from ensemble.datasets.own.label_classes import choose_class_reading, list_class_readings
from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.folders.layout_reading import assign_split_roles
from ensemble.datasets.own.sources.folders.split_names import (
    UNLABELLED,
    normalize_name,
    parse_split_folder,
    parse_split_location,
)
from ensemble.errors import DataError
from ensemble.storage.disk_errors import describe_error_with_path
from ensemble.storage.plain_files import read_limited_bytes

_MAX_DEPTH = 4  # folders within one another
_MAX_SHARDS = 20_000
_CACHES = ("cache-", "indices-", "indices.")  # what the library datasets leaves next to its files
_CLASS_LISTS = ("classnames.txt", "class_names.txt", "classes.txt", "labels.txt")
_MAX_CLASS_LIST_BYTES = 2**20
# What shards of one split are told apart by: train-00000-of-00005-ab12cd, train_0, train.
_SHARD_NUMBER = re.compile(r"([-_.]?\d+)?([-_.]of[-_.]\d+)?([-_.][0-9a-f]{8,})?$", re.IGNORECASE)


def list_shards(root: Path, ending: str) -> list[Path]:
    """The files below a folder with an ending, by name; links are not followed.

    Raises:
      DataError: a folder cannot be read, or holds too many.
    """
    found = list[Path]()
    try:
        folders = [(root, 0)]
        while folders:
            folder, depth = folders.pop()
            for path in sorted(folder.iterdir()):
                if path.name.startswith(".") or path.is_symlink():
                    continue
                if path.is_dir():
                    if depth < _MAX_DEPTH:
                        folders.append((path, depth + 1))
                elif path.suffix.lower() == ending and not path.name.startswith(_CACHES):
                    found.append(path)
                if len(found) > _MAX_SHARDS:
                    raise DataError(f"{root.name} holds more than {_MAX_SHARDS:,} {ending} files.")
    except OSError as error:
        raise DataError(f"The folder cannot be read ({describe_error_with_path(error)}): give another.") from error
    return sorted(found)


def assign_shard_splits(paths: Sequence[Path], root: Path) -> tuple[dict[Path, str], list[str]]:
    """The split of each shard, "train" or "test", and what is to be said of it.

    By the file's name before its number, else by its folders'; one that says nothing is learnt
    from.

    Raises:
      DataError: all are without labels by their names.
    """
    base = root if root.is_dir() else root.parent
    meant = {path: _find_shard_split(path.relative_to(base)) for path in paths}
    left = [path.name for path, split in meant.items() if split == UNLABELLED]
    kept = {path: split or "train" for path, split in meant.items() if split != UNLABELLED}
    if not kept:
        raise DataError(f"{format_name_list(left)}: nothing to learn from, by their names.")
    roles, notes = assign_split_roles(set(kept.values()))
    if left:
        notes.append(f"{format_name_list(left)}: left out, as their names say.")
    return {path: roles[split] for path, split in kept.items()}, notes


def _find_shard_split(path: Path) -> str:
    """The split that a shard's name or folders say; "" where none does."""
    said = parse_split_folder(_SHARD_NUMBER.sub("", path.stem) or path.stem)
    return said.split if said else parse_split_location(path)


def describe_unlabelled_pictures(count: int) -> str:
    """How many pictures are left out for want of a class, a clause."""
    have = "picture has no class and is" if count == 1 else "pictures have no class and are"
    return f"{count:,} {have} left out"


def read_class_list(folder: Path) -> list[str]:
    """The names of classes that a text beside the files lists, a line each; none without one.

    Raises:
      DataError: it cannot be read.
    """
    for name in _CLASS_LISTS:
        path = folder / name
        if not path.is_file():
            continue
        try:
            text = read_limited_bytes(path, _MAX_CLASS_LIST_BYTES).decode("utf-8-sig")
        except (OSError, ValueError) as error:
            raise DataError(f"{name} cannot be read: save it as UTF-8, a class a line, or take it away.") from error
        return [normalize_name(" ".join(line.split())) for line in text.splitlines() if line.strip()]
    return []


def name_number_classes(
    labels: Collection[str], listed: Sequence[str], labels_as: str = ""
) -> tuple[Mapping[str, str], list[str]]:
    """What each label is called, and what was assumed: numbers stand for names that are listed.

    Args:
      labels: each different one, as it is spelt.
      listed: the names of the classes; none where nothing lists them.
      labels_as: one of `label_meanings.LABEL_READINGS` that somebody chose; "" for none.

    Raises:
      DataError: a number has no name in the list, or labels are not what was chosen.
    """
    if not listed and labels_as not in ("", "names"):
        raise DataError(
            f"There is no list of classes ({_CLASS_LISTS[0]}), so that labels are the names: leave --labels out."
        )
    if not listed or not all(re.fullmatch(r"\d{1,9}", label) for label in labels):
        return {label: label for label in labels}, []
    readings = list_class_readings(labels, listed)
    if not readings or (not labels_as and list(readings) == ["from-1"]):
        raise DataError(
            f"There is a class {max(map(int, labels))}, but the list of classes has "
            f"{len(listed):,} lines, from 0 on: complete it, or take it away."
        )
    places, notes = choose_class_reading(readings, listed, "The list of classes", labels_as)
    if all(places[label] == int(label) for label in labels):
        notes.append("The numbers of classes are lines of the list of names, from 0 on.")
    return {label: listed[places[label]] for label in labels}, notes
