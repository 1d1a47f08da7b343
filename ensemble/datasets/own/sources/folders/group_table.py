"""A table beside folders of pictures that says which belong together: `groups.csv`.

A row a picture: its file, as a path from the table's folder on or by a name that no other picture
has, and the writer, patient or video that it is of. Columns are found by their names.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.source import GROUP_NAMES, format_name_list
from ensemble.datasets.own.sources.folders.picture_table import (
    FILE_COLUMNS,
    PictureTable,
    normalize_file_path,
    read_picture_table,
)
from ensemble.errors import DataError

TABLE_NAME = "groups.csv"


def _read_group_table(path: Path) -> tuple[dict[str, str], list[str]]:
    """The group of each file that the table names, by its path with slashes, and what was assumed.

    Args:
      path: of the table: see `read_picture_table`.

    Raises:
      DataError: it cannot be read, has no such columns, or names a file twice.
    """
    table = read_picture_table(path)
    files = table.list_cells(_find_column(table, FILE_COLUMNS))
    groups: dict[str, str] = {}
    each = zip(files, table.list_cells(_find_column(table, sorted(GROUP_NAMES))), strict=True)
    for place, (file, group) in zip(table.places, each, strict=True):
        name = normalize_file_path(file)
        if not name or not group:
            raise DataError(f"{place.capitalize()} of {path.name} has an empty file or group.")
        if groups.setdefault(name, group) != group:
            raise DataError(f"{path.name} puts {name!r:.120} into two groups: keep one row of it.")
    return groups, table.notes


def _find_column(table: PictureTable, names: Sequence[str]) -> int:
    """Which column has one of these names.

    Raises:
      DataError: none has, or several have.
    """
    found = table.find_columns(names)
    if len(found) == 1:
        return found[0]
    what = "no" if not found else "more than one"
    listing = " or ".join(names[:5])
    raise DataError(f"{table.path.name} has {what} column {listing}. {_describe_needed_columns()}")


def _describe_needed_columns() -> str:
    return "It needs a head with the columns file and group, and a row for each picture."


def number_picture_groups(
    table: Path, files: Mapping[str, Sequence[Path]]
) -> tuple[dict[str, NDArray[np.int64]], list[str]]:
    """The group of each picture as a number, the same in every split for the same name.

    Args:
      table: the table's path.
      files: the pictures of each split, below the table's folder.

    Returns:
      int64 (N,) of each split, and what is to be said of rows that are of no picture.

    Raises:
      DataError: as `_read_group_table`; a picture has no row; or a name is that of several pictures.
    """
    groups, notes = _read_group_table(table)
    paths = {split: [path.relative_to(table.parent).as_posix() for path in each] for split, each in files.items()}
    full = {path for each in paths.values() for path in each}
    by_name: dict[str, list[str]] = {}
    for path in full:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    used: set[str] = set()

    def find_group(path: str) -> str:
        name = path.rpartition("/")[2]
        if path in groups:
            used.add(path)
            return groups[path]
        if name in groups and name not in full:
            if len(by_name[name]) > 1:
                raise DataError(
                    f"{table.name} names {name!r:.120}, of which there are {len(by_name[name])}: "
                    f"give paths such as {min(by_name[name])!r:.200}."
                )
            used.add(name)
            return groups[name]
        missing = sum(one not in groups and one.rpartition("/")[2] not in groups for one in full)
        raise DataError(
            f"{table.name} has no row for {path!r:.200} ({missing:,} pictures are without): give "
            "every picture a group, or take the table out of the folder."
        )

    named = {split: [find_group(path) for path in each] for split, each in paths.items()}
    notes = notes.copy()
    if left := sorted(set(groups) - used):
        notes.append(f"Rows of {table.name} that are of no picture: {format_name_list(left)}.")
    return number_group_names(named), notes


def number_group_names(named: Mapping[str, Sequence[str]]) -> dict[str, NDArray[np.int64]]:
    """Names of groups as numbers from 0, the same in every split: int64 (N,) of each."""
    names = sorted({name for each in named.values() for name in each})
    numbers = {name: number for number, name in enumerate(names)}
    return {split: np.array([numbers[name] for name in each], np.int64) for split, each in named.items()}
