"""A table beside folders of pictures that says which belong together: `groups.csv`.

A row a picture: its file, as a path from the table's folder on or by a name that no other picture
has, and the writer, patient or video that it is of. Columns are found by their names.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.source import GROUP_NAMES, format_name_list
from ensemble.errors import DataError
from ensemble.storage.disk_errors import describe_error_with_path
from ensemble.storage.plain_files import open_plain_file

TABLE_NAME = "groups.csv"
FILE_COLUMNS = ("file", "file_name", "filename", "path", "image")
MAX_TABLE_BYTES = 2**28
MAX_LINE_CHARACTERS = 100_000


def read_group_table(path: Path) -> dict[str, str]:
    """The group of each file that the table names, by its path with slashes.

    Args:
      path: of the table: UTF-8, its columns divided by commas, semicolons or tabs.

    Raises:
      DataError: it cannot be read, has no such columns, or names a file twice.
    """
    try:
        with open_plain_file(path) as file:
            content = file.read(MAX_TABLE_BYTES + 1)
    except OSError as error:
        raise DataError(
            f"{path.name} cannot be read ({describe_error_with_path(error)}): make it readable "
            "for you, or take it out of the folder."
        ) from error
    if len(content) > MAX_TABLE_BYTES:
        raise DataError(f"{path.name} is larger than {MAX_TABLE_BYTES / 2**20:.0f} MB.")
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name} is not UTF-8: save it as CSV in UTF-8.") from error
    if not lines or max(map(len, lines)) > MAX_LINE_CHARACTERS:
        raise DataError(f"{path.name} is no table of lines. {describe_needed_columns()}")
    delimiter = max(",;\t", key=lines[0].count)
    try:
        # As no path has a line break, a quote that is not closed cannot swallow further lines.
        header, *rows = [next(csv.reader([line], delimiter=delimiter), []) for line in lines]
    except csv.Error as error:
        raise DataError(f"{path.name} is no CSV ({error}): save it again as CSV.") from error
    header = [name.strip().lower() for name in header]
    file_column = find_column(header, FILE_COLUMNS, path)
    group_column = find_column(header, GROUP_NAMES, path)
    groups: dict[str, str] = {}
    for number, row in enumerate(rows, start=2):
        if not row:
            continue
        if len(row) != len(header):
            raise DataError(
                f"Line {number:,} of {path.name} has {len(row)} columns, its head {len(header)}."
            )
        name, group = normalize_file_path(row[file_column]), row[group_column].strip()
        if not name or not group:
            raise DataError(f"Line {number:,} of {path.name} has an empty file or group.")
        if groups.setdefault(name, group) != group:
            raise DataError(f"{path.name} puts {name!r:.120} into two groups: keep one row of it.")
    return groups


def find_column(header: Sequence[str], names: Iterable[str], path: Path) -> int:
    """Which column has one of these names.

    Raises:
      DataError: none has, or several have.
    """
    found = [place for place, name in enumerate(header) if name in set(names)]
    if len(found) == 1:
        return found[0]
    what = "no" if not found else "more than one"
    listing = " or ".join(sorted(names))
    raise DataError(f"{path.name} has {what} column {listing}. {describe_needed_columns()}")


def describe_needed_columns() -> str:
    """What the table has to hold, a sentence."""
    return "It needs a head with the columns file and group, and a row for each picture."


def normalize_file_path(text: str) -> str:
    """A path as it is compared: with slashes, without a leading "./"."""
    return text.strip().replace("\\", "/").removeprefix("./")


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
      DataError: as `read_group_table`; a picture has no row; or a name is that of several pictures.
    """
    groups = read_group_table(table)
    paths = {
        split: [path.relative_to(table.parent).as_posix() for path in each]
        for split, each in files.items()
    }
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
    numbers = {
        name: n for n, name in enumerate(sorted({g for each in named.values() for g in each}))
    }
    notes = []
    if left := sorted(set(groups) - used):
        notes.append(f"Rows of {table.name} that are of no picture: {format_name_list(left)}.")
    return {
        split: np.array([numbers[name] for name in each], np.int64) for split, each in named.items()
    }, notes
