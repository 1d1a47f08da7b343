"""What is shown of the predictions, as files to keep."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.storage import csv_format


def _tabulate_member_probabilities(predictions: EnsemblePredictions, number: int, names: Sequence[str]) -> pd.DataFrame:
    """One image: a row for the ensemble and each member, a column for each class."""
    rows = np.vstack([predictions.averaged[number], predictions.probabilities[:, number]])
    who = ["ensemble", *(f"member {m + 1}" for m in range(predictions.members))]
    frame = pd.DataFrame(rows, columns=list(names))
    frame.insert(0, "who", who)
    frame.insert(1, "says", np.asarray(names, object)[rows.argmax(axis=1)])
    return frame


def encode_image_csv(predictions: EnsemblePredictions, number: int, names: Sequence[str]) -> bytes:
    """`_tabulate_member_probabilities` as a CSV file."""
    return encode_table_csv(_tabulate_member_probabilities(predictions, number, names))


def encode_table_csv(frame: pd.DataFrame) -> bytes:
    """A table as a CSV file, six figures to a number; no text in it is a formula."""
    return _escape_table_formulas(frame).to_csv(index=False, float_format="%.6g").encode()


def _escape_table_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with its texts and column names as `csv_format.escape_csv_formula` makes them."""
    safe = frame.rename(columns=csv_format.escape_csv_formula)
    for at in _find_text_columns(safe):
        safe.isetitem(at, safe.iloc[:, at].map(csv_format.escape_csv_formula))
    return safe


def _find_text_columns(frame: pd.DataFrame) -> list[int]:
    return [at for at, kind in enumerate(frame.dtypes) if kind.kind not in "biufM"]


def style_downloadable_table(frame: pd.DataFrame) -> "pd.io.formats.style.Styler":
    """A table for the screen, whose own button makes a CSV file of it without asking us.

    The file has what a cell holds, defused; the screen shows the text as it is.
    """
    safe = _escape_table_formulas(frame)
    style = safe.style
    # Streamlit asks for what pandas makes a web page of, and takes the texts of it alone: of a
    # thousand rows all else is most of the time that the table takes.
    translate = style._translate
    style._translate = lambda *args, **kwargs: (
        translate(*args, **kwargs) if style.ctx else {"body": _list_display_cells(style)}
    )
    for at in _find_text_columns(frame):
        changed = safe.index[(safe.iloc[:, at] != frame.iloc[:, at]) & frame.iloc[:, at].notna()]
        if len(changed):
            style = style.format(_unescape_formula_cell, subset=(changed, [safe.columns[at]]))
    return style


def _list_display_cells(style: "pd.io.formats.style.Styler") -> list[list[dict[str, object]]]:
    """What each cell shows, a list for each row, as pandas names them for a page.

    A text that is shown as it is is left out.
    """
    formats = style._display_funcs
    rows = []
    for row, values in enumerate(style.data.itertuples(index=False, name=None)):
        cells = []
        for column, value in enumerate(values):
            if isinstance(value, str) and (row, column) not in formats:
                continue
            shown = formats[row, column](value)
            cells.append({"id": f"row{row}_col{column}", "display_value": value if shown is None else shown})
        rows.append(cells)
    return rows


def _unescape_formula_cell(cell: str) -> str:
    return cell.removeprefix("'")
