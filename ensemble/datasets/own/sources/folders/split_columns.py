"""Columns that say which pictures are for training: split, phase, is_valid, is_test, in words or numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.folders.layout_reading import describe_followed_split
from ensemble.datasets.own.sources.folders.picture_table import normalize_column_name
from ensemble.datasets.own.sources.folders.split_names import parse_split_folder
from ensemble.files.columns import ROLE_NAMES

_FLAGS = {"test": "test flag", "val": "validation flag", "train": "training flag"}
_TRUTH = {
    **dict.fromkeys(("true", "t", "yes", "y", "1", "1.0"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0", "0.0", ""), False),
}
# As CelebA and WILDS number them.
_NUMBERED = {"0": "train", "1": "val", "2": "test"}


@dataclass(frozen=True)
class SplitColumns:
    """The split of each row by the columns of a table.

    Attributes:
      splits: of each row, "" if its cell is empty; None without such a column.
      used: the columns that were followed.
      refused: columns that look like splits and are not followed.
      notes: what was assumed, and why columns are not followed, a sentence each.
    """

    splits: list[str] | None
    used: tuple[str, ...]
    refused: tuple[str, ...]
    notes: list[str]


def read_split_columns(columns: Mapping[str, Sequence[str]], where: str) -> SplitColumns:
    """The split of each row.

    Args:
      columns: the cells of each column, by its name as it is spelled.
      where: the name of their file, for notes.
    """
    names = {normalize_column_name(name): name for name in columns}
    notes, refused = list[str](), list[str]()
    for known in ROLE_NAMES["picture split"]:
        if known not in names:
            continue
        name = names[known]
        words, said = _read_words(columns[name], known, f"The column {name} of {where}")
        notes += said
        if words:
            return SplitColumns(words, (name,), tuple(refused), notes)
        refused.append(name)
    splits, used = _read_flags(columns, names)
    if splits:
        notes.append(describe_followed_split(f"{' and '.join(used)} of {where}", splits))
    return SplitColumns(splits, used, tuple(refused), notes)


def _read_words(cells: Sequence[str], known: str, subject: str) -> tuple[list[str], list[str]]:
    """The split of each row by a column of words or numbers, or none if it is not followed; and notes on it."""
    values = {cell.lower().removesuffix(".0") for cell in cells} - {""}
    if {"0", "2"} <= values <= _NUMBERED.keys() and known != "fold":
        splits = [_NUMBERED.get(cell.removesuffix(".0"), "") for cell in cells]
        if splits.count("train") >= max(splits.count("val"), splits.count("test")):
            return splits, [f"{subject} is read as 0 training, 1 validation, 2 test images."]
    meant = {cell: said.split for cell in set(cells) if (said := parse_split_folder(cell)) and said.is_plain}
    strange = sorted(set(cells) - meant.keys() - {""})
    if strange or not meant:
        listing = f"it has {format_name_list(strange)}" if strange else "it is empty"
        return [], [f"{subject} is not used as a split: {listing}, and train, val and test are followed."]
    without = sum(not cell for cell in cells)
    rows = "row" if without == 1 else "rows"
    return [meant.get(cell, "") for cell in cells], [f"{subject} is empty in {without:,} {rows}."] * bool(without)


def _read_flags(
    columns: Mapping[str, Sequence[str]], names: Mapping[str, str]
) -> tuple[list[str] | None, tuple[str, ...]]:
    """The split of each row by columns of true and false, and these columns."""
    flags = {
        split: name
        for split, role in _FLAGS.items()
        if (name := next((names[known] for known in ROLE_NAMES[role] if known in names), ""))
        and {cell.lower() for cell in columns[name]} <= _TRUTH.keys()
    }
    # A single column called train may be of a class: of locomotives.
    if len(flags) == 1 and not normalize_column_name(next(iter(flags.values()))).startswith("is_"):
        return None, ()
    truth = {split: [_TRUTH[cell.lower()] for cell in columns[name]] for split, name in flags.items()}
    rest = next((split for split in ("test", "val") if split not in flags), "") if "train" in flags else "train"
    splits = [
        next((split for split, holds in zip(truth, row, strict=True) if holds), rest)
        for row in zip(*truth.values(), strict=True)
    ]
    return splits or None, tuple(flags.values())
