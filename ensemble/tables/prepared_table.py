"""A table made ready to be learnt from, and its files in a run's folder: plain arrays and JSON.

`table.npz` holds the rows as a network sees them, `table.json` how they came to be, `table_groups.npz`
their groups if they have any, so that a run goes on, and answers for new rows, without the file that it was made of.
"""

import hashlib
import shlex
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import Groups, find_row_copies, join_groups, number_groups, select_groups
from ensemble.datasets.partition.folds import assign_row_folds
from ensemble.errors import DataError
from ensemble.files.columns import find_role, fold_name
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray
from ensemble.storage.arrays.npz import read_arrays, write_arrays
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.records.field_checks import NumberRange, parse_dataclass
from ensemble.tables.column_choice import (
    choose_table_columns,
    convert_to_texts,
    find_target_column,
    list_choice_notes,
    list_column_doubts,
)
from ensemble.tables.raw_table import NUMBER, TEXT, RawTable
from ensemble.tables.table_encoding import CategoryColumn, NumberColumn, TableEncoding, fit_table_encoding
from ensemble.tables.table_split import (
    FEWEST_VALIDATION_ROWS,
    TableSplit,
    draw_validation_rows,
    parse_split_words,
    split_table_rows,
)

TABLE_FILES = _ARRAYS_FILE, _GROUPS_FILE, _DESCRIPTION_FILE = "table.npz", "table_groups.npz", "table.json"
MOST_ROWS = 1_000_000
_MOST_TEST_ROWS = 200_000  # what every screen can show
Rows = Annotated[int, NumberRange(0, MOST_ROWS)]


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """Rows of a table, encoded and split.

    Attributes:
      source: what the file was called, for people.
      encoding: how rows become features.
      features: (N, F) float32, of all rows that have a target.
      targets: (N,) float64, in their unit.
      row_numbers: (N,) int64, which row of the file each is, from 1, the header not counted.
      split: which of the N are learnt from, chosen by and tested on.
      notes: what was assumed, in sentences.
      groups: (N,), the group of each row by the column of groups, from 0; None without one.
      train_groups: the group of each training row, by the column of groups and exact copies, from 0;
        None if rows are independent.
      in_time_order: whether rows are in time order, so that the last ones are tested on.
      leave_out: the columns that `prepare_table` was asked to leave out; None if read from a folder.
      as_categories: the columns of numbers that it was asked to take as categories.
      group: the column of groups; "" for none.
      chosen_decimal: of `RawTable`.
      split_column: the column that contains the split; "" if it was drawn, or if read from a folder.
    """

    source: str
    encoding: TableEncoding
    features: NDArray[np.float32]
    targets: NDArray[np.float64]
    row_numbers: NDArray[np.int64]
    split: TableSplit
    notes: tuple[str, ...]
    groups: Groups | None = None
    train_groups: Groups | None = None
    in_time_order: bool = False
    leave_out: tuple[str, ...] | None = None
    as_categories: tuple[str, ...] = ()
    group: str = ""
    chosen_decimal: str = ""
    split_column: str = ""

    def assign_folds(self, folds: int, seed: int) -> NDArray[np.int64]:
        """Assign the training rows, in the order of `split.train`, to folds; see `assign_row_folds`."""
        return assign_row_folds(folds, seed, len(self.split.train), self.train_groups, in_time_order=self.in_time_order)

    def select_part(self, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Features (n, F) and standardised targets (n,), float32 both, of these rows."""
        return self.features[rows], self.encoding.standardise_targets(self.targets[rows])


@dataclass(frozen=True)
class _TableDescription:
    """What table.json says: a `PreparedTable` without its arrays, whose sizes it names."""

    source: str
    target: str
    target_mean: float
    target_scale: Annotated[float, NumberRange(1e-300, 1e300)]
    numbers: list[NumberColumn]
    categories: list[CategoryColumn]
    train: Rows
    validation: Rows
    test: Rows
    notes: list[str]
    ranges: dict[str, list[float]] = field(default_factory=dict)
    group_arrays: list[str] = field(default_factory=list)
    decimal: str = ""
    in_time_order: bool = False
    leave_out: list[str] | None = None
    as_categories: list[str] = field(default_factory=list)
    group: str = ""
    chosen_decimal: str = ""

    @property
    def encoding(self) -> TableEncoding:
        """How rows become features."""
        return TableEncoding(
            target=self.target,
            target_mean=self.target_mean,
            target_scale=self.target_scale,
            numbers=self.numbers,
            categories=self.categories,
            ranges=self.ranges,
            decimal=self.decimal,
        )


def prepare_table(
    table: RawTable,
    target: str,
    seed: int,
    test_share: float,
    validation_share: float,
    leave_out: Collection[str] = (),
    as_categories: Collection[str] = (),
    group: str = "",
    in_time_order: bool = False,
) -> PreparedTable:
    """Encode a table by its training rows, and note what was assumed.

    A column called split that names the parts is followed. Otherwise the split is drawn.

    Rows without a target are left out, and counted in the notes. Rows of one group, and exact
    copies of a row, lie in one part of the split.

    Args:
      table: as it was read.
      target: the column to predict.
      seed: of the split.
      test_share: of `split_table_rows`.
      validation_share: likewise.
      leave_out: columns that are not to be learnt from.
      as_categories: columns of numbers that stand for kinds.
      group: the column whose equal values belong together, not learned from; "" for none.
      in_time_order: whether rows are in time order: the last ones are tested on, those before them
        held out for validation, and nothing is drawn.

    Raises:
      DataError: the columns do not allow it, or there are too many rows.
      ConfigError: a part would have too few rows.
    """
    if table.rows > MOST_ROWS:
        raise DataError(
            f"{table.name} has {table.rows:,} rows, and at most {MOST_ROWS:,} are taken: give a sample of them."
        )
    wanted = find_target_column(table, target)
    every = np.asarray(wanted.values, np.float64)
    kept = np.flatnonzero(~np.isnan(every))
    left_out = dict.fromkeys(leave_out, "as was asked") | ({group: ""} if group else {})
    split_name, parts = _read_split_column(table, [*left_out, *as_categories, wanted.name], kept)
    if split_name:
        reason = parts if isinstance(parts, str) else "rows are in time order" if in_time_order else ""
        left_out[split_name] = reason
        split_name = "" if reason else split_name
    choice = choose_table_columns(table, wanted, left_out, as_categories)
    groups = _read_group_column(table, group, kept) if group else None
    copies = None
    if not in_time_order:  # By an encoding of all rows: the split, which follows, decides another.
        encoded = fit_table_encoding(table, choice, kept).encode_features(table)[0][kept]
        copies = find_row_copies(np.column_stack([encoded, every[kept]]))
    joined = join_groups(groups, copies)
    if split_name and isinstance(parts, TableSplit):
        parts = draw_validation_rows(parts, seed, validation_share, joined)
    else:
        parts = split_table_rows(len(kept), seed, test_share, validation_share, joined, in_time_order=in_time_order)
    if len(parts.test) > _MOST_TEST_ROWS:
        raise DataError(
            f"{len(parts.test):,} rows would be tested on, and at most {_MOST_TEST_ROWS:,} are: "
            "choose a smaller share for test."
        )
    encoding = fit_table_encoding(table, choice, kept[parts.train])
    features, new_notes = encoding.encode_features(table)
    used = {*choice.numbers, *choice.categories, choice.target}
    column_notes = [note for each in table.columns if each.name in used for note in each.notes]
    notes = [*list_choice_notes(table, choice), *_list_gap_notes(encoding), *new_notes]
    notes += list_column_doubts(table, choice, in_time_order, group)
    if in_time_order:
        notes.insert(0, "Rows are in time order: the last ones are tested on.")
    if validation_share and not len(parts.validation):
        notes.insert(
            0,
            f"Validation is off, because {validation_share:.0%} of {len(kept) - len(parts.test):,} rows "
            f"are fewer than {FEWEST_VALIDATION_ROWS}: the last epoch is used.",
        )
    whole = not split_name or joined is None or not _count_divided_groups(parts, joined)
    if groups is not None:
        count = int(groups.max()) + 1
        notes.insert(0, f"{count:,} groups by {group}{', each as a whole in one part of the split' if whole else ''}.")
    if copies is not None:
        count = len(kept) - int(copies.max()) - 1
        what = "1 row is an exact copy" if count == 1 else f"{count:,} rows are exact copies"
        notes.insert(0, f"{what} of another row{', and in the same part of the split as that row' if whole else ''}.")
    if split_name:
        notes[:0] = _list_split_notes(split_name, parts, joined)
    if missing := table.rows - len(kept):
        what = "1 row has" if missing == 1 else f"{missing:,} rows have"
        notes.insert(0, f"{what} no {choice.target} and {_count_verb(missing)} left out.")
    return PreparedTable(
        source=table.name,
        encoding=encoding,
        features=features[kept],
        targets=every[kept],
        row_numbers=kept + 1,
        split=parts,
        notes=(*table.notes, *column_notes, *notes),
        groups=groups,
        train_groups=select_groups(joined, parts.train),
        in_time_order=in_time_order,
        leave_out=tuple(leave_out),
        as_categories=tuple(as_categories),
        group=group,
        chosen_decimal=table.chosen_decimal,
        split_column=split_name,
    )


def _read_split_column(table: RawTable, used: Collection[str], kept: NDArray[np.int64]) -> tuple[str, TableSplit | str]:
    """Find the column split and parse its values in the rows that are kept; "" without one."""
    named = {fold_name(name) for name in used}
    name = find_role("split", [name for name in table.column_names if fold_name(name) not in named])
    if name is None or table.find_column(name).kind not in (NUMBER, TEXT):
        return "", ""
    texts = convert_to_texts(table.find_column(name))
    parts = parse_split_words([texts[row] or "" for row in kept])
    return (name, parts) if parts else ("", "")


def _list_split_notes(name: str, parts: TableSplit, groups: Groups | None) -> list[str]:
    sizes = f"{len(parts.train):,} train, {len(parts.validation):,} validation and {len(parts.test):,} test rows"
    notes = [
        f"The split is that of the column {name}: {sizes}. To have it drawn, leave the column out "
        f"(--leave-out {shlex.quote(name)})."
    ]
    if groups is not None and (count := _count_divided_groups(parts, groups)):
        what = "1 group of rows that belong together or are copies is"
        if count > 1:
            what = f"{count:,} groups of rows that belong together or are copies are"
        notes.append(f"{what} in more than one part of it: test figures may be too good.")
    return notes


def _count_divided_groups(parts: TableSplit, groups: Groups) -> int:
    """How many groups have rows in more than one part."""
    each = [np.unique(groups[rows]) for rows in (parts.train, parts.validation, parts.test)]
    return int((np.unique(np.concatenate(each), return_counts=True)[1] > 1).sum())


def _read_group_column(table: RawTable, name: str, kept: NDArray[np.int64]) -> Groups:
    """Number the groups of the rows that are kept; DataError if one has none."""
    texts = convert_to_texts(table.find_column(name))
    values = [texts[row] for row in kept]
    if empty := sum(text is None for text in values):
        raise DataError(
            f"“{name:.60}” is empty in {empty:,} rows, so their group is not known: fill it, or drop the rows."
        )
    return number_groups(np.array(values, dtype=str))


def write_prepared_table(folder: Path, table: PreparedTable) -> None:
    """Keep a table in a run's folder, the description last.

    Raises:
      OSError: a full disk, or a folder that cannot be written.
    """
    write_arrays(
        folder / _ARRAYS_FILE,
        dict[str, NDArray[Any]](
            features=table.features,
            targets=table.targets,
            row_numbers=table.row_numbers,
            train=table.split.train,
            validation=table.split.validation,
            test=table.split.test,
        ),
    )
    each = {"groups": table.groups, "train_groups": table.train_groups}
    groups = {name: np.asarray(values, np.int64) for name, values in each.items() if values is not None}
    if groups:  # In a file of its own: `read_table_fingerprint` is of rows and split alone.
        write_arrays(folder / _GROUPS_FILE, groups)
    sizes = {name: len(rows) for name, rows in vars(table.split).items()}
    values = {"source": table.source, **asdict(table.encoding), **sizes, "notes": table.notes}
    values["group_arrays"] = list(groups)
    options = ("in_time_order", "leave_out", "as_categories", "group", "chosen_decimal")
    values |= {name: getattr(table, name) for name in options}
    write_json(folder / _DESCRIPTION_FILE, values)


def read_table_description(folder: Path) -> _TableDescription:
    """What table.json of a run's folder says; DataError where it cannot be read."""
    try:
        return parse_dataclass(_TableDescription, read_json(folder / _DESCRIPTION_FILE))
    except (OSError, ValueError) as error:
        raise _build_unreadable_error(_DESCRIPTION_FILE, error) from error


def read_table_fingerprint(folder: Path) -> str:
    """A word that differs where the tables of two runs, or their splits, do; DataError where it cannot be read."""
    try:
        return hashlib.sha256((folder / _ARRAYS_FILE).read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise _build_unreadable_error(_ARRAYS_FILE, error) from error


def read_prepared_table(folder: Path) -> PreparedTable:
    """The table of a run's folder, as `write_prepared_table` left it.

    Raises:
      DataError: it is damaged, or not there.
    """
    said = read_table_description(folder)
    sizes = {"train": said.train, "validation": said.validation, "test": said.test}
    rows, whole = sum(sizes.values()), len(said.encoding.feature_names)
    expected = {
        "features": ExpectedArray((rows, whole)),
        "targets": ExpectedArray((rows,), "float64"),
        "row_numbers": ExpectedArray((rows,), "int64"),
        **{name: ExpectedArray((size,), "int64") for name, size in sizes.items()},
    }
    arrays, groups = _read_table_arrays(folder / _ARRAYS_FILE, expected), dict[str, NDArray[Any]]()
    if said.group_arrays:
        lengths = {"groups": rows, "train_groups": said.train}
        own = {name: ExpectedArray((lengths[name],), "int64") for name in said.group_arrays if name in lengths}
        groups = _read_table_arrays(folder / _GROUPS_FILE, own)
    parts = TableSplit(arrays["train"], arrays["validation"], arrays["test"])
    every = np.sort(np.concatenate([parts.train, parts.validation, parts.test]))
    if not np.array_equal(every, np.arange(rows)):
        raise _build_unreadable_error(_ARRAYS_FILE, ValueError("its parts are not all rows, once"))
    return PreparedTable(
        source=said.source,
        encoding=said.encoding,
        features=arrays["features"],
        targets=arrays["targets"],
        row_numbers=arrays["row_numbers"],
        split=parts,
        notes=tuple(said.notes),
        groups=groups.get("groups"),
        train_groups=groups.get("train_groups"),
        in_time_order=said.in_time_order,
    )


def _read_table_arrays(path: Path, expected: dict[str, ExpectedArray]) -> dict[str, NDArray[Any]]:
    try:
        return read_arrays(path, expected)
    except (OSError, DamagedFileError) as error:
        raise _build_unreadable_error(path.name, error) from error


def _build_unreadable_error(name: str, error: Exception) -> DataError:
    reason = getattr(error, "strerror", None) or error
    return DataError(
        f"The run's {name} cannot be read ({reason}): put it back from a copy of the run's folder, or train again."
    )


def _list_gap_notes(encoding: TableEncoding) -> list[str]:
    numbers = [number["name"] for number in encoding.numbers if number["missing"]]
    kinds = [category["name"] for category in encoding.categories if category["missing"]]
    notes = []
    if numbers:
        notes.append(
            f"Where {_join_names(numbers)} is missing, the training rows' mean stands for it, and "
            "a column of its own says where."
        )
    if kinds:
        notes.append(f"Where {_join_names(kinds)} is missing, that is a category of its own.")
    return notes


def _join_names(names: list[str]) -> str:
    return ", ".join(names[:-1]) + f" or {names[-1]}" if len(names) > 1 else names[0]


def _count_verb(count: int) -> str:
    return "was" if count == 1 else "were"
