"""The buttons of a decision, each with its key; what they do is kept at once."""

from collections.abc import Sequence

import streamlit as st

from ensemble.access import Action
from ensemble.datasets.decisions.label_decision import KEEP, NO_CLASS, RELABEL, REMOVE, UNSURE
from ensemble.errors import EnsembleError
from ensemble.ui.labels.label_queue import DecisionQueue, LabelQueue
from ensemble.ui.shared import widget_state
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping

_MAX_CLASS_BUTTONS = 10  # classes that have a button and a key each; of more one is looked for
_MAX_NAME_LETTERS = 28  # of a class on a button
# R and C are Streamlit's own.
_KEEP_KEY, _MEMBERS_KEY, REMOVE_KEY, UNSURE_KEY, _UNDO_KEY = "K", "M", "X", "U", "Z"


def show_decision_buttons(queue: LabelQueue, number: int) -> None:
    """Show the buttons that decide about an image. None is preselected: each may be right.

    The widgets' keys contain the image's number, so that a second press that arrives late does
    not decide about the next image, which nobody has seen yet.
    """
    label = int(queue.labels[number])
    suggested = int(queue.errors.suggested[queue.judged.find_place(number)])
    with st.container(horizontal=True, gap="small", key="labels_decisions"):
        for text, shortcut, decision, new_label in (
            (f"Keep {_shorten_name(queue, label)}", _KEEP_KEY, KEEP, NO_CLASS),
            (f"Relabel as {_shorten_name(queue, suggested)}", _MEMBERS_KEY, RELABEL, suggested),
            ("Remove", REMOVE_KEY, REMOVE, NO_CLASS),
            ("Cannot tell", UNSURE_KEY, UNSURE, NO_CLASS),
        ):
            st.button(
                escaping.escape_markdown(text),
                key=f"labels_{decision}_{number}",
                shortcut=shortcut,
                on_click=save_decision,
                args=(queue, number, decision, new_label),
                **rights.build_control_arguments(Action.CHANGE),
            )
        show_undo_button(queue)
    show_class_choice(queue, number, label)


def show_class_choice(
    queue: DecisionQueue,
    number: int,
    label: int,
    caption: str = "Or relabel as",
    field: str = "Relabel as another class",
) -> None:
    """The classes that it may be: a button and a digit each, of many a list.

    Args:
      label: the class that it has already, which is left out; `NO_CLASS` for none.
    """
    others = [place for place in range(len(queue.class_names)) if place != label]
    if len(queue.class_names) > _MAX_CLASS_BUTTONS:
        key = f"labels_class_{number}"
        widget_state.draw_widget(
            st.selectbox,
            field,
            others,
            key=key,
            index=None,
            placeholder="Look for a class",
            format_func=queue.class_names.__getitem__,
            on_change=_save_chosen_class,
            args=(queue, number, key),
            width=320,
            **rights.build_control_arguments(Action.CHANGE),
        )
        return
    st.caption(caption)
    with st.container(horizontal=True, gap="xsmall", key="labels_classes"):
        for place, shortcut in enumerate(list_class_keys(queue.class_names)):
            if place == label:
                continue
            st.button(
                escaping.escape_markdown(_shorten_name(queue, place)),
                key=f"labels_class_{place}_{number}",
                shortcut=shortcut,
                on_click=save_decision,
                args=(queue, number, RELABEL, place),
                **rights.build_control_arguments(Action.CHANGE),
            )


def show_undo_button(queue: DecisionQueue) -> None:
    st.button(
        "Undo",
        key="labels_undo",
        shortcut=_UNDO_KEY,
        icon=":material/undo:",
        on_click=_undo_decision,
        args=(queue,),
        **rights.build_control_arguments(
            Action.CHANGE,
            disabled=not queue.log.can_undo(),
            help="Takes back your last decision; press again for the one before.",
        ),
    )


def list_class_keys(names: Sequence[str]) -> list[str]:
    """The digit of each class: its name where that is one, else its place, counted from 1."""
    if all(len(name) == 1 and name in "0123456789" for name in names):
        return list(names)
    return [str((place + 1) % 10) for place in range(len(names))]


def _shorten_name(queue: DecisionQueue, place: int) -> str:
    name = queue.class_names[place]
    return name if len(name) <= _MAX_NAME_LETTERS else name[: _MAX_NAME_LETTERS - 1] + "…"


def save_decision(queue: DecisionQueue, number: int, decision: str, new_label: int) -> None:
    """Callback: keep what was decided, or why it could not be kept."""
    try:
        queue.log.append_decision(queue.build_decision(number, decision, new_label))
        del tab.label_undone
    except EnsembleError as error:
        tab.label_problem = str(error)


def _save_chosen_class(queue: DecisionQueue, number: int, key: str) -> None:
    if (place := widget_state.get_widget_value(key)) is not None:
        save_decision(queue, number, RELABEL, int(place))


def _undo_decision(queue: DecisionQueue) -> None:
    """Callback: the last decision is taken back, and its image comes again."""
    try:
        if decision := queue.log.undo_last_decision():
            tab.label_undone = decision.number
    except EnsembleError as error:
        tab.label_problem = str(error)
