"""A report that was handed in: which runs it holds, and which of them to keep."""

from collections.abc import Callable, Sequence

import streamlit as st

from ensemble import exchange
from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.exchange import Capsule
from ensemble.ui.shared import guard, widget_state
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping, formats

_REPORT_KEEP_CAPTION = (
    "Its figures are as the file has them. It gets an id of its own and says wherever it is shown "
    "that it is from a report; nothing of yours is replaced."
)


def show_report_runs(capsules: Sequence[Capsule], names: Sequence[str], then: Callable[[Sequence[str]], None]) -> None:
    """What is in the reports, a line a run, and the button that keeps them.

    Args:
      capsules: the runs, at least one.
    """
    title = exchange.describe_report_file(", ".join(names), capsules)
    st.markdown(f"##### {escaping.escape_markdown(title)}")
    for capsule in capsules:
        st.markdown(escaping.escape_markdown(_describe_report_run(capsule)))
        for note in capsule.notes:
            st.caption(escaping.escape_markdown(note))
    st.caption(_REPORT_KEEP_CAPTION)
    wanted = _select_report_runs(capsules)
    count = "it as a run" if len(capsules) == 1 else formats.format_count(len(wanted), "run")
    pressed = st.button(
        f"Keep {count}",
        type="primary",
        icon=":material/check:",
        key="import_keep",
        **rights.build_control_arguments(Action.IMPORT, disabled=not wanted),
    )
    if pressed:
        _import_selected_runs(wanted, then)


def _describe_report_run(capsule: Capsule) -> str:
    header = capsule.header
    return f"{header.name or header.id} · {exchange.describe_capsule_contents(capsule)}"


def _select_report_runs(capsules: Sequence[Capsule]) -> list[Capsule]:
    """Those to keep: the one there is, or those that are chosen, all at first."""
    if len(capsules) == 1:
        return list(capsules)
    places = {str(place): capsule for place, capsule in enumerate(capsules)}
    widget_state.draw_widget(
        st.multiselect,
        "Runs to keep",
        list(places),
        default=list(places),
        key="import_chosen",
        format_func=lambda place: _format_report_run_name(places[place]),
    )
    chosen = widget_state.get_widget_value("import_chosen", list(places))
    return [places[place] for place in chosen if place in places]


def _format_report_run_name(capsule: Capsule) -> str:
    header = capsule.header
    return f"{header.name} · {header.id}" if header.name else header.id


def _import_selected_runs(wanted: Sequence[Capsule], then: Callable[[Sequence[str]], None]) -> None:
    """Makes a run of each; what cannot be made is said, and those before it stay."""
    with st.spinner("Saving …"):
        try:
            run_ids = [exchange.import_capsule(capsule).id for capsule in wanted]
        except EnsembleError as error:
            guard.show_error_message(error)
            return
    then(run_ids)
