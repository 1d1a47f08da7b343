"""Tables of data, CSV or Parquet, as columns of numbers and of text (`ensemble.tables`).

A column is decided by its cells: numbers where nearly all of them are, dates, else text. Decimal
commas, thousands and the usual words for a missing value are read as spreadsheets write them.
"""

import io
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from ensemble.errors import DataError, PredictionsError
from ensemble.exchange.checks.limits import check_free_memory
from ensemble.exchange.files.columns import check_distinct_columns, is_number_type
from ensemble.exchange.files.csv_text import UNREADABLE_TEXT, open_csv_rows, read_csv_text
from ensemble.exchange.files.parquet_table import open_parquet_table
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import BoundedReader, open_bounded_file
from ensemble.tables.prepared_table import MOST_ROWS
from ensemble.tables.raw_table import DATE, NUMBER, OTHER, TEXT, RawColumn, RawTable

_MOST_TABLE_COLUMNS = 4096
_MOST_TABLE_CELLS = 2**27
_CELL_BYTES = 24  # that a cell takes while it is read, about
_BLOCK_BYTES = 2**22  # of a CSV that are parsed at once; a row has to fit
_LEAST_NUMBER_SHARE = 0.95  # of a column's cells, for it to be one of numbers
_MISSING_WORDS = (
    *("", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "?", "-", ".", "missing"),
    *("#value!", "#div/0!", "#ref!", "inf", "-inf", "+inf"),
)
_EXPONENT = r"([eE][+-]?\d+)?"
_DATES = (
    r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}/\d{1,2}/\d{2})"
    r"([ T]\d{1,2}:\d{2}.*)?$"
)
_THOUSANDS_NOTE = "{name}: signs between thousands are left out."


def read_data_table(path: Path, name: str = "") -> RawTable:
    """The table in a CSV or Parquet file, told by how it begins.

    Args:
      path: the file.
      name: what it is called for people; its own name by default.

    Raises:
      DataError: it cannot be read, is none, or is larger than what is taken; names the file.
    """
    name = name or path.name
    try:
        with ExitStack() as held:
            file = held.enter_context(open_bounded_file(path))
            start = file.read(4)
            file.seek(0)
            if not start:
                raise DataError(f"{name} is empty: save it again.")
            if start.startswith(b"PK"):
                raise DataError(
                    f"{name} is a zip archive or a spreadsheet: save the sheet as CSV, or the table as Parquet."
                )
            table, decimal, notes = _read_columns(file, parquet=start == b"PAR1")
    except PredictionsError as error:
        words = str(error)
        if words == UNREADABLE_TEXT:
            words = "it is neither Parquet nor a table whose first row names its columns: save it as CSV in UTF-8."
        raise DataError(f"{name}: {words}") from error
    except pa.ArrowException as error:
        words = " ".join(str(error).split())
        raise DataError(
            f"{name} cannot be read as a table ({words:.150}): give every row as many cells as the first row has names."
        ) from error
    except (DamagedFileError, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{name} cannot be read ({reason}): give a file that exists and that you may read.") from error
    names = [column.strip() for column in table.column_names]
    if not table.num_rows:
        raise DataError(f"{name} has no rows below its header.")
    columns = [_convert_column(column, table.column(place), decimal) for place, column in enumerate(names)]
    return RawTable(name, table.num_rows, tuple(columns), tuple(notes))


def _read_columns(file: BoundedReader, parquet: bool) -> tuple[pa.Table, str, list[str]]:
    """All columns, a CSV's as text; the decimal point, and what was assumed."""
    if parquet:
        with open_parquet_table(file) as table:
            names = table.layout.schema.names
            _check_table_size(table.layout.rows, len(names))
            check_distinct_columns(names)
            return table.read_columns(names), ".", []
    text = read_csv_text(file)
    if not text.rows:
        raise PredictionsError("it has no rows below its header.")
    _check_table_size(0, len(text.names))
    check_distinct_columns(text.names)
    reader = pa.csv.open_csv(
        pa.PythonFile(open_csv_rows(cast(io.RawIOBase, file.raw), text), mode="r"),
        pa.csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES, column_names=text.names),
        pa.csv.ParseOptions(delimiter=text.delimiter),
        pa.csv.ConvertOptions(column_types=dict.fromkeys(text.names, pa.string()), strings_can_be_null=False),
    )
    batches, rows = [], 0
    for batch in reader:
        batches.append(batch)
        rows += batch.num_rows
        _check_table_size(rows, len(text.names))
    notes = list(text.notes)
    if text.decimal == ",":
        notes.append("Numbers are read with a decimal comma.")
    return pa.Table.from_batches(batches, reader.schema), text.decimal, notes


def _check_table_size(rows: int, columns: int) -> None:
    if rows > MOST_ROWS or columns > _MOST_TABLE_COLUMNS or rows * columns > _MOST_TABLE_CELLS:
        raise PredictionsError(
            f"it has {rows:,} rows and {columns:,} columns or more, and at most {MOST_ROWS:,} "
            f"rows, {_MOST_TABLE_COLUMNS:,} columns and {_MOST_TABLE_CELLS:,} cells are taken: give "
            "a sample of the rows, or fewer columns."
        )
    check_free_memory(_CELL_BYTES * rows * columns)


def _convert_column(name: str, column: Any, decimal: str) -> RawColumn:
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
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return RawColumn(name, OTHER, np.empty(0))
    return _convert_text_column(name, column.cast(pa.large_string()), decimal)


def _convert_text_column(name: str, column: Any, decimal: str) -> RawColumn:
    """A column of text: numbers where nearly all cells are, dates, or text."""
    column = pc.utf8_trim_whitespace(column)
    missing = pc.is_in(pc.utf8_lower(column), value_set=pa.array(_MISSING_WORDS, pa.large_string()))
    column = pc.if_else(missing, pa.scalar(None, pa.large_string()), column)
    present = len(column) - column.null_count
    if not present:
        return RawColumn(name, NUMBER, np.full(len(column), np.nan))
    point, comma = (r"\.", ",") if decimal == "." else (",", r"\.")
    plain = pc.match_substring_regex(column, rf"^[+-]?(\d+{point}?\d*|{point}\d+){_EXPONENT}$")
    grouped = pc.match_substring_regex(
        column, rf"^[+-]?\d{{1,3}}(({comma}|[ '’\x{{00a0}}\x{{202f}}])\d{{3}})+({point}\d+)?$"
    )
    numbers = pc.fill_null(pc.or_(plain, grouped), False)
    count = pc.sum(numbers).as_py()
    if count < _LEAST_NUMBER_SHARE * present:
        if pc.all(pc.match_substring_regex(column, _DATES)).as_py():
            return RawColumn(name, DATE, np.empty(0))
        return RawColumn(name, TEXT, np.array(column.to_pylist(), object))
    notes = []
    if pc.any(grouped).as_py():
        notes.append(_THOUSANDS_NOTE.format(name=name))
    if others := present - count:
        strange = pc.filter(column, pc.and_(pc.is_valid(column), pc.invert(numbers)))
        cells = "cell that is" if others == 1 else "cells that are"
        verb = "counts" if others == 1 else "count"
        notes.append(f"{name}: {others:,} {cells} no number (“{strange[0].as_py():.30}”) {verb} as missing.")
    column = pc.if_else(numbers, column, pa.scalar(None, pa.large_string()))
    column = pc.replace_substring_regex(column, rf"{comma}|[ '’\x{{00a0}}\x{{202f}}]", "")
    if decimal == ",":
        column = pc.replace_substring(column, ",", ".")
    values = np.array(column.cast(pa.float64()).to_numpy(), np.float64)
    values[np.isinf(values)] = np.nan
    return RawColumn(name, NUMBER, values, tuple(notes))
