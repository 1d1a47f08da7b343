"""What is shown of the predictions, as files to keep."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.blocks import blocks
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.storage import csv_cells

MOST = 2_000_000  # probabilities in a table: of more, a spreadsheet opens none
LISTED = 5


def table(made: Predictions, numbers: Ints, names: Sequence[str]) -> pd.DataFrame:
    """One row for each of the images `numbers`, in that order.

    Columns: number, label, ensemble (names of classes), right, confidence, the share of pairs
    of members that disagree, the mutual information in nats, each member's vote, the averaged
    probability of each class; of more than MOST of these, the likeliest classes with theirs.
    """
    named = np.asarray(names, object)
    columns = {
        "number": numbers,
        "label": named[made.labels[numbers]],
        "ensemble": named[made.said[numbers]],
        "right": made.right[numbers],
        "confidence": made.confidence[numbers],
        "disagreeing_pairs": made.disagreement[numbers],
        "mutual_information_nats": made.information[numbers],
    }
    columns |= {f"member_{m + 1}": named[made.votes[m, numbers]] for m in range(made.members)}
    if len(numbers) * len(names) <= MOST:
        columns |= {f"p_{name}": made.averaged[numbers, c] for c, name in enumerate(names)}
    else:
        columns |= likeliest(made, numbers, named)
    return pd.DataFrame(columns)


def likeliest(made: Predictions, numbers: Ints, named: NDArray[np.object_]) -> dict[str, Any]:
    """Columns of the LISTED likeliest classes of each image, and their averaged probabilities."""
    found = np.empty((len(numbers), min(LISTED, len(named))), np.int64)
    for rows in blocks(len(numbers), len(named)):
        part = made.averaged[numbers[rows]]
        found[rows] = np.argsort(-part, axis=1, kind="stable")[:, : found.shape[1]]
    columns: dict[str, Any] = {}
    for place, one in enumerate(found.T, 1):
        columns |= {f"likeliest_{place}": named[one], f"p_{place}": made.averaged[numbers, one]}
    return columns


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
