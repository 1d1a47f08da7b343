"""Tables from outside, CSV or Parquet: encoding, delimiter, header and cells, the same at every entry point.

Excel begins a file with `sep=;`, or writes UTF-16 with tabs; older programs write cp1252; others put
lines that begin with `#` before the table, and NumPy its header in such a line. Some files have no
header at all. PyArrow parses the cells.
"""

import codecs
import csv
import functools
import io
import itertools
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa
import pyarrow.compute as pc

from ensemble.errors import DataError
from ensemble.files.numbers import COMMA, DecimalSignError, NumberCells, NumberRules, read_number_columns, trim_cells
from ensemble.files.table_process import CsvRowError, borrow_table_process
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import MAX_READ_BYTES, BoundedReader, open_bounded_file
from ensemble.storage.text_encoding import describe_text_encoding, detect_text_encoding, is_utf8_text

_MOST_HEADER = 2**18  # letters
_SAMPLE_BYTES = 2**19  # of the beginning, by which delimiter and header are found
_SAMPLE_ROWS = 200
_MOST_CELLS = 2**25  # some 30 bytes are needed for each
DECIMAL_COMMA_NOTE = "Numbers are read with a decimal comma."
_GAP = re.compile(rb"\n(?:\r?\n|#)")
_NO_RULES = NumberRules()
_NO_NUMBERS = ("?", "-", ".", "missing")  # in place of a number that is required
_MOST_LINE = 2**22  # letters, as much as is parsed at once
_COMMENT = "#"
_DELIMITERS = ",;\t|"
_FEWEST_STEPS = 2  # of a header that counts: 0, 1, 2
_SEPARATOR_LINE = re.compile(r"sep=(.)", re.IGNORECASE)  # as Excel begins a file
_WIDTH_ERROR = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
# What files of other kinds begin with, what they are, and what to do instead.
_OTHER_KINDS: tuple[tuple[bytes, str, str], ...] = (
    (b"PK\x03\x04", "a zip archive or a spreadsheet", "save the sheet as CSV, or the table as Parquet"),
    (b"\xd0\xcf\x11\xe0", "an Excel file", "save the sheet as CSV"),
    (b"\x1f\x8b", "packed with gzip", "unpack it first"),
    (b"BZh", "packed with bzip2", "unpack it first"),
    (b"\xfd7zXZ", "packed with xz", "unpack it first"),
    (b"(\xb5/\xfd", "packed with Zstandard", "unpack it first"),
    (b"\x93NUMPY", "a single NumPy array", "save a table as CSV or Parquet, or named arrays with np.savez"),
    (b"\x89HDF\r\n", "an HDF5 file", "save the table as CSV or Parquet"),
    (b"ARROW1", "an Arrow or Feather file", "save the table as Parquet"),
    (b"Obj\x01", "an Avro file", "save the table as Parquet"),
    (b"SQLite format 3", "an SQLite database", "save the table as CSV"),
    (b"\x80", "a pickle, which is not unpickled here", "save the table as CSV or Parquet"),
    (b"RDX3\n", "a file of R", "save the table with write.csv"),
    (b"%PDF", "a PDF", "save the table as CSV"),
    (b"{", "JSON", "save the table as CSV or Parquet"),
    (b"[{", "JSON", "save the table as CSV or Parquet"),
    (b"[\n", "JSON", "save the table as CSV or Parquet"),
    (b"<!", "a web page or XML", "save the table as CSV"),
    (b"<html", "a web page or XML", "save the table as CSV"),
    (b"<?xml", "a web page or XML", "save the table as CSV"),
)
_UNREADABLE_TABLE = (
    "it is not a table that can be read: save it as CSV in UTF-8, with the names of the columns in the first row, "
    "or as Parquet."
)


class TableError(DataError):
    """A file is not a readable table; says what to do, without the file's name."""


@dataclass(frozen=True)
class CsvLayout:
    """What is known of a CSV before its rows are read.

    Attributes:
      encoding: as Python calls it.
      names: of the columns.
      delimiter: what separates cells.
      start: where the rows begin, in letters from the beginning.
      lines: the number of the first row's line, from 1.
      sample: the cells of the first rows.
      has_gaps: whether lines may be blank or comments, so that rows cannot be counted by lines.
      notes: what was assumed, in sentences.
    """

    encoding: str
    names: list[str]
    delimiter: str
    start: int
    lines: int
    sample: list[list[str]]
    has_gaps: bool
    notes: list[str] = field(default_factory=list)

    def list_text_columns(self) -> set[str]:
        """The columns whose cells in the first rows are mostly not numbers."""
        return {name for place, name in enumerate(self.names) if not _is_mostly_numbers(self.sample, place)}

    def list_cells(self, name: str) -> list[str]:
        """The cells of a column in the first rows."""
        place = self.names.index(name)
        return [row[place] for row in self.sample if place < len(row)]


@dataclass(frozen=True, eq=False)
class Table:
    """The cells of a table.

    Attributes:
      cells: a column each, whose names have no spaces around them; of a CSV all are text, likewise.
      layout: of a CSV; None of a Parquet file.
      rules: what is known of its numbers.
    """

    cells: pa.Table
    layout: CsvLayout | None = None
    rules: NumberRules = _NO_RULES

    @property
    def names(self) -> list[str]:
        """The names of the columns, each once."""
        return list(self.cells.column_names)

    @property
    def rows(self) -> int:
        """Number of rows below the header."""
        return int(self.cells.num_rows)

    @property
    def notes(self) -> list[str]:
        """What was assumed, in sentences."""
        return list(self.layout.notes) if self.layout else []

    def has_decimal_comma(self, names: Sequence[str]) -> bool:
        """Whether numbers of columns were read with a decimal comma."""
        return any(each.decimal == COMMA for each in self.read_numbers(names).values())

    def list_number_notes(self, names: Sequence[str]) -> list[str]:
        """What was assumed of the numbers in columns, in sentences."""
        notes = [note for each in self.read_numbers(names).values() for note in each.notes]
        return [*([DECIMAL_COMMA_NOTE] if self.has_decimal_comma(names) else []), *notes]

    @functools.cached_property
    def _number_columns(self) -> tuple[dict[str, NumberCells], dict[str, str]]:
        texts = [field.name for field in self.cells.schema if is_text_type(field.type)]
        delimiter = self.layout.delimiter if self.layout else ""
        return read_number_columns({name: self.cells.column(name) for name in texts}, delimiter, self.rules)

    def read_numbers(self, names: Sequence[str]) -> dict[str, NumberCells]:
        """The columns of text among `names` that are numbers; the signs are decided by the whole table.

        Raises:
          DecimalSignError: one can be read in two ways.
        """
        numbers, ambiguous = self._number_columns
        for name in names:
            if name in ambiguous:
                raise DecimalSignError(ambiguous[name])
        return {name: numbers[name] for name in names if name in numbers}

    def require_numbers(self, names: Sequence[str]) -> dict[str, NumberCells]:
        """As `read_numbers`, where every cell has to be a number or empty.

        Raises:
          TableError: one is not; names its column and line.
          DecimalSignError: one can be read in two ways.
        """
        numbers = self.read_numbers(names)
        for name in names:
            column = self.cells.column(name)
            is_placeholder = pc.is_in(column, value_set=pa.array(_NO_NUMBERS))
            if name in numbers and numbers[name].strange is None and not pc.any(is_placeholder).as_py():
                continue
            cells = pc.if_else(is_placeholder, column.cast(pa.large_string()), trim_cells(column)).to_pylist()
            row = next((row for row, cell in enumerate(cells) if cell and not is_plain_number(cell)), 0)
            cell = column[row].as_py()
            raise TableError(
                f"its column “{name:.60}” has “{cell:.40}” in {self.describe_row(row)}: give a number there."
            )
        return numbers

    def describe_row(self, row: int) -> str:
        """Where a row, counted from 0, is in its file: "line 3" of a CSV without blank lines, else "row 2"."""
        return f"line {row + self.layout.lines:,}" if self.layout and self._has_row_per_line else f"row {row + 1:,}"

    @functools.cached_property
    def _has_row_per_line(self) -> bool:
        texts = [column for column in self.cells.columns if is_text_type(column.type)]
        breaks = any(pc.any(pc.match_substring(column, "\n")).as_py() for column in texts)
        return self.layout is not None and not self.layout.has_gaps and not breaks

    def iterate_rows(self) -> Iterator[tuple[str, dict[str, str]]]:
        """The rows of a CSV that are not empty: where each is in the file, and its cells by column."""
        columns = [column.to_pylist() for column in self.cells.columns]
        for number, row in enumerate(zip(*columns, strict=True)):
            if any(row):
                yield self.describe_row(number), dict(zip(self.names, row, strict=True))


def read_table_file(path: Path) -> Table:
    """The table in a CSV file.

    Raises:
      DataError: it cannot be read, or is none; names the file.
    """
    try:
        with open_bounded_file(path) as file:
            return read_csv_table(file, name=path.name)
    except TableError as error:
        raise DataError(f"{path.name}: {error}") from error
    except (DamagedFileError, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(
            f"{path.name} cannot be read ({reason}): give a CSV file that exists and that you may read."
        ) from error


def read_csv_table(
    file: BoundedReader,
    check_size: Callable[[int, int], None] | None = None,
    columns: Sequence[str] | None = None,
    rules: NumberRules = _NO_RULES,
    name: str = "The table",
    layout: CsvLayout | None = None,
) -> Table:
    """The table in a CSV.

    Args:
      file: its content, from the beginning.
      check_size: is given the number of rows and of columns as they are read, and raises where they are too many;
        None for at most `_MOST_CELLS` cells.
      columns: those to read, as `find_csv_layout` names them; None for all.
      rules: of `Table`.
      name: what the notes call it.
      layout: of the file, where it is known.

    Raises:
      TableError: it is none, or has too many cells, rows of different lengths, or a column twice.
    """
    layout = layout or find_csv_layout(file, name)
    check_distinct_columns(layout.names)
    wanted = layout.names if columns is None else list(columns)
    schema = pa.schema([(name, pa.string()) for name in wanted])
    batches, rows = list[pa.RecordBatch](), 0
    with borrow_table_process() as process, _open_utf8_rows(file, layout) as (descriptor, start):
        path = process.share_file(descriptor)
        try:
            for batch in process.read_csv(path, layout.names, wanted, layout.delimiter, start):
                trimmed = [pc.utf8_trim_whitespace(column) for column in batch.columns]
                batches.append(pa.record_batch(trimmed, schema))
                rows += batch.num_rows
                (check_size or check_cell_count)(rows, len(wanted))
        except CsvRowError as error:
            raise TableError(_describe_row_error(str(error), layout)) from error
        except DamagedFileError as error:
            raise TableError(str(error)) from error
    return Table(pa.Table.from_batches(batches, schema), layout, rules)


def check_cell_count(rows: int, columns: int) -> None:
    """Raise TableError if a table has more cells than 1 GB of memory is enough for."""
    if rows * columns > _MOST_CELLS:
        raise TableError(
            f"it has {rows:,} rows or more and {columns:,} columns, and at most {_MOST_CELLS:,} cells are "
            "taken: give a sample of the rows, or fewer columns."
        )


def check_distinct_columns(columns: Sequence[str]) -> None:
    """Raise TableError if two columns have the same name, except for spaces around it."""
    names = [column.strip() for column in columns]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(f"its column “{twice:.60}” appears twice. Keep one of them.")


def find_csv_layout(file: BoundedReader, name: str = "The table") -> CsvLayout:
    """The encoding, delimiter and header of a CSV, by its first rows.

    Raises:
      TableError: it is no table of text.
    """
    start = _read_start(file)
    _check_table_kind(start)
    encoding = detect_text_encoding(start, lambda: is_utf8_text(_iterate_pieces(file)))
    notes = list(filter(None, [describe_text_encoding(encoding, name)]))
    text = codecs.getincrementaldecoder(encoding)("ignore").decode(start)
    if not text.strip() or any(letter < " " and letter not in "\t\r\n" for letter in text[:4096]):
        raise TableError(_UNREADABLE_TABLE)
    place, lines, delimiter, comment = _skip_first_lines(text)
    line = text[place:].partition("\n")[0].rstrip("\r")
    if len(line) >= _MOST_HEADER:
        raise TableError(_UNREADABLE_TABLE)
    delimiter = delimiter or _find_delimiter(line)
    if not encoding.startswith("utf-8") and delimiter not in line:
        raise TableError(_UNREADABLE_TABLE)
    has_gaps = not encoding.startswith("utf-8") or _has_gaps(file)
    rows, ends = _split_first_rows(text[place:], delimiter, is_whole=len(start) < _SAMPLE_BYTES)
    header = rows[0]
    named = _split_line(comment, delimiter) if comment else []
    if place:
        notes.append("Lines before the header of the table were passed over.")
    if len(named) == len(header) > 1 and all(map(is_plain_number, header)):
        header = named  # as NumPy writes it: the header is a comment
    elif _is_row_of_data(header, rows[1:]):
        header = [f"column {number}" for number in range(1, len(header) + 1)]
        notes.append(
            f"The first row is data, and no row names the columns: they are called {header[0]} to {header[-1]}."
        )
    else:
        place, lines, rows = place + ends[0][0], lines + ends[0][1], rows[1:]
    return CsvLayout(
        encoding=encoding,
        names=[name.strip() for name in header],
        delimiter=delimiter,
        start=place,
        lines=lines,
        sample=rows,
        has_gaps=has_gaps,
        notes=notes,
    )


def _check_table_kind(start: bytes) -> None:
    """Refuse a file that begins as one of another kind does, which the TableError names with what to do."""
    if not start:
        raise TableError("it is empty: save it again.")
    for prefix, what, remedy in _OTHER_KINDS:
        if start.startswith(prefix):
            raise TableError(f"it is {what}: {remedy}.")


def is_text_type(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_plain_number(cell: str) -> bool:
    """Whether a cell is a number with a decimal point, or with a decimal comma."""
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return cell.strip().lower() not in ("nan", "inf", "-inf", "infinity")


def _skip_first_lines(text: str) -> tuple[int, int, str, str]:
    """Where the table begins: letters and lines before it, a delimiter that they name, and their last comment."""
    place, lines, delimiter, comment = 0, 1, "", ""
    while place < len(text):
        end = text.find("\n", place)
        line = text[place : end if end >= 0 else len(text)].rstrip("\r")
        if match := _SEPARATOR_LINE.fullmatch(line):
            delimiter = match[1]
        elif line.startswith(_COMMENT):
            comment = line.lstrip(_COMMENT).strip()
        elif line.strip(" ,;\t"):
            return place, lines, delimiter, comment
        place, lines = (end + 1 if end >= 0 else len(text)), lines + 1
    raise TableError(_UNREADABLE_TABLE)


def _split_first_rows(text: str, delimiter: str, is_whole: bool) -> tuple[list[list[str]], list[tuple[int, int]]]:
    """The first rows, and where each ends: letters and lines from the beginning."""
    rows, ends, letters = list[list[str]](), list[tuple[int, int]](), 0

    def count_letters() -> Iterator[str]:
        nonlocal letters
        for line in io.StringIO(text, newline=""):
            letters += len(line)
            yield line

    reader = csv.reader(count_letters(), delimiter=delimiter)
    try:
        for row in reader:
            if row:
                rows.append(row)
                ends.append((letters, reader.line_num))
            if len(rows) > _SAMPLE_ROWS:
                break
    except csv.Error as error:
        raise TableError(
            f"its first rows cannot be read ({error!s:.60}): save it with ordinary line ends, and "
            "quotes around cells that hold the delimiter."
        ) from error
    if not is_whole and len(rows) > 1 and len(rows) <= _SAMPLE_ROWS:
        rows, ends = rows[:-1], ends[:-1]  # the last may be cut off
    return rows, ends


def _is_row_of_data(header: list[str], rows: list[list[str]]) -> bool:
    """Whether the first row is data: its cell is a number in each column of numbers.

    Numbers that count (0, 1, 2 or 2019, 2020, 2021) and levels of quantiles are names. If there are columns of
    text too, the first row is data only if one of its texts is repeated below.
    """
    places = [place for place in range(len(header)) if _is_mostly_numbers(rows, place)]
    texts = sorted({*range(len(header))} - {*places})
    if not places or not all(is_plain_number(header[place]) for place in places):
        return False
    numbers = [float(header[place].replace(",", ".")) for place in places]
    steps = {round(later - earlier, 9) for earlier, later in itertools.pairwise(numbers)}
    counts = len(numbers) > _FEWEST_STEPS and len(steps) == 1 and steps != {0.0}
    if counts or (texts and not any(_is_repeated(rows, place, header[place]) for place in texts)):
        return False
    are_levels = all(0 < number < 1 for number in numbers) and len(numbers) > 1 and min(steps) > 0
    return not are_levels


def _is_repeated(rows: list[list[str]], place: int, cell: str) -> bool:
    return any(len(row) > place and row[place] == cell for row in rows)


def _is_mostly_numbers(rows: list[list[str]], place: int) -> bool:
    cells = [row[place].strip() for row in rows if place < len(row) and row[place].strip()]
    return 2 * sum(map(is_plain_number, cells)) >= len(cells)


@contextmanager
def _open_utf8_rows(file: BoundedReader, layout: CsvLayout) -> Iterator[tuple[int, int]]:
    """A descriptor of the table in UTF-8, and where its rows begin in bytes.

    Other encodings, and tables with comments among their rows, are copied to a temporary file.
    """
    raw = cast(io.RawIOBase | io.BytesIO, file.raw)
    if not layout.has_gaps and not isinstance(raw, io.BytesIO):
        sample = _read_start(file).decode("utf-8-sig" if layout.encoding == "utf-8-sig" else "utf-8", "ignore")
        mark = len(codecs.BOM_UTF8) if layout.encoding == "utf-8-sig" else 0
        yield raw.fileno(), mark + len(sample[: layout.start].encode())
        return
    with tempfile.TemporaryFile() as copy:
        _copy_rows(file, layout, cast(BinaryIO, copy))
        copy.flush()
        yield copy.fileno(), 0


def _copy_rows(file: BoundedReader, layout: CsvLayout, copy: BinaryIO) -> None:
    """Write the rows in UTF-8, without lines that begin with # and are not rows."""
    decoder, left, skipped = codecs.getincrementaldecoder(layout.encoding)("replace"), "", layout.start

    is_quoted = False  # whether a line begins within a quoted cell

    def write_lines(lines: list[str]) -> None:
        nonlocal is_quoted
        kept = list[str]()
        for line in lines:
            if is_quoted or not _is_comment(line, layout):
                kept.append(line)
                is_quoted ^= line.count('"') % 2 == 1
        copy.write("".join(kept).encode("utf-8", "replace"))

    for piece in _iterate_pieces(file):
        text = left + decoder.decode(piece)
        if skipped:
            skipped, text = max(0, skipped - len(text)), text[skipped:]
            if skipped or not text:
                left = ""
                continue
        *whole, left = text.split("\n")
        if len(left) > _MOST_LINE:
            raise TableError(f"it has a line of more than {_MOST_LINE:,} letters: save it with ordinary line ends.")
        write_lines([line + "\n" for line in whole])
    if left := left + decoder.decode(b"", final=True):
        write_lines([left])


def _is_comment(line: str, layout: CsvLayout) -> bool:
    return line.startswith(_COMMENT) and len(_split_line(line, layout.delimiter)) != len(layout.names)


def _has_gaps(file: BoundedReader) -> bool:
    last = b""
    for piece in _iterate_pieces(file):
        if _GAP.search(text := last + piece):
            return True
        last = text[-2:]
    return False


def _read_start(file: BoundedReader) -> bytes:
    pieces, left = list[bytes](), _SAMPLE_BYTES
    for piece in _iterate_pieces(file):
        pieces.append(piece[:left])
        left -= len(pieces[-1])
        if not left:
            break
    return b"".join(pieces)


def _iterate_pieces(file: BoundedReader) -> Iterator[bytes]:
    file.seek(0)
    while piece := file.read(MAX_READ_BYTES):
        yield piece


def _find_delimiter(line: str) -> str:
    best = max(_DELIMITERS, key=line.count)
    return " " if best not in line and " " in line.strip() else best


def _split_line(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])
    except csv.Error:
        return []


def _describe_row_error(message: str, layout: CsvLayout) -> str:
    if match := _WIDTH_ERROR.search(message):
        return (
            f"its line {int(match[1]) - 1 + layout.lines} has {match[3]} cells, and the first row {match[2]}: "
            "save it again, with quotes around text that holds the delimiter."
        )
    if "straddling" in message:
        return (
            "it has a row of more than 4 MB: save it with ordinary line ends, and close each quote in the row that "
            "it was opened in."
        )
    return f"it is not a readable table ({' '.join(message.split()):.100}): save it again as CSV in UTF-8."
