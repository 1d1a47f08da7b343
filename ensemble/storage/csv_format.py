"""Cells of a CSV file that a spreadsheet opens without reckoning what is in them.

A text that begins like a formula is run as one, and can fetch an address or start a program:
https://owasp.org/www-community/attacks/CSV_Injection. Numbers stay numbers.
"""

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")  # the last four are full-width
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?(inf|nan)", re.IGNORECASE)


def escape_csv_formula(cell: Any) -> Any:
    """The cell; a text that begins like a formula gets an apostrophe before it, as OWASP says.

    Of line ends there is one kind in it: `csv` does not quote the others, which end the row.
    """
    if not isinstance(cell, str):
        return cell
    if _FORMULA.match(cell) and not NUMBER.fullmatch(cell):
        cell = f"'{cell}"
    return cell.replace("\r\n", "\n").replace("\r", "\n")


def format_csv(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as a CSV file, every cell defused; None is an empty one."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([escape_csv_formula(cell) for cell in row] for row in rows)
    return text.getvalue()
