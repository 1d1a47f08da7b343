"""Forty ways in which programs write the same table."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Dialect:
    """How a table is written; the defaults are those of pandas."""

    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    line_end: str = "\n"
    quote_all: bool = False
    before: str = ""
    between: str = ""
    after: str = ""
    spaces: bool = False
    change: Callable[[str], str] = str

    def write(self, rows: Rows) -> bytes:
        """A table whose first row is its header; cells with digits around a point are numbers."""
        sink = io.StringIO()
        quoting = csv.QUOTE_ALL if self.quote_all else csv.QUOTE_MINIMAL
        writer = csv.writer(sink, delimiter=self.delimiter, lineterminator="\n", quoting=quoting)
        for row in rows:
            cells = [self._write_number(cell) for cell in row]
            writer.writerow([f" {cell} " for cell in cells] if self.spaces else cells)
        header, _, rest = sink.getvalue().partition("\n")
        text = f"{self.before}{header}\n{self.between}{rest}{self.after}"
        return self.change(text).replace("\n", self.line_end).encode(self.encoding)

    def _write_number(self, cell: str) -> str:
        whole, point, rest = cell.partition(".")
        is_number = point and (whole.lstrip("-") + rest).isdigit()
        return f"{whole}{self.decimal}{rest}" if is_number else cell


PLAIN = Dialect()
_GERMAN = Dialect(delimiter=";", decimal=",")
_TABS = Dialect(delimiter="\t")
DIALECTS: dict[str, Dialect] = {
    "pandas": PLAIN,
    "R": replace(PLAIN, quote_all=True),
    "Windows": replace(PLAIN, line_end="\r\n"),
    "old Macs": replace(PLAIN, line_end="\r"),
    "with a mark": replace(PLAIN, encoding="utf-8-sig"),
    "Windows with a mark": replace(PLAIN, encoding="utf-8-sig", line_end="\r\n"),
    "cp1252": replace(PLAIN, encoding="cp1252"),
    "UTF-16": replace(PLAIN, encoding="utf-16"),
    "UTF-16 without a mark": replace(PLAIN, encoding="utf-16-le"),
    "UTF-16, big end first": replace(PLAIN, encoding="utf-16-be"),
    "German": _GERMAN,
    "German, Windows": replace(_GERMAN, line_end="\r\n"),
    "German, cp1252": replace(_GERMAN, encoding="cp1252", line_end="\r\n"),
    "German, with a mark": replace(_GERMAN, encoding="utf-8-sig"),
    "German, UTF-16": replace(_GERMAN, encoding="utf-16", line_end="\r\n"),
    "German, all quoted": replace(_GERMAN, quote_all=True),
    "German, sep=": replace(_GERMAN, before="sep=;\n", encoding="utf-8-sig", line_end="\r\n"),
    "German, tabs": replace(_TABS, decimal=","),
    "German, bars": replace(_GERMAN, delimiter="|"),
    "German, quoted commas": replace(PLAIN, decimal=","),
    "semicolons": replace(PLAIN, delimiter=";"),
    "semicolons, sep=": replace(PLAIN, delimiter=";", before="sep=;\n"),
    "commas, sep=": replace(PLAIN, before="sep=,\n"),
    "tabs": _TABS,
    "tabs, Windows": replace(_TABS, line_end="\r\n"),
    "tabs, UTF-16": replace(_TABS, encoding="utf-16"),
    "tabs, sep=": replace(_TABS, before="sep=\t\n"),
    "tabs, all quoted": replace(_TABS, quote_all=True),
    "bars": replace(PLAIN, delimiter="|"),
    "bars, all quoted": replace(PLAIN, delimiter="|", quote_all=True),
    "a comment before": replace(PLAIN, before="# written by a program\n"),
    "two comments and a blank line before": replace(PLAIN, before="# seed: 3\n# epochs: 5\n\n"),
    "blank lines before": replace(PLAIN, before="\n\n"),
    "a comment below the header": replace(PLAIN, between="# the first half\n"),
    "a comment at the end": replace(PLAIN, after="# the end\n"),
    "blank lines at the end": replace(PLAIN, after="\n\n"),
    "no line end": replace(PLAIN, change=lambda text: text.removesuffix("\n")),
    "spaces around cells": replace(PLAIN, spaces=True),
    "spaces around cells, German": replace(_GERMAN, spaces=True),
    "a comment, German, UTF-16": replace(_GERMAN, before="# seed: 3\n", encoding="utf-16", line_end="\r\n"),
}
assert len(DIALECTS) == 40
