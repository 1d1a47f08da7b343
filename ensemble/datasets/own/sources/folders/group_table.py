"""A table beside folders of pictures that says which belong together: `groups.csv`.

A row a picture: its file, as a path from the table's folder on or by a name that no other picture
has, and the writer, patient or video that it is of. Columns are found by their names.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.folders.picture_table import PictureTable, read_picture_table
from ensemble.errors import DataError
from ensemble.files.columns import ROLE_NAMES, list_unused_notes
from ensemble.files.picture_names import AmbiguousNameError, PictureNames

TABLE_NAME = "groups.csv"


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
      DataError: it cannot be read, has no such columns or names a picture twice; a picture has no row; or a name is
        that of several pictures.
    """
    rows = read_picture_table(table)
    pictures = [path for each in files.values() for path in each]
    names = PictureNames([path.relative_to(table.parent).as_posix() for path in pictures], table.parent.name)
    used = _find_column(rows, ROLE_NAMES["picture"]), _find_column(rows, ROLE_NAMES["picture group"])
    cells = rows.list_cells(used[0])
    unused = [title for at, title in enumerate(rows.titles) if at not in used]
    notes = [*rows.notes, *names.read_paths_from(cells), *list_unused_notes(unused, file=table.name)]
    groups, missing = dict[int, str](), list[str]()
    for place, cell, group in zip(rows.places, cells, rows.list_cells(used[1]), strict=True):
        if not cell or not group:
            raise DataError(f"{place.capitalize()} of {table.name} has an empty file or group.")
        try:
            picture = names.find_picture(cell)
        except AmbiguousNameError as error:
            raise DataError(f"{place.capitalize()} of {table.name}: {error}.") from error
        if picture is None:
            missing.append(cell)
        elif groups.setdefault(picture, group) != group:
            raise DataError(f"{table.name} puts {cell!r:.120} into two groups: keep one row of it.")
    without = [path.relative_to(table.parent).as_posix() for n, path in enumerate(pictures) if n not in groups]
    if without:
        raise DataError(
            f"{table.name} has no row for {without[0]!r:.200} ({len(without):,} pictures are without): give "
            "every picture a group, or take the table out of the folder."
        )
    if missing:
        notes.append(f"Rows of {table.name} that are of no picture: {format_name_list(sorted(set(missing)))}.")
    each = iter(groups[number] for number in range(len(pictures)))
    return number_group_names({split: [next(each) for _ in paths] for split, paths in files.items()}), notes


def number_group_names(named: Mapping[str, Sequence[str]]) -> dict[str, NDArray[np.int64]]:
    """Names of groups as numbers from 0, the same in every split: int64 (N,) of each."""
    names = sorted({name for each in named.values() for name in each})
    numbers = {name: number for number, name in enumerate(names)}
    return {split: np.array([numbers[name] for name in each], np.int64) for split, each in named.items()}
