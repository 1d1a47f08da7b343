"""A table of labels, a row a picture: which column is the picture, the class, the split, the group.

Columns are found by their names; the class may also be the only other column, or a column each with
a single 1 (one-hot).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ensemble.datasets.own.source import GROUP_NAMES, format_name_list
from ensemble.datasets.own.sources.folders.picture_table import FILE_COLUMNS, PictureTable
from ensemble.datasets.own.sources.folders.split_names import UNLABELLED, normalize_name, parse_split_folder
from ensemble.errors import DataError

LABEL_COLUMNS = (
    "class_name",
    "label_name",
    "label",
    "labels",
    "class",
    "classes",
    "category",
    "categories",
    "target",
    "ground_truth",
    "y",
)
_SPLIT_COLUMNS = ("split", "set", "data_set", "dataset", "subset", "usage", "partition", "fold")
_FRACTION = re.compile(r"[+-]?\d+\.\d*[1-9]\d*(e[+-]?\d+)?|[+-]?\d+(\.\d+)?e-\d+", re.IGNORECASE)


@dataclass
class LabelTable:
    """A table of labels, read.

    Attributes:
      table: as it stands in its file.
      files: the column of the pictures.
      labels: of each row, "" where it has none; none where no column is one of classes.
      column: what the class was read from, for people.
      splits: of each row, "" where it says nothing.
      groups: of each row; None without such a column.
      problem: why no column is one of classes, a sentence; "" where one is.
    """

    table: PictureTable
    files: int
    labels: list[str]
    column: str
    splits: list[str]
    groups: list[str] | None
    problem: str = ""


def parse_label_table(table: PictureTable) -> LabelTable | None:
    """The table with what its columns are; None where none is of files, or it is to be filled in.

    Raises:
      DataError: the classes are numbers to predict.
    """
    said = parse_split_folder(table.path.stem)
    files = table.find_columns(FILE_COLUMNS)
    if not files or (said and said.split == UNLABELLED):
        return None
    parting = table.find_columns(_SPLIT_COLUMNS)
    split_column = next((at for at in parting if _parse_splits(table.list_cells(at))), None)
    group_column = next(iter(table.find_columns(sorted(GROUP_NAMES))), None)
    taken = {files[0], split_column, group_column}
    rest = [at for at, name in enumerate(table.names) if at not in taken and name]
    labels, column, problem = _find_labels(table, rest)
    if _are_numbers_to_predict(labels):
        raise DataError(
            f"{column} of {table.path.name} holds fractions: these look like numbers to predict, "
            "not classes. Give each picture one of a few classes."
        )
    splits = [""] * len(table.rows)
    if split_column is not None:
        splits = _parse_splits(table.list_cells(split_column)) or splits
    elif said:
        splits = [said.split] * len(table.rows)
    groups = None if group_column is None else table.list_cells(group_column)
    return LabelTable(
        table=table, files=files[0], labels=labels, column=column, splits=splits, groups=groups, problem=problem
    )


def _find_labels(table: PictureTable, rest: Sequence[int]) -> tuple[list[str], str, str]:
    named = [at for at in table.find_columns(LABEL_COLUMNS) if at in rest]
    if named:
        return _read_label_column(table, named[0])
    if len(rest) == 1:
        return _read_label_column(table, rest[0])
    if hot := _read_one_hot(table, rest):
        return hot, f"{len(rest)} columns with a single 1", ""
    listing = format_name_list([table.names[at] for at in rest])
    beside = f"has the columns {listing} beside" if rest else "has no column beside"
    return (
        [],
        "",
        (
            f"{table.path.name} {beside} that of the pictures: call the one with the classes "
            "label, or take the table out of the folder."
        ),
    )


def _read_label_column(table: PictureTable, column: int) -> tuple[list[str], str, str]:
    cells = [normalize_name(" ".join(cell.split())) for cell in table.list_cells(column)]
    # pandas writes whole numbers with a point where some are missing.
    if all(re.fullmatch(r"(\d+\.0)?", cell) for cell in cells):
        cells = [cell.removesuffix(".0") for cell in cells]
    return cells, f"the column {table.names[column]}", ""


def _read_one_hot(table: PictureTable, rest: Sequence[int]) -> list[str]:
    """The name of the column with the 1 of each row; none where one has not exactly one."""
    if len(rest) < 2:
        return []
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


def _parse_splits(cells: Sequence[str]) -> list[str]:
    """The split of each row; none where a cell names none."""
    meant = {cell: parse_split_folder(cell) for cell in set(cells)}
    if not meant or any(said is None for said in meant.values()):
        return []
    found = {cell: said.split for cell, said in meant.items() if said}
    return [found[cell] for cell in cells]
