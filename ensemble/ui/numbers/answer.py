"""The answer about an ensemble that predicts numbers, and the view that is chosen."""

import streamlit as st

from ensemble.errors import RunError
from ensemble.runs.history import list_prediction_epochs
from ensemble.runs.numeric.numeric_predictions import select_numeric_epoch
from ensemble.runs.store import Run
from ensemble.ui.numbers import comparison, loader
from ensemble.ui.render import read_view_choice, render_view
from ensemble.ui.shared import address, guard
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.numeric.numeric_answer import build_numeric_figures, build_numeric_headline
from ensemble.views.parts import Choice, Paragraph, View
from ensemble.views.registry import NUMERIC_VIEWS
from ensemble.wording import escaping

# The views by the words in the address; the answer itself stands above all of them.
TITLES = {name: view.title for name, view in NUMERIC_VIEWS.items()} | {"answer": "Figures", "compare": "Compare runs"}
DEFAULT_VIEW = "calibration"
_CLASSES_NOTE = (
    "Agreement by votes, class by class, selective answers, sets and shift are for classes: an "
    "ensemble that predicts numbers has none."
)


def show_numeric_run(run: Run) -> None:
    if not list_prediction_epochs(run.id):
        st.info("It has no predictions: there is nothing to judge.", icon=":material/hourglass_empty:")
        return
    try:
        numbers = loader.load_evaluated_numbers(run, _read_shown_epoch(run))
    except RunError as error:
        guard.show_error_message(error)
        return
    _show_numeric_headline(numbers)
    render_view(_ask_epoch(run), job=run)
    view = _select_numeric_view()
    with st.container(key="view"):
        match view:
            case "answer":
                render_view(build_numeric_figures(numbers), job=run)
            case "compare":
                comparison.show_numeric_comparison(run)
            case _:
                render_view(NUMERIC_VIEWS[view].build(numbers), job=run)
    st.caption(_CLASSES_NOTE)


def _show_numeric_headline(numbers: EvaluatedNumbers) -> None:
    parts = [part for part in build_numeric_headline(numbers) if isinstance(part, Paragraph)]
    evidence = [escaping.escape_markdown(part.text) for part in parts if part.role == "evidence"]
    for part in parts:
        if part.role == "answer":
            st.markdown(f"#### {escaping.escape_markdown(part.text)}")
    st.caption("  \n".join(evidence))


def _offer_epochs(run: Run) -> Choice:
    kept = list_prediction_epochs(run.id)
    values = {str(epoch): str(epoch) for epoch in kept}
    return Choice(
        name=address.EPOCH.name,
        label="Epoch",
        values=values,
        default=str(select_numeric_epoch(run)),
        help="Every epoch’s predictions are kept.",
        form="slider",
        width=260,
    )


def _read_shown_epoch(run: Run) -> int:
    return int(read_view_choice(_offer_epochs(run)))


def _ask_epoch(run: Run) -> View:
    choice = _offer_epochs(run)
    if len(choice.values) > 1:
        yield choice


def _select_numeric_view() -> str:
    """The control; returns the view that the address names."""
    address.show_unknown_option(address.VIEW, TITLES, TITLES[DEFAULT_VIEW])
    return address.select_address_option(
        address.VIEW, "View", TITLES, DEFAULT_VIEW, label_visibility="collapsed", wrap=True
    )
