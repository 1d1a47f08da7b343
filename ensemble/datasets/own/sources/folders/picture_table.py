"""A table beside pictures, a row a picture: CSV, TSV or JSON lines; columns are found by name."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ensemble.errors import DataError
from ensemble.files.table import read_table_file
from ensemble.storage.disk_errors import describe_error_with_path
from ensemble.storage.plain_files import open_plain_file
from ensemble.storage.text_encoding import describe_text_encoding, detect_text_encoding, is_utf8_text

_MAX_TABLE_BYTES = 2**28
_MAX_LINE_CHARACTERS = 100_000
_MAX_COLUMNS = 1_100  # a class each, and a few besides
TABLE_SUFFIXES = (".csv", ".tsv", ".jsonl")


@dataclass(frozen=True)
class PictureTable:
    """A table as it stands in its file.

    Attributes:
      path: of the file.
      names: of the columns, in lower case with underscores.
      titles: of the columns, as they are spelt.
      rows: the cells of each row, as many as there are columns; in JSON lines a value that is not
        there is "".
      places: where each row stands in the file: "line 3".
      notes: what was assumed of the file, a sentence each.
    """

    path: Path
    names: tuple[str, ...]
    titles: tuple[str, ...]
    rows: list[list[str]]
    places: list[str]
    notes: list[str] = field(default_factory=list)

    def list_cells(self, column: int) -> list[str]:
        """The cells of a column, without blanks around them."""
        return [row[column].strip() for row in self.rows]

    def iterate_rows(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Where each row is in the file, and its cells by column."""
        for place, row in zip(self.places, self.rows, strict=True):
            yield place, {name: cell.strip() for name, cell in zip(self.names, row, strict=True)}

    def list_other_titles(self, names: Collection[str]) -> list[str]:
        """The columns that have none of these names, as they are spelled."""
        return [title for title, name in zip(self.titles, self.names, strict=True) if name not in names]

    def find_columns(self, names: Iterable[str]) -> list[int]:
        """Which columns have one of these names, those named first in front."""
        return [self.names.index(name) for name in names if name in self.names]


def read_picture_table(path: Path) -> PictureTable:
    """The table in a file.

    Args:
      path: in UTF-8, UTF-16 or cp1252; CSV whose columns are divided by commas, semicolons, tabs
        or bars, perhaps below comments and `sep=;`; or one JSON object a line.

    Raises:
      DataError: it cannot be read, or is no table.
    """
    if path.suffix.lower() == ".jsonl":
        return _parse_json_lines(path, *read_table_lines(path))
    table = read_table_file(path)
    names = tuple(map(normalize_column_name, table.names))
    _check_names(path, names)
    places, rows = [], []
    for place, cells in table.iterate_rows():
        places.append(place)
        rows.append(list(cells.values()))
    return PictureTable(path=path, names=names, titles=tuple(table.names), rows=rows, places=places, notes=table.notes)


def read_table_lines(path: Path) -> tuple[list[str], list[str]]:
    """The lines of a text file, and what was assumed of its encoding.

    Raises:
      DataError: it cannot be read, is too large, empty or no text of lines.
    """
    try:
        with open_plain_file(path) as file:
            content = file.read(_MAX_TABLE_BYTES + 1)
    except OSError as error:
        raise DataError(
            f"{path.name} cannot be read ({describe_error_with_path(error)}): make it readable "
            "for you, or take it out of the folder."
        ) from error
    if len(content) > _MAX_TABLE_BYTES:
        raise DataError(f"{path.name} is larger than {_MAX_TABLE_BYTES / 2**20:.0f} MB.")
    encoding = detect_text_encoding(content, lambda: is_utf8_text([content]))
    lines = content.decode(encoding, "replace").splitlines()
    if not lines or max(map(len, lines)) > _MAX_LINE_CHARACTERS:
        raise DataError(f"{path.name} is no table of lines.")
    return lines, list(filter(None, [describe_text_encoding(encoding, path.name)]))


def normalize_column_name(name: str) -> str:
    """A column's name as it is compared: "Class ID" and "class-id" are "class_id"."""
    return "_".join(name.strip().lower().replace("-", " ").replace("_", " ").split())


def _parse_json_lines(path: Path, lines: Sequence[str], notes: list[str]) -> PictureTable:
    """Hugging Face's metadata.jsonl: an object a line, whose values are text or numbers."""
    objects, numbers = [], []
    columns: dict[str, None] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"Line {number:,} of {path.name} is no JSON: repair it.") from error
        if not isinstance(values, dict):
            raise DataError(f"Line {number:,} of {path.name} is no JSON object: repair it.")
        cells = {name.strip(): str(value) for name, value in values.items() if isinstance(value, str | int | float)}
        columns |= dict.fromkeys(cells)
        objects.append(cells)
        numbers.append(number)
        _check_names(path, tuple(columns))
    titles = tuple(columns)
    rows = [[cells.get(title, "") for title in titles] for cells in objects]
    names = tuple(map(normalize_column_name, titles))
    return PictureTable(
        path=path, names=names, titles=titles, rows=rows, places=[f"line {n:,}" for n in numbers], notes=notes
    )


def _check_names(path: Path, names: Sequence[str]) -> None:
    if len(names) > _MAX_COLUMNS:
        raise DataError(f"{path.name} has {len(names):,} columns, more than {_MAX_COLUMNS:,}.")
