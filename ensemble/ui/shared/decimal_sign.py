"""The control for the decimal sign of a table whose numbers can be read in two ways."""

import streamlit as st

from ensemble.errors import EnsembleError
from ensemble.files.numbers import COMMA, DECIMAL_SIGNS, POINT, DecimalSignError
from ensemble.ui.shared import widget_state
from ensemble.wording import escaping

_SIGN_LABELS = {POINT: "Point", COMMA: "Comma"}


def show_file_problem(problem: EnsembleError) -> None:
    """Explain why a file cannot be read, without the options of commands."""
    text = problem.question if isinstance(problem, DecimalSignError) else str(problem)
    st.warning(escaping.escape_markdown(text), icon=":material/error:")


def select_decimal_sign(key: str) -> None:
    """Show both readings to choose from; the file is read again with the one chosen."""
    widget_state.draw_widget(
        st.segmented_control,
        "Decimal sign",
        DECIMAL_SIGNS,
        key=key,
        format_func=_SIGN_LABELS.__getitem__,
        help="With a decimal point “1,234” is 1234, with a decimal comma it is 1.234. “1.234” is 1.234 or 1234.",
    )
