"""A table of labels, a row a picture: which column is the picture, the class, the split, the group.

Columns are found by their names; the class may also be the only other column, or a column each with
a single 1 (one-hot).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.folders.picture_table import PictureTable
from ensemble.datasets.own.sources.folders.split_columns import read_split_columns
from ensemble.datasets.own.sources.folders.split_names import UNLABELLED, normalize_name, parse_split_folder
from ensemble.errors import DataError
from ensemble.files.columns import ROLE_NAMES, ROW_NUMBERS, list_unused_notes
from ensemble.files.labels import find_missing_labels

_FEWEST_CAPTIONS = 8  # rows, each with a value of its own, that are captions
_FRACTION = re.compile(r"[+-]?\d+\.\d*[1-9]\d*(e[+-]?\d+)?|[+-]?\d+(\.\d+)?e-\d+", re.IGNORECASE)


@dataclass
class LabelTable:
    """A table of labels, read.

    Attributes:
      table: as it stands in its file.
      files: the column of the pictures.
      labels: of each row, "" where it has none; none where no column is one of classes.
      column: what the class was read from, for people.
      splits: of each row, "" if its cell is empty; None if neither a column nor the table's name divides them.
      groups: of each row; None without such a column.
      notes: what was assumed, and columns that are not used, a sentence each.
      problem: why no column is one of classes, a sentence; "" where one is.
    """

    table: PictureTable
    files: int
    labels: list[str]
    column: str
    splits: list[str] | None
    groups: list[str] | None
    notes: list[str]
    problem: str = ""


def parse_label_table(table: PictureTable) -> LabelTable | None:
    """The table with what its columns are; None where none is of files, or it is to be filled in.

    Raises:
      DataError: the classes are numbers to predict.
    """
    said = parse_split_folder(table.path.stem)
    files = table.find_columns(ROLE_NAMES["picture"])
    if not files or (said and said.split == UNLABELLED):
        return None
    parts = read_split_columns({title: table.list_cells(at) for at, title in enumerate(table.titles)}, table.path.name)
    group_column = next(iter(table.find_columns(ROLE_NAMES["picture group"])), None)
    taken = {files[0], group_column, *map(table.titles.index, parts.used)}
    rest = [at for at, name in enumerate(table.names) if at not in taken and name not in ROW_NUMBERS]
    labels, used, problem = _find_labels(table, rest)
    column = " ".join(["the column", *(table.names[at] for at in used)])
    if len(used) > 1:
        column = f"{len(used)} columns with a single 1"
    if _are_numbers_to_predict(labels):
        raise DataError(
            f"{column} of {table.path.name} holds fractions: these look like numbers to predict, "
            "not classes. Give each picture one of a few classes."
        )
    splits = parts.splits
    if splits is None and said:
        splits = [said.split] * len(table.rows)
    left = [table.titles[at] for at in rest if at not in used and table.titles[at] not in parts.refused]
    notes = [*parts.notes, *list_unused_notes(left, file=table.path.name)]
    return LabelTable(
        table=table,
        files=files[0],
        labels=labels,
        column=column,
        splits=splits,
        groups=None if group_column is None else table.list_cells(group_column),
        notes=notes,
        problem=problem,
    )


def _find_labels(table: PictureTable, rest: Sequence[int]) -> tuple[list[str], Sequence[int], str]:
    """The class of each row, the columns that say it, and why there is none."""
    named = [at for at in table.find_columns(ROLE_NAMES["class"]) if at in rest]
    if not named and len(rest) > 1 and (hot := _read_one_hot(table, rest)):
        return hot, rest, ""
    if named or len(rest) == 1:
        column = (named or rest)[0]
        labels = _read_label_column(table, column)
        several = {label for label in labels if label}
        most = len(labels) - 1 if named else len(labels) / 2
        if len(labels) < _FEWEST_CAPTIONS or len(several) <= most or _are_numbers_to_predict(labels):
            return labels, [column], ""
        other = "another value in each row" if len(several) == len(labels) else f"{len(several):,} different values"
        return (
            [],
            [],
            (
                f"The column {table.titles[column]} of {table.path.name} has {other}: these are captions or names, not "
                "classes. Add a column label with the class of each picture."
            ),
        )
    listing = format_name_list([table.names[at] for at in rest])
    beside = f"has the columns {listing} beside" if rest else "has no column beside"
    return (
        [],
        [],
        (
            f"{table.path.name} {beside} that of the pictures: call the one with the classes label, or take the table "
            "out of the folder."
        ),
    )


def _read_label_column(table: PictureTable, column: int) -> list[str]:
    """The class of each row, "" where it has none."""
    cells = [normalize_name(" ".join(cell.split())) for cell in table.list_cells(column)]
    missing = find_missing_labels(cells)
    cells = ["" if cell in missing else cell for cell in cells]
    # pandas writes whole numbers with a point where some are missing.
    if all(re.fullmatch(r"(-?\d+\.0)?", cell) for cell in cells):
        cells = [cell.removesuffix(".0") for cell in cells]
    return cells


def _read_one_hot(table: PictureTable, rest: Sequence[int]) -> list[str]:
    """The name of the column with the 1 of each row; none where one has not exactly one."""
    columns = [table.list_cells(at) for at in rest]
    labels = []
    for cells in zip(*columns, strict=True):
        values = [cell.removesuffix(".0") for cell in cells]
        if sorted(values) != ["0"] * (len(values) - 1) + ["1"]:
            return []
        labels.append(normalize_name(" ".join(table.titles[rest[values.index("1")]].split())))
    return labels


def _are_numbers_to_predict(labels: Sequence[str]) -> bool:
    return 2 * sum(bool(_FRACTION.fullmatch(label)) for label in labels) > len(labels)
