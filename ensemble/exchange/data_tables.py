"""Tables of data, CSV or Parquet, as columns of numbers and of text (`ensemble.tables`).

A column is decided by its cells: numbers where nearly all of them are, dates, else text. Decimal
commas, thousands and the usual words for a missing value are read as spreadsheets write them.
"""

import shlex
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ensemble.errors import DataError, PredictionsError
from ensemble.exchange.checks.limits import check_free_memory
from ensemble.exchange.file_task import detect_task
from ensemble.exchange.files.columns import is_number_type
from ensemble.exchange.files.parquet_table import open_parquet_table
from ensemble.files.columns import find_role, fold_name, list_unused_notes
from ensemble.files.numbers import COMMA, POINT, DecimalSignError, NumberRules, trim_cells
from ensemble.files.table import (
    DECIMAL_COMMA_NOTE,
    Table,
    TableError,
    check_distinct_columns,
    find_csv_layout,
    is_text_type,
    read_csv_table,
)
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import BoundedReader, open_bounded_file
from ensemble.tables.prepared_table import MOST_ROWS
from ensemble.tables.raw_table import DATE, NUMBER, OTHER, TEXT, RawColumn, RawTable
from ensemble.tables.table_encoding import TableEncoding

_MOST_TABLE_COLUMNS = 4096
_MOST_TABLE_CELLS = 2**27
_SAMPLE_ROWS = 200  # by which a table of predictions is known
_CELL_BYTES = 24  # that a cell takes while it is read, about
_DATES = (
    r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}/\d{1,2}/\d{2})"
    r"([ T]\d{1,2}:\d{2}.*)?$"
)


def read_data_table(path: Path, name: str = "", decimal: str = "", encoding: TableEncoding | None = None) -> RawTable:
    """The table in a CSV or Parquet file, recognized by how it begins.

    Args:
      path: the file.
      name: what it is called for people; its own name by default.
      decimal: "point" or "comma", where the numbers can be read in two ways; "" for what the cells say.
      encoding: of the table that a run was trained on, for new rows: its columns are read as numbers or as categories
        as they were there, and the others are not read.

    Raises:
      ConfigError: `decimal` is another word.
      DecimalSignError: numbers can be read in two ways.
      DataError: it cannot be read, is none, or is larger than what is taken; names the file.
    """
    name = name or path.name
    try:
        with ExitStack() as held:
            file = held.enter_context(open_bounded_file(path))
            start = file.read(4)
            file.seek(0)
            table, unused = _read_cells(file, start == b"PAR1", decimal, encoding)
        if not table.rows:
            raise TableError("it has no rows below its header.")
        _check_table_size(table.rows, len(table.names))
        numbers = table.read_numbers(table.names)
    except (PredictionsError, TableError) as error:
        raise DataError(f"{name}: {error}") from error
    except DecimalSignError as error:
        raise DecimalSignError(f"{name}: {error.question}") from error
    except (DamagedFileError, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{name} cannot be read ({reason}): give a file that exists and that you may read.") from error
    columns = [
        RawColumn(column, NUMBER, numbers[column].values, numbers[column].notes)
        if column in numbers
        else _convert_column(column, table.cells.column(column))
        for column in table.names
    ]
    commas = table.has_decimal_comma(table.names)
    if encoding:  # New rows often have their targets, which need no note.
        unused = [column for column in unused if fold_name(column) != fold_name(encoding.target)]
    notes = [*table.notes, *([DECIMAL_COMMA_NOTE] if commas else []), *list_unused_notes(unused)]
    if encoding is None and _holds_predictions(table, numbers):
        file_name = name if name != path.name else str(path)
        notes.append(
            "Its columns are those of predictions. To judge these predictions in place of training on them, import "
            f"the file: `ensemble import {shlex.quote(file_name)}`."
        )
    sign = (decimal or (COMMA if commas else POINT)) if numbers else ""
    return RawTable(name, table.rows, tuple(columns), tuple(notes), decimal=sign, chosen_decimal=decimal)


def _holds_predictions(table: Table, numbers: Collection[str]) -> bool:
    texts = {name for name in table.names if is_text_type(table.cells.column(name).type) and name not in numbers}
    label = find_role("label", table.names)
    cells = table.cells.column(label).slice(0, _SAMPLE_ROWS).cast(pa.string()).to_pylist() if label else []
    return bool(detect_task(table.names, texts, {cell for cell in cells if cell}))


def _read_cells(
    file: BoundedReader, parquet: bool, decimal: str, encoding: TableEncoding | None
) -> tuple[Table, list[str]]:
    """The columns, of a CSV as text, and the names of those that are not read."""
    if not parquet:
        layout = find_csv_layout(file)
        wanted, rules = _build_number_rules(layout.names, decimal, encoding)
        unused = [name for name in layout.names if name not in wanted]
        return read_csv_table(file, _check_table_size, wanted, rules, layout=layout), unused
    with open_parquet_table(file) as table:
        names = table.layout.schema.names
        _check_table_size(table.layout.rows, len(names))
        check_distinct_columns(names)
        wanted, rules = _build_number_rules(names, decimal, encoding)
        # Lists and records are not used, and unpack to far more than the footer says.
        flat = set(table.list_flat_columns())
        cells, schema = table.read_columns([name for name in wanted if name in flat]), table.layout.schema
        columns = [
            cells.column(name) if name in flat else pa.nulls(table.layout.rows, schema.field(name).type)
            for name in wanted
        ]
        unused = [name for name in names if name not in wanted]
        return Table(pa.table(columns, [name.strip() for name in wanted]), rules=rules), unused


def _build_number_rules(
    names: Sequence[str], decimal: str, encoding: TableEncoding | None
) -> tuple[list[str], NumberRules]:
    """The columns to read, and what is known of them."""
    if encoding is None:
        return list(names), NumberRules(decimal)
    numbers, texts = (
        {name.strip() for name in names if fold_name(name) in {fold_name(column["name"]) for column in columns}}
        for columns in (encoding.numbers, encoding.categories)
    )
    wanted = [name for name in names if name.strip() in numbers | texts]
    return wanted or list(names), NumberRules(decimal, encoding.decimal, frozenset(numbers), frozenset(texts))


def _check_table_size(rows: int, columns: int) -> None:
    if rows > MOST_ROWS or columns > _MOST_TABLE_COLUMNS or rows * columns > _MOST_TABLE_CELLS:
        raise PredictionsError(
            f"it has {rows:,} rows and {columns:,} columns or more, and at most {MOST_ROWS:,} "
            f"rows, {_MOST_TABLE_COLUMNS:,} columns and {_MOST_TABLE_CELLS:,} cells are taken: give "
            "a sample of the rows, or fewer columns."
        )
    check_free_memory(_CELL_BYTES * rows * columns)


def _convert_column(name: str, column: Any) -> RawColumn:
    """A column of a Parquet file, or one of text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if is_number_type(kind):
        values = np.array(column.cast(pa.float64()).to_numpy(), np.float64)
        lost = int(np.isinf(values).sum())
        values[np.isinf(values)] = np.nan
        notes = (f"{name}: {lost:,} infinite numbers count as missing.",) if lost else ()
        return RawColumn(name, NUMBER, values, notes)
    if pa.types.is_boolean(kind):
        return RawColumn(name, TEXT, np.array(column.cast(pa.string()).to_pylist(), object))
    if pa.types.is_temporal(kind):
        return RawColumn(name, DATE, np.empty(0))
    if pa.types.is_null(kind):
        return RawColumn(name, NUMBER, np.full(len(column), np.nan))
    if not is_text_type(kind):
        return RawColumn(name, OTHER, np.empty(0))
    texts = trim_cells(column)
    if texts.null_count < len(texts) and pc.all(pc.match_substring_regex(texts, _DATES)).as_py():
        return RawColumn(name, DATE, np.empty(0))
    return RawColumn(name, TEXT, np.array(texts.to_pylist(), object))
