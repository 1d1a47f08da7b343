"""CSV and Parquet: a row an example and member, or a table a member, brought to arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from ensemble.datasets.example_details import MAX_CELL_LENGTH
from ensemble.errors import PredictionsError
from ensemble.exchange.checks.limits import MOST_EXAMPLES, MOST_MEMBERS, check_free_memory
from ensemble.exchange.files.columns import TableColumns, is_number_type, parse_table_columns
from ensemble.exchange.files.file_predictions import FilePredictions
from ensemble.exchange.files.parquet_table import MOST_CELL, open_parquet_table
from ensemble.exchange.files.table_rows import arrange_table_rows
from ensemble.files.numbers import NumberRules
from ensemble.files.table import find_csv_layout, read_csv_table
from ensemble.files.table_process import ParquetLayout
from ensemble.storage.arrays.npy import BoundedReader

_TEXT_TYPE = pa.dictionary(pa.int32(), pa.string())
_NO_ROWS = "it has no rows: give one for each example and member."


def read_csv_predictions(file: BoundedReader, most_bytes: int | None, rules: NumberRules) -> FilePredictions:
    """The predictions of a CSV: comma, semicolon, bar or tab; its first row names the columns.

    Raises:
      PredictionsError: it is none, or its columns, rows or cells do not fit; names the row.
    """
    layout = find_csv_layout(file)
    columns = parse_table_columns(layout.names, layout.list_text_columns())
    wanted = [*columns.text_columns, *columns.class_columns]
    table = read_csv_table(
        file, lambda rows, _: _check_row_count(rows, columns, most_bytes), wanted, rules, layout=layout
    )
    numbers = table.require_numbers(columns.class_columns)
    notes = [*table.notes, *table.list_number_notes(columns.class_columns)]
    arrays = {name: table.cells.column(name) for name in columns.text_columns}
    arrays |= {name: pa.chunked_array([numbers[name].values]) for name in columns.class_columns}
    return _collect_table_batches(columns, iter(pa.table(arrays).to_batches()), most_bytes, notes)


def read_parquet_predictions(file: BoundedReader, most_bytes: int | None) -> FilePredictions:
    """The predictions of a Parquet file, whose columns are as a CSV's.

    Raises:
      PredictionsError: it is none, is damaged, or its columns or rows do not fit.
    """
    with open_parquet_table(file) as table:
        layout = table.layout
        columns = _parse_parquet_columns(layout)
        wanted = [*columns.text_columns, *columns.class_columns]
        _check_flat_columns(layout.schema, wanted)
        _check_row_count(layout.rows, columns, most_bytes)
        batches = table.read_batches(wanted, cut=columns.attributes)
        return _collect_table_batches(columns, batches, most_bytes)


def _collect_table_batches(
    columns: TableColumns, batches: Iterator[pa.RecordBatch], most_bytes: int | None, notes: Sequence[str] = ()
) -> FilePredictions:
    dtype = np.float32 if columns.kind == "probabilities" else np.float64
    blocks: list[NDArray[Any]] = []
    texts: dict[str, list[pa.Array]] = {column: [] for column in columns.text_columns}
    keys = set(columns.key_columns.values())
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        _check_row_count(rows, columns, most_bytes)
        blocks.append(_extract_class_values(batch, columns.class_columns, dtype))
        for column, chunks in texts.items():
            if column in keys:
                chunk = _convert_key_texts(batch.column(column), column)
            else:
                chunk = _convert_attribute_texts(batch.column(column))
            chunks.append(chunk.dictionary_encode())  # a text in many rows stands there once
    if not rows:
        raise PredictionsError(_NO_ROWS)
    joined = {column: pa.chunked_array(chunks, _TEXT_TYPE).unify_dictionaries() for column, chunks in texts.items()}
    check_free_memory(2 * rows * len(columns.class_columns) * np.dtype(dtype).itemsize, most_bytes)
    return arrange_table_rows(columns, np.concatenate(blocks), joined, list(notes))


def _parse_parquet_columns(layout: ParquetLayout) -> TableColumns:
    """Find what each column is; further columns are kept only if they are plain and not large."""
    schema = layout.schema
    texts = {field.name for field in schema if not (is_number_type(field.type) or pa.types.is_nested(field.type))}
    columns = parse_table_columns(schema.names, texts)
    most = 2**16 + MOST_CELL * layout.rows
    large = {name for name, size in layout.sizes.items() if size > most}
    aside = [
        name
        for name in (*columns.attributes, *columns.member_parts)
        if pa.types.is_nested(kind := schema.field(name).type) or pa.types.is_binary(kind) or name in large
    ]
    return replace(
        columns,
        attributes=tuple(name for name in columns.attributes if name not in aside),
        member_parts=tuple(name for name in columns.member_parts if name not in aside),
        ignored=(*columns.ignored, *aside),
    )


def _check_flat_columns(schema: pa.Schema, wanted: list[str]) -> None:
    for name in wanted:
        if pa.types.is_nested(kind := schema.field(name).type):
            raise PredictionsError(
                f"its column “{name:.60}” is neither numbers nor text ({kind!s:.60}): write it as one."
            )


def _check_row_count(rows: int, columns: TableColumns, most_bytes: int | None) -> None:
    several = "member" in columns.key_columns or columns.member_parts
    most = MOST_EXAMPLES * (MOST_MEMBERS if several else 1)
    if "epoch" not in columns.key_columns and rows > most:
        raise PredictionsError(f"it has more than {most:,} rows: take a sample of the examples.")
    cells = len(columns.class_columns) + len(columns.member_parts) + len(columns.attributes)
    check_free_memory(2 * rows * cells * np.dtype(np.float32).itemsize, most_bytes)


def _extract_class_values(batch: pa.RecordBatch, names: tuple[str, ...], dtype: type[np.floating[Any]]) -> NDArray[Any]:
    values = np.empty((batch.num_rows, len(names)), dtype)
    for place, name in enumerate(names):
        column = batch.column(name)
        if not is_number_type(column.type):
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


def _convert_attribute_texts(column: pa.Array) -> pa.Array:
    if pa.types.is_boolean(column.type):
        return pa.compute.if_else(column, "True", "False")
    if pa.types.is_dictionary(column.type):  # the texts first: they may be long, and repeat
        texts = _convert_attribute_texts(column.dictionary)
        return pa.DictionaryArray.from_arrays(column.indices, texts).cast(pa.string())
    try:
        texts = column.cast(pa.string())
    except pa.ArrowException:
        return pa.nulls(len(column), pa.string())
    return pa.compute.utf8_slice_codeunits(texts, 0, MAX_CELL_LENGTH)
