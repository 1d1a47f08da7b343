"""Predictions made elsewhere, as the dialog shows them: how to save them, what was understood."""

from collections.abc import Callable, Sequence

import streamlit as st

from ensemble import exchange
from ensemble.access import Action
from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.errors import EnsembleError
from ensemble.exchange import LABEL_READINGS, SNIPPETS, MemberOutputs, Snippet
from ensemble.exchange.checks.names import MAX_NOUN_LENGTH
from ensemble.jobs.folders import MAX_NAME_LENGTH
from ensemble.ui.shared import guard, widget_state
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping, formats

_MAX_CLASS_NAMES = 8  # names of classes


def show_save_instructions() -> None:
    """Five lines for each library; none of them needs anything of ours."""
    libraries = {snippet.library: snippet for snippet in SNIPPETS}
    chosen = widget_state.draw_widget(
        st.segmented_control,
        "How to save them",
        list(libraries),
        key="import_library",
        persist_state="session",
        help="Code that saves what your members predict, without this program.",
    )
    if chosen:
        _show_library_snippet(libraries[chosen])


def _show_library_snippet(snippet: Snippet) -> None:
    st.code(snippet.code, language="python")
    st.caption("; ".join(f"`{name}` is {what}" for name, what in snippet.names.items()) + ".")


def show_import_preview(outputs: MemberOutputs) -> None:
    last = average_probabilities(outputs.probabilities[-1])
    right = float((last.argmax(axis=1) == outputs.labels).mean())
    counts = [
        formats.format_count(outputs.members, "member"),
        formats.format_count(outputs.examples, "example"),
        f"{outputs.classes:,} classes",
        *([formats.format_count(outputs.epochs, "epoch")] if outputs.epochs > 1 else []),
        "with images" if outputs.images is not None else "without images",
    ]
    st.markdown(f"##### {' · '.join(counts)}")
    names = ", ".join(outputs.class_names[:_MAX_CLASS_NAMES])
    more = f" and {outputs.classes - _MAX_CLASS_NAMES:,} more" if outputs.classes > _MAX_CLASS_NAMES else ""
    text = f"Averaged, they get {formats.format_percent(right, outputs.examples)} right. Classes: "
    st.markdown(f"{text}{escaping.escape_markdown(names)}{more}.")
    for note in outputs.notes:
        st.caption(escaping.escape_markdown(note))


def select_label_reading(options: Sequence[str], taken: str | None, key: str) -> None:
    """A choice among the ways in which the labels can be read; the files are read again with it."""
    widget_state.draw_widget(
        st.segmented_control,
        "Read labels as",
        options,
        default=taken,
        key=key,
        format_func=LABEL_READINGS.__getitem__,
        help="Numbers can be names of classes, or count them. What was taken is said above.",
    )


def show_import_form(outputs: MemberOutputs, names: Sequence[str], then: Callable[[Sequence[str]], None]) -> None:
    """Its name, and the button that keeps it; `then` is told the new run's id."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        widget_state.draw_widget(
            st.text_input, "Name", key="import_name", max_chars=MAX_NAME_LENGTH, placeholder="Name"
        )
        widget_state.draw_widget(
            st.text_input,
            "One is called",
            key="import_noun",
            max_chars=MAX_NOUN_LENGTH,
            placeholder=outputs.noun or ("example" if outputs.images is None else "image"),
            help="In the singular: leaf, cell, letter.",
        )
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
            source = ", ".join(names)[:200]
            run = exchange.import_run(
                outputs,
                widget_state.get_widget_value("import_name", ""),
                source,
                widget_state.get_widget_value("import_noun", ""),
            )
        except EnsembleError as error:
            guard.show_error_message(error)
            return
    then([run.id])
