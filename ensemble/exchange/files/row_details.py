"""What a table says of its examples beside their labels: names, and columns that are no classes."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ensemble.datasets.example_details import ExampleDetails, clean_details
from ensemble.exchange.checks.limits import MOST_EXAMPLES
from ensemble.exchange.files.columns import TableColumns
from ensemble.exchange.files.row_keys import Codes, RowKeys, Texts, encode_texts
from ensemble.files.columns import ROLE_NAMES


def collect_details(
    columns: TableColumns, texts: Texts, aside: dict[str, NDArray[np.floating]], rows: RowKeys, examples: int
) -> tuple[ExampleDetails, list[str]]:
    """What is kept of a table's other columns, and those of which nothing is.

    A column is kept where it says the same of an example in every member and epoch.

    Args:
      columns: of the table.
      texts: R of each column.
      aside: (R,) of columns of numbers that turned out to be no classes.
      rows: what the rows are of.
      examples: N.
    """
    kept = dict[str, tuple[str, ...]]()
    ignored = list(columns.ignored)
    for column in (*columns.attributes, *columns.member_parts):
        if column in rows.used:
            continue
        values = _read_example_texts(texts[column], rows.examples, examples)
        constant = column in columns.member_parts and values is not None and len(set(values)) == 1
        if values is None or constant:
            ignored.append(column)
        else:
            kept[column] = values
    for column, numbers in aside.items():
        each = np.zeros(examples, numbers.dtype)
        each[rows.examples] = numbers
        if np.array_equal(each[rows.examples], numbers, equal_nan=True):
            kept[column] = tuple(f"{number:.6g}" for number in each.tolist())
        else:
            ignored.append(column)
    names = rows.example_names
    if not names or _are_counted(names):
        names = ()
        for column in list(kept):
            if column.strip().lower() in ROLE_NAMES["weak example"] and len(set(kept[column])) == examples:
                names = kept.pop(column)
                break
    details, left_out = clean_details(names, kept)
    return details, [*ignored, *left_out]


def _read_example_texts(column: pa.ChunkedArray, rows: Codes, examples: int) -> tuple[str, ...] | None:
    """Each example's text; None where two rows of one example differ."""
    encoded = encode_texts(column)
    if len(encoded.dictionary) > MOST_EXAMPLES:
        return None
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    each = np.zeros(examples, np.int64)
    each[rows] = codes
    if (each[rows] != codes).any():
        return None
    values = [*encoded.dictionary.to_pylist(), ""]  # the last for cells without a text
    return tuple(values[code] or "" for code in each.tolist())


def _are_counted(names: tuple[str, ...]) -> bool:
    count = len(names)
    return list(names) in ([*map(str, range(count))], [str(n + 1) for n in range(count)])
