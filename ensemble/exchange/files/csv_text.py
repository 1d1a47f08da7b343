"""The text of a table as spreadsheets, R and pandas write it: its encoding, and where it begins.

Excel begins a file with `sep=;`, or writes UTF-16 with tabs; older programs write cp1252; others
put lines before the table that begin with `#`, and NumPy its header in such a line.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ensemble.errors import PredictionsError
from ensemble.storage.arrays.npy import MAX_READ_BYTES, BoundedReader
from ensemble.storage.text_encoding import describe_text_encoding, detect_text_encoding, is_utf8_text

_MOST_HEADER = 2**18
_SAMPLE_BYTES = 2**19  # of the beginning, by which columns are told
_SAMPLE_ROWS = 200
_MOST_LINE = 2**22  # letters, as much as is parsed at once
_COMMENT = "#"
_SEPARATOR_LINE = re.compile(r"sep=(.)", re.IGNORECASE)
_DELIMITERS = ",;\t|"
UNREADABLE_TEXT = (
    "it is neither .npz, Parquet nor a table whose first row names its columns: "
    "save it as one of them, a table in UTF-8."
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class CsvText:
    """What is known of a table before its rows are read.

    Attributes:
      encoding: as Python calls it.
      names: of the columns.
      delimiter: what parts cells.
      decimal: the decimal point, "." or ",".
      rows: the cells of the first rows.
      first_line: how many lines stand before the first row.
      comments: whether lines among the rows begin with "#".
      notes: what was assumed.
    """

    encoding: str
    names: list[str]
    delimiter: str
    decimal: str
    rows: list[list[str]]
    first_line: int
    comments: bool
    notes: list[str] = field(default_factory=list)

    def list_text_columns(self) -> set[str]:
        """The columns of which most cells of the first rows are no numbers."""
        return {name for place, name in enumerate(self.names) if not self._is_mostly_numbers(place)}

    def list_cells(self, name: str) -> list[str]:
        """The cells of a column in the first rows."""
        place = self.names.index(name)
        return [row[place] for row in self.rows if place < len(row)]

    def _is_mostly_numbers(self, place: int) -> bool:
        cells = [row[place].strip() for row in self.rows if place < len(row) and row[place].strip()]
        numbers = sum(is_number(cell, self.decimal) for cell in cells)
        return 2 * numbers >= len(cells)


class _Utf8Rows(io.RawIOBase):
    """The rows of a table as UTF-8, in place of a file that is not, or has comments among them."""

    def __init__(self, raw: io.RawIOBase, text: CsvText) -> None:
        raw.seek(0)
        self._raw, self._text = raw, text
        self._lines = self._iterate_lines()
        self._left = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        """As many bytes, fewer at the end."""
        parts = [self._left]
        length = len(self._left)
        for line in self._lines:
            parts.append(line)
            length += len(line)
            if 0 <= size <= length:
                break
        content = b"".join(parts)
        end = len(content) if size < 0 else size
        self._left = content[end:]
        return content[:end]

    def _iterate_lines(self) -> Iterator[bytes]:
        for number, line in enumerate(_iterate_decoded_lines(self._raw, self._text.encoding)):
            if number < self._text.first_line or _is_comment(line, self._text):
                continue
            yield line.encode("utf-8", "replace")


def read_csv_text(file: BoundedReader) -> CsvText:
    """The encoding, header and first rows of a table.

    Raises:
      PredictionsError: it is no table.
    """
    start = _read_start(file)
    encoding = detect_text_encoding(start, lambda: is_utf8_text(_iterate_pieces(file)))
    notes = list(filter(None, [describe_text_encoding(encoding, "The table")]))
    text = start.decode(encoding, "ignore")
    if not text.strip() or any(letter < " " and letter not in "\t\r\n" for letter in text[:4096]):
        raise PredictionsError(UNREADABLE_TEXT)
    lines = text.split("\n")
    place, delimiter, comment = 0, "", ""
    while place < len(lines):
        line = lines[place].strip()
        if match := _SEPARATOR_LINE.fullmatch(line):
            delimiter = match[1]
        elif line.startswith(_COMMENT):
            comment = line
        elif line.strip(" ,;"):
            break
        place += 1
    if place == len(lines):
        raise PredictionsError(UNREADABLE_TEXT)
    header, first_line = lines[place].rstrip("\r"), place + 1
    if len(header) >= _MOST_HEADER:
        raise PredictionsError(UNREADABLE_TEXT)
    if comment and _is_row_of_numbers(header, delimiter):
        named = comment.lstrip(_COMMENT).strip()
        if len(_split_line(named, delimiter)) == len(_split_line(header, delimiter)):
            header, first_line = named, place
    delimiter = delimiter or _find_delimiter(header)
    if encoding not in ("utf-8", "utf-8-sig") and delimiter not in header:
        raise PredictionsError(UNREADABLE_TEXT)
    names = _split_line(header, delimiter)
    rest = lines[first_line:-1] if len(start) >= _SAMPLE_BYTES else lines[first_line:]
    rows = [_split_line(line.rstrip("\r"), delimiter) for line in rest[:_SAMPLE_ROWS] if line.strip()]
    if place:
        notes.append("Lines before the header of the table were passed over.")
    return CsvText(
        encoding=encoding,
        names=names,
        delimiter=delimiter,
        decimal=_find_decimal_point(rows, delimiter),
        rows=rows,
        first_line=first_line,
        comments=_has_comments(file, encoding),
        notes=notes,
    )


def open_csv_rows(raw: io.RawIOBase, text: CsvText) -> io.RawIOBase:
    """The rows below the header, in UTF-8: the file itself where that is what it holds."""
    if text.encoding not in ("utf-8", "utf-8-sig") or text.comments:
        return _Utf8Rows(raw, text)
    raw.seek(0)
    place, left = 0, text.first_line
    while left:
        piece = raw.read(MAX_READ_BYTES) or b""
        ends = piece.count(b"\n")
        if not piece or ends >= left:
            at = -1
            for _ in range(left if piece else 0):
                at = piece.index(b"\n", at + 1)
            place += at + 1
            break
        left, place = left - ends, place + len(piece)
    raw.seek(place)
    return raw


def _is_comment(line: str, text: CsvText) -> bool:
    """Whether a line below the header begins with "#" and is no row of the table."""
    return line.startswith(_COMMENT) and len(_split_line(line, text.delimiter)) != len(text.names)


def is_number(cell: str, decimal: str) -> bool:
    """Whether a cell is a number with this decimal point."""
    try:
        float(cell.replace(decimal, ".") if decimal != "." else cell)
    except ValueError:
        return False
    return True


def _read_start(file: BoundedReader) -> bytes:
    file.seek(0)
    pieces, left = list[bytes](), _SAMPLE_BYTES
    while left and (piece := file.read(min(left, MAX_READ_BYTES))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _iterate_pieces(file: BoundedReader) -> Iterator[bytes]:
    file.seek(0)
    while piece := file.read(MAX_READ_BYTES):
        yield piece


def _has_comments(file: BoundedReader, encoding: str) -> bool:
    """Whether a line of a UTF-8 file, but the first, begins with "#"."""
    if not encoding.startswith("utf-8"):
        return True
    last = b""
    for piece in _iterate_pieces(file):
        if b"\n#" in last + piece:
            return True
        last = piece[-1:]
    return False


def _iterate_decoded_lines(raw: io.RawIOBase, encoding: str) -> Iterator[str]:
    """Lines with their ends; a line may be longer than what is read at once."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    left = ""
    while piece := raw.read(MAX_READ_BYTES):
        *lines, left = (left + decoder.decode(piece)).split("\n")
        if len(left) > _MOST_LINE:
            raise PredictionsError(
                f"it has a line of more than {_MOST_LINE:,} letters: save it with ordinary line ends."
            )
        yield from (line + "\n" for line in lines)
    left += decoder.decode(b"", final=True)
    if left:
        yield left


def _is_row_of_numbers(line: str, delimiter: str) -> bool:
    cells = _split_line(line, delimiter or _find_delimiter(line))
    return len(cells) > 1 and all(is_number(cell.strip(), ".") for cell in cells)


def _find_delimiter(header: str) -> str:
    best = max(_DELIMITERS, key=header.count)
    return " " if best not in header and " " in header.strip() else best


def _find_decimal_point(rows: list[list[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    return "," if any(_DECIMAL_COMMA.fullmatch(cell.strip()) for row in rows for cell in row) else "."


def _split_line(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter or _find_delimiter(line)), [])
    except csv.Error as error:
        raise PredictionsError(
            f"its first row cannot be read ({error!s:.60}): save it with ordinary line ends, and "
            "quotes around names that hold the delimiter."
        ) from error
