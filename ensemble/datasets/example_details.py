"""What examples are called, and what else is known of each: kept as text beside predictions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.request import sanitize_text
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray
from ensemble.storage.arrays.npz import read_arrays, write_arrays

_MOST_COLUMNS = 20  # beside the names
_MOST_CELLS = 2_000_000  # of all columns together
MAX_CELL_LENGTH = 200  # letters that are kept of a name or a cell
MOST_BYTES = 2**30  # of a file
_CONTENT = ExpectedArray(("K",), "uint8")  # UTF-8 of a JSON object, the array `content`


@dataclass(frozen=True)
class ExampleDetails:
    """Names of N examples, and further columns of a table of them.

    Attributes:
      names: N of them, or none.
      columns: N texts each, by the column's name.
    """

    names: tuple[str, ...] = ()
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether anything is known."""
        return bool(self.names or self.columns)

    def describe_example(self, number: int) -> str:
        """An example's name, or "" where it has none."""
        return self.names[number] if self.names else ""

    def describe_columns(self, number: int) -> list[str]:
        """What else is known of an example, as "age: 61"; nothing of empty cells."""
        return [f"{name}: {values[number]}" for name, values in self.columns.items() if values[number]]

    def describe_tile(self, number: int) -> list[str]:
        """What stands for an example that has no image: its text or columns, else its name."""
        if len(self.columns) == 1:
            (values,) = self.columns.values()
            return [values[number]] if values[number] else []
        return self.describe_columns(number) or list(filter(None, [self.describe_example(number)]))

    def take(self, numbers: Sequence[int] | NDArray[np.integer]) -> Self:
        """The same of some examples, in this order."""
        chosen = list(map(int, numbers))
        return type(self)(
            tuple(self.names[n] for n in chosen) if self.names else (),
            {name: tuple(values[n] for n in chosen) for name, values in self.columns.items()},
        )


NO_DETAILS = ExampleDetails()


def clean_details(names: Sequence[str], columns: Mapping[str, Sequence[str]]) -> tuple[ExampleDetails, list[str]]:
    """Details as they are kept: texts that can be shown, cut where they are long.

    Args:
      names: N, or none.
      columns: N texts each.

    Returns:
      The details, and the names of columns that are too many to be kept.
    """
    examples = max([len(names), *map(len, columns.values())], default=0)
    most = min(_MOST_COLUMNS, _MOST_CELLS // max(1, examples))
    kept = dict(list(columns.items())[:most])
    details = ExampleDetails(
        tuple(map(_clean_cell, names)),
        {_clean_cell(name): tuple(map(_clean_cell, values)) for name, values in kept.items()},
    )
    return details, list(columns)[most:]


def write_details(path: Path, details: ExampleDetails) -> None:
    """Write a file of details; OSError where it cannot be written."""
    content = np.frombuffer(serialize_details(details).encode(), np.uint8)
    write_arrays(path, {"content": content})


def serialize_details(details: ExampleDetails) -> str:
    """The details as JSON, which `parse_details` reads."""
    return json.dumps({"names": details.names, "columns": dict(details.columns)})


def read_details(path: Path, examples: int) -> ExampleDetails:
    """The details in a file of `write_details`; none where there is no file.

    Args:
      path: the file.
      examples: N.

    Raises:
      DamagedFileError: it holds something else, or of another number of examples.
      OSError: it cannot be read.
    """
    if not path.exists():
        return NO_DETAILS
    content = read_arrays(path, {"content": _CONTENT}, MOST_BYTES)["content"]
    return parse_details(content.tobytes(), examples)


def parse_details(content: bytes, examples: int) -> ExampleDetails:
    """The details of N examples in the bytes of `serialize_details`, from whomever.

    Raises:
      DamagedFileError: they are something else, or of another number of examples.
    """
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DamagedFileError("it is no JSON") from error
    if not isinstance(values, dict) or not isinstance(columns := values.get("columns"), dict):
        raise DamagedFileError("it holds no details of examples")
    names = values.get("names")
    if names and not _is_text_list(names, examples):
        raise DamagedFileError("its names are not one text for each example")
    if not all(_is_text_list(column, examples) for column in columns.values()):
        raise DamagedFileError("a column is not one text for each example")
    return clean_details(names or (), columns)[0]


def _is_text_list(values: Any, count: int) -> bool:
    return isinstance(values, list) and len(values) == count and all(isinstance(value, str) for value in values)


def _clean_cell(text: str) -> str:
    return sanitize_text(text)[:MAX_CELL_LENGTH]
