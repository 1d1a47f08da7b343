"""The rows of a .csv file, gzipped or not, line by line, whatever parts its columns."""

import contextlib
import csv
import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from ensemble.errors import DataError
from ensemble.storage.disk_errors import describe_error_with_path
from ensemble.storage.plain_files import open_plain_file

_SEPARATORS = ",;\t"
MAX_LINE = 2**24  # bytes of one row
MAX_BYTES = 2**35  # bytes of a file, unpacked
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class CsvRows:
    """A .csv file whose rows have a line each.

    Attributes:
      path: the file.
      separator: what parts its columns: the most frequent of `_SEPARATORS` in its first line.
    """

    path: Path
    separator: str

    @staticmethod
    def open_file(path: Path) -> "CsvRows":
        """A file, with the separator that its first line has.

        Raises:
          DataError: it cannot be read, or is no text.
        """
        first = next(_iterate_lines(path), "")
        if "\0" in first:
            raise DataError(f"{path.name} is not text in UTF-8: save it as CSV in UTF-8.")
        return CsvRows(path, max(_SEPARATORS, key=first.count))

    def iterate_rows(self) -> Iterator[tuple[int, list[str]]]:
        """Each row that is not empty, and the number of its line from 1.

        Raises:
          DataError: the file is damaged, or has a line of more than 16 MB.
        """
        for number, line in enumerate(_iterate_lines(self.path), start=1):
            text = line.rstrip("\r\n")
            if not text:
                continue
            if '"' not in text:
                yield number, text.split(self.separator)
                continue
            try:
                yield number, next(csv.reader([text], delimiter=self.separator))
            except (csv.Error, StopIteration) as error:
                raise DataError(
                    f"{self.path.name} cannot be read in line {number:,} ({error}): save it as CSV again."
                ) from error


def _iterate_lines(path: Path) -> Iterator[str]:
    try:
        with contextlib.ExitStack() as held:
            file: IO[bytes] = held.enter_context(open_plain_file(path))
            if path.name.lower().endswith(".gz"):
                file = cast(IO[bytes], held.enter_context(gzip.GzipFile(fileobj=file)))
            total = 0
            while line := file.readline(MAX_LINE + 1):
                total += len(line)
                if total > MAX_BYTES:
                    raise DataError(
                        f"{path.name} takes more than {MAX_BYTES / 2**30:.0f} GB unpacked: add a part of it."
                    )
                if len(line) > MAX_LINE:
                    raise DataError(
                        f"{path.name} has a line of more than {MAX_LINE / 2**20:.0f} MB: "
                        "give each image a line of its own."
                    )
                yield _decode_line(line)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path.name} is damaged or truncated: use another copy.") from error
    except OSError as error:
        raise DataError(f"{path.name} cannot be read ({describe_error_with_path(error)}): use another.") from error


def _decode_line(line: bytes) -> str:
    """A line in UTF-8, else as Windows writes Western European text."""
    try:
        return line.decode("utf-8").removeprefix(_BYTE_ORDER_MARK)
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")
