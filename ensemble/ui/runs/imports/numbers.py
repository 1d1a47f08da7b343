"""Predicted numbers, as the dialog shows them: what was understood, and what they are called."""

from collections.abc import Callable

import streamlit as st

from ensemble.access import Action
from ensemble.analysis.numeric.numeric_quality import measure_numeric_quality
from ensemble.errors import EnsembleError
from ensemble.exchange.checks.names import MOST_LETTERS
from ensemble.exchange.numeric_files import NumericPredictions
from ensemble.exchange.numeric_import import MAX_UNIT_LENGTH, import_numbers
from ensemble.jobs.folders import MAX_NAME_LENGTH
from ensemble.ui.shared import guard, widget_state
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping, formats

_FORM_NAMES = {"normal": "means and spreads", "quantiles": "quantiles", "points": "numbers without a spread"}


def show_numbers_preview(numbers: NumericPredictions) -> None:
    predicted = numbers.mixture
    counts = [
        formats.format_count(predicted.members, "member"),
        formats.format_count(predicted.examples, "example"),
        _FORM_NAMES[predicted.form],
    ]
    st.markdown(f"##### {' · '.join(counts)}")
    rmse = measure_numeric_quality(predicted, numbers.targets).rmse
    st.markdown(f"Together they are off by {formats.format_significant(rmse)} (RMSE).")
    for note in numbers.notes:
        st.caption(escaping.escape_markdown(note))


def show_numbers_form(numbers: NumericPredictions, file: str, then: Callable[[str], None]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for label, key, most, placeholder in (
            ("Name", "import_name", MAX_NAME_LENGTH, "Name"),
            ("Predicts", "import_target", MOST_LETTERS, "price"),
            ("Unit", "import_unit", MAX_UNIT_LENGTH, "EUR"),
        ):
            widget_state.draw_widget(st.text_input, label, key=key, max_chars=most, placeholder=placeholder)
        pressed = st.button(
            "Keep it as a run",
            type="primary",
            icon=":material/check:",
            key="import_keep",
            **rights.build_control_arguments(Action.IMPORT),
        )
    if not pressed:
        return
    with st.spinner("Saving …"):
        try:
            run = import_numbers(
                numbers,
                widget_state.get_widget_value("import_name", ""),
                file,
                widget_state.get_widget_value("import_target", ""),
                widget_state.get_widget_value("import_unit", ""),
            )
        except EnsembleError as error:
            guard.show_error_message(error)
            return
    then(run.id)
