"""What is shown of the predictions, as files to keep."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ensemble.analysis.predictions import Predictions
from ensemble.storage import csv_cells


def members_table(made: Predictions, number: int, names: Sequence[str]) -> pd.DataFrame:
    """One image: a row for the ensemble and each member, a column for each class."""
    rows = np.vstack([made.averaged[number], made.probabilities[:, number]])
    who = ["ensemble", *(f"member {m + 1}" for m in range(made.members))]
    frame = pd.DataFrame(rows, columns=list(names))
    frame.insert(0, "who", who)
    frame.insert(1, "says", np.asarray(names, object)[rows.argmax(axis=1)])
    return frame


def of_one(made: Predictions, number: int, names: Sequence[str]) -> bytes:
    """`members_table` as a CSV file."""
    return csv(members_table(made, number, names))


def csv(frame: pd.DataFrame) -> bytes:
    """A table as a CSV file, six figures to a number; no text in it is a formula."""
    return defused(frame).to_csv(index=False, float_format="%.6g").encode()


def defused(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with its texts and its columns' names as `csv_cells.defused` makes them."""
    safe = frame.rename(columns=csv_cells.defused)
    for at in texts(safe):
        safe.isetitem(at, safe.iloc[:, at].map(csv_cells.defused))
    return safe


def texts(frame: pd.DataFrame) -> list[int]:
    """The places of the columns that may hold text."""
    return [at for at, kind in enumerate(frame.dtypes) if kind.kind not in "biufM"]


def on_screen(frame: pd.DataFrame) -> "pd.io.formats.style.Styler":
    """A table for the screen, whose own button makes a CSV file of it without asking us.

    The file has what a cell holds, defused; the screen shows the text as it is.
    """
    safe = defused(frame)
    style = safe.style
    for at in texts(frame):
        changed = safe.index[(safe.iloc[:, at] != frame.iloc[:, at]) & frame.iloc[:, at].notna()]
        if len(changed):
            style = style.format(undone, subset=(changed, [safe.columns[at]]))
    return style


def undone(cell: str) -> str:
    """A text without what defuses it."""
    return cell.removeprefix("'")
