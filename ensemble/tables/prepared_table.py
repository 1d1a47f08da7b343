"""A table made ready to be learnt from, and its files in a run's folder: plain arrays and JSON.

`table.npz` holds the rows as a network sees them, `table.json` how they came to be, so that a run
goes on, and answers for new rows, without the file that it was made of.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import DataError
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray
from ensemble.storage.arrays.npz import read_arrays, write_arrays
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.records.field_checks import NumberRange, parse_dataclass
from ensemble.tables.column_choice import choose_table_columns, list_choice_notes
from ensemble.tables.raw_table import RawTable
from ensemble.tables.table_encoding import (
    CategoryColumn,
    NumberColumn,
    TableEncoding,
    fit_table_encoding,
)
from ensemble.tables.table_split import TableSplit, split_table_rows

ARRAYS_FILE, DESCRIPTION_FILE = "table.npz", "table.json"
MOST_ROWS = 1_000_000
MOST_TEST_ROWS = 200_000  # what every screen can show
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
    """

    source: str
    encoding: TableEncoding
    features: NDArray[np.float32]
    targets: NDArray[np.float64]
    row_numbers: NDArray[np.int64]
    split: TableSplit
    notes: tuple[str, ...]

    def select_part(self, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Features (n, F) and standardised targets (n,), float32 both, of these rows."""
        return self.features[rows], self.encoding.standardise_targets(self.targets[rows])


@dataclass(frozen=True)
class TableDescription:
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

    @property
    def encoding(self) -> TableEncoding:
        """How rows become features."""
        return TableEncoding(
            self.target, self.target_mean, self.target_scale, self.numbers, self.categories
        )


def prepare_table(
    table: RawTable,
    target: str,
    seed: int,
    test_share: float,
    validation_share: float,
    leave_out: Collection[str] = (),
    as_categories: Collection[str] = (),
) -> PreparedTable:
    """A table encoded by its training rows, and what was assumed.

    Rows without a target are left out, and counted in the notes.

    Args:
      table: as it was read.
      target: the column to predict.
      seed: of the split.
      test_share: of `split_table_rows`.
      validation_share: likewise.
      leave_out: columns that are not to be learnt from.
      as_categories: columns of numbers that stand for kinds.

    Raises:
      DataError: the columns do not allow it, or there are too many rows.
      ConfigError: a part would have too few rows.
    """
    if table.rows > MOST_ROWS:
        raise DataError(
            f"{table.name} has {table.rows:,} rows, and at most {MOST_ROWS:,} are taken: give a "
            "sample of them."
        )
    choice = choose_table_columns(table, target, leave_out, as_categories)
    every = np.asarray(table.find_column(choice.target).values, np.float64)
    kept = np.flatnonzero(~np.isnan(every))
    parts = split_table_rows(len(kept), seed, test_share, validation_share)
    if len(parts.test) > MOST_TEST_ROWS:
        raise DataError(
            f"{len(parts.test):,} rows would be tested on, and at most {MOST_TEST_ROWS:,} are: "
            "choose a smaller share for test."
        )
    encoding = fit_table_encoding(table, choice, kept[parts.train])
    features, new_notes = encoding.encode_features(table)
    used = {*choice.numbers, *choice.categories, choice.target}
    column_notes = [note for each in table.columns if each.name in used for note in each.notes]
    notes = [*list_choice_notes(table, choice), *_list_gap_notes(encoding), *new_notes]
    if missing := table.rows - len(kept):
        rows = "1 row has" if missing == 1 else f"{missing:,} rows have"
        notes.insert(0, f"{rows} no {choice.target} and {_count_verb(missing)} left out.")
    return PreparedTable(
        table.name,
        encoding,
        features[kept],
        every[kept],
        kept + 1,
        parts,
        (*table.notes, *column_notes, *notes),
    )


def write_prepared_table(folder: Path, table: PreparedTable) -> None:
    """Keep a table in a run's folder, the description last.

    Raises:
      OSError: a full disk, or a folder that cannot be written.
    """
    write_arrays(
        folder / ARRAYS_FILE,
        dict[str, NDArray[Any]](
            features=table.features,
            targets=table.targets,
            row_numbers=table.row_numbers,
            train=table.split.train,
            validation=table.split.validation,
            test=table.split.test,
        ),
    )
    sizes = {name: len(rows) for name, rows in vars(table.split).items()}
    values = {"source": table.source, **asdict(table.encoding), **sizes, "notes": table.notes}
    write_json(folder / DESCRIPTION_FILE, values)


def read_table_description(folder: Path) -> TableDescription:
    """What table.json of a run's folder says; DataError where it cannot be read."""
    try:
        return parse_dataclass(TableDescription, read_json(folder / DESCRIPTION_FILE))
    except (OSError, ValueError) as error:
        raise _build_unreadable_error(DESCRIPTION_FILE, error) from error


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
    try:
        arrays = read_arrays(folder / ARRAYS_FILE, expected)
    except (OSError, DamagedFileError) as error:
        raise _build_unreadable_error(ARRAYS_FILE, error) from error
    parts = TableSplit(arrays["train"], arrays["validation"], arrays["test"])
    every = np.sort(np.concatenate([parts.train, parts.validation, parts.test]))
    if not np.array_equal(every, np.arange(rows)):
        raise _build_unreadable_error(ARRAYS_FILE, ValueError("its parts are not all rows, once"))
    return PreparedTable(
        said.source,
        said.encoding,
        arrays["features"],
        arrays["targets"],
        arrays["row_numbers"],
        parts,
        tuple(said.notes),
    )


def _build_unreadable_error(name: str, error: Exception) -> DataError:
    reason = getattr(error, "strerror", None) or error
    return DataError(
        f"The run's {name} cannot be read ({reason}): put it back from a copy of the run's folder, "
        "or train again."
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
