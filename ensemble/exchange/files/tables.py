"""CSV and Parquet: a row an example and member, or a table a member, brought to arrays."""

import csv
import errno
import io
import re
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.checks.limits import MOST_EXAMPLES, MOST_MEMBERS, check_free_memory
from ensemble.exchange.files.columns import ROW_NUMBERS, TableColumns, parse_table_columns
from ensemble.exchange.files.file_predictions import FilePredictions
from ensemble.exchange.files.parquet_pages import MOST_CELL, check_parquet_pages
from ensemble.exchange.files.table_rows import arrange_table_rows
from ensemble.storage.arrays.npy import BoundedReader

MOST_HEADER = 2**17
CSV_BLOCK_BYTES = 2**22  # bytes of a CSV that are parsed at once; a row has to fit
PARQUET_BATCH_ROWS = 2**14  # of Parquet that are read at once
CELL_ERROR = re.compile(r"In CSV column #(\d+): Row #(\d+): .*invalid value '(.*)'", re.S)
WIDTH_ERROR = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


def read_csv_predictions(file: BoundedReader, most_bytes: int | None = None) -> FilePredictions:
    """The predictions of a CSV: comma, semicolon or tab; UTF-8; the first row names the columns.

    Raises:
      PredictionsError: it is none, or its columns, rows or cells do not fit; names the row.
    """
    names, delimiter, decimal = _read_csv_header(file)
    columns = parse_table_columns(names)
    types = {name: pa.string() for name in columns.key_columns.values()}
    types |= {name: pa.float64() for name in columns.class_columns}
    raw = _unwrap_raw_file(file)
    raw.seek(0)
    try:
        reader = pa.csv.open_csv(
            pa.PythonFile(raw, mode="r"),
            pa.csv.ReadOptions(
                use_threads=False, block_size=CSV_BLOCK_BYTES, column_names=names, skip_rows=1
            ),
            pa.csv.ParseOptions(delimiter=delimiter),
            pa.csv.ConvertOptions(
                column_types=types, include_columns=list(types), decimal_point=decimal
            ),
        )
        return _collect_table_batches(columns, reader, most_bytes)
    except pa.ArrowInvalid as error:
        raise PredictionsError(_describe_csv_error(str(error), list(types))) from error


def read_parquet_predictions(file: BoundedReader, most_bytes: int | None = None) -> FilePredictions:
    """The predictions of a Parquet file, whose columns are as a CSV's.

    Raises:
      PredictionsError: it is none, is damaged, or its columns or rows do not fit.
    """
    try:
        raw = _unwrap_raw_file(file)
        metadata = pa.parquet.read_metadata(pa.PythonFile(raw, mode="r"))
        schema = metadata.schema.to_arrow_schema()
        columns = parse_table_columns(schema.names)
        keys = list(columns.key_columns.values())
        wanted = [*keys, *columns.class_columns]
        _check_flat_columns(schema, wanted)
        _check_row_count(metadata.num_rows, columns, most_bytes)
        check_parquet_pages(raw, metadata, wanted, most_bytes)
        # Text that stands there once for many rows is not written out for each of them.
        parquet_file = pa.parquet.ParquetFile(
            pa.PythonFile(raw, mode="r"), metadata=metadata, read_dictionary=keys
        )
        return _collect_table_batches(
            columns, parquet_file.iter_batches(PARQUET_BATCH_ROWS, columns=wanted), most_bytes
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise PredictionsError(
            "it is damaged, or not a readable Parquet file: save it again."
        ) from error


def _unwrap_raw_file(file: BoundedReader) -> io.RawIOBase:
    """The file itself: Arrow asks for as much at once as it has room for, and bounds that."""
    return cast(io.RawIOBase, file.raw)


def _collect_table_batches(
    columns: TableColumns, batches: Iterator[pa.RecordBatch], most_bytes: int | None
) -> FilePredictions:
    dtype = np.float32 if columns.kind == "probabilities" else np.float64
    blocks: list[NDArray[Any]] = []
    keys: dict[str, list[pa.Array]] = {key: [] for key in columns.key_columns}
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        _check_row_count(rows, columns, most_bytes)
        blocks.append(_extract_class_values(batch, columns.class_columns, dtype))
        for key, column in columns.key_columns.items():
            keys[key].append(_convert_key_texts(batch.column(column), column))
    if not rows:
        raise PredictionsError("it has no rows: give one for each example and member.")
    texts = {key: pa.chunked_array(chunks, pa.string()) for key, chunks in keys.items()}
    check_free_memory(2 * rows * len(columns.class_columns) * np.dtype(dtype).itemsize, most_bytes)
    notes = []
    if aside := [
        column_name
        for column_name in columns.ignored
        if column_name.strip().lower() not in ROW_NUMBERS
    ]:
        listing = ", ".join(f"“{column_name:.40}”" for column_name in aside[:5])
        more = "" if len(aside) <= 5 else f" and {len(aside) - 5} more"
        notes = [f"Columns that were ignored: {listing}{more}."]
    return arrange_table_rows(columns, np.concatenate(blocks), texts, notes)


def _check_flat_columns(schema: pa.Schema, wanted: list[str]) -> None:
    """Refuse lists and records for a cell, before any of them is unpacked."""
    for name in wanted:
        if pa.types.is_nested(kind := schema.field(name).type):
            raise PredictionsError(
                f"its column “{name:.60}” is neither numbers nor text ({kind!s:.60}): write it as "
                "one."
            )


def _check_row_count(rows: int, columns: TableColumns, most_bytes: int | None) -> None:
    most = MOST_EXAMPLES * (MOST_MEMBERS if "member" in columns.key_columns else 1)
    if "epoch" not in columns.key_columns and rows > most:
        raise PredictionsError(f"it has more than {most:,} rows: take a sample of the examples.")
    check_free_memory(
        2 * rows * len(columns.class_columns) * np.dtype(np.float32).itemsize, most_bytes
    )


def _extract_class_values(
    batch: pa.RecordBatch, names: tuple[str, ...], dtype: type[np.floating[Any]]
) -> NDArray[Any]:
    values = np.empty((batch.num_rows, len(names)), dtype)
    for place, name in enumerate(names):
        column = batch.column(name)
        if not (
            pa.types.is_integer(column.type)
            or pa.types.is_floating(column.type)
            or pa.types.is_decimal(column.type)
        ):
            raise PredictionsError(
                f"its column “{name:.60}” holds no numbers ({column.type}): leave it out, or name "
                "the columns of classes p_0, p_1 …."
            )
        values[:, place] = column.to_numpy(zero_copy_only=False).astype(np.float64)
    return values


def _convert_key_texts(column: pa.Array, name: str) -> pa.Array:
    if pa.types.is_boolean(column.type):
        return pa.compute.if_else(column, "True", "False")  # as Python writes them
    held = column.dictionary if pa.types.is_dictionary(column.type) else column
    if pa.types.is_string(held.type) or pa.types.is_large_string(held.type):
        longest = pa.compute.max(pa.compute.binary_length(held)).as_py() or 0
        if longest > MOST_CELL:
            raise PredictionsError(
                f"its column “{name:.60}” has a text of {longest:,} bytes, but at most "
                f"{MOST_CELL:,} are accepted: shorten it."
            )
    try:
        return column.cast(pa.string())
    except pa.ArrowException as error:
        raise PredictionsError(
            f"its column “{name:.60}” is neither numbers nor text ({column.type}): write it as one."
        ) from error


def _read_csv_header(file: BoundedReader) -> tuple[list[str], str, str]:
    """The columns' names, what parts them, and the decimal point."""
    first = file.readline(MOST_HEADER)
    second = file.readline(MOST_HEADER)
    try:
        text, row = first.decode("utf-8-sig"), second.decode()
    except UnicodeDecodeError as error:
        raise PredictionsError(
            "it is neither .npz, Parquet nor a table in UTF-8: save it as one of them."
        ) from error
    if len(first) == MOST_HEADER or "\0" in text or not text.strip():
        raise PredictionsError(
            "it is neither .npz, Parquet nor a table whose first row names its columns: save it as "
            "one of them."
        )
    delimiter = max(",;\t", key=text.count)
    try:
        names = next(csv.reader([text.rstrip("\r\n")], delimiter=delimiter))
    except csv.Error as error:
        raise PredictionsError(
            f"its first row cannot be read ({error!s:.60}): save it with ordinary line ends, and "
            "quotes around names that hold the delimiter."
        ) from error
    return names, delimiter, "," if delimiter == ";" and "," in row else "."


def _describe_csv_error(message: str, columns: list[str]) -> str:
    if match := CELL_ERROR.search(message):
        # Among the columns that are read; numbered from 0.
        place = int(match[1])
        name = columns[place] if place < len(columns) else match[1]
        return (
            f"its column “{name:.60}” has “{match[3]:.40}” in line {int(match[2])}: give a number "
            "there, or name the columns of classes p_0, p_1 …."
        )
    if match := WIDTH_ERROR.search(message):
        return (
            f"its line {int(match[1])} has {match[3]} cells, and the first names {match[2]}: save "
            "it again, with quotes around text that holds the delimiter."
        )
    return "it is not a readable table (its rows are uneven, or not text): save it again."
