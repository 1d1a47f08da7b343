"""Another run, or another epoch of this one, asked about the same mark: both side by side."""

from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.errors import EnsembleError, RunError
from ensemble.figures.two_ensembles import (
    EnsembleAnswer,
    describe_two_ensembles_chart,
    plot_two_ensembles,
    tabulate_two_answers,
    tabulate_two_ensembles,
)
from ensemble.runs.members import list_member_epochs
from ensemble.ui.classify.answer.classified_mark import ClassifiedMark
from ensemble.ui.classify.input import classifier_loader
from ensemble.ui.predictions import controls, downloads
from ensemble.ui.shared import address, guard, loaders, theme, widget_state
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording import escaping
from ensemble.wording import marks as marks_words
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.run_names import format_run_name, format_unique_run_name


def show_answer_comparison(mark: ClassifiedMark) -> None:
    comparable_classifiers = find_comparable_classifiers(mark)
    if not comparable_classifiers:
        _show_no_other_classifier(mark)
        return
    other, epoch = _select_other_classifier(mark, comparable_classifiers)
    try:
        with st.spinner("Loading the other members"):
            other_classifier = classifier_loader.wait_for_classifier(other, epoch)
    except EnsembleError as error:
        guard.show_error_message(error)
        return
    other_digit = other_classifier.read_marks(mark.prepared.marks, mark.refuse).digits[mark.index]
    own_answer = EnsembleAnswer(mark.digit, f"{distinguish_run_name(mark.run, other)}, epoch {mark.epoch}")
    both = (own_answer, EnsembleAnswer(other_digit, f"{distinguish_run_name(other, mark.run)}, epoch {epoch}"))
    pictures.show_figure_panel(
        plot_two_ensembles(*both, mark.names, f"{mark.title} · {mark.name}", theme.get_page_palette()),
        key="classify_compare",
        job=mark.run,
        epoch=mark.epoch,
        name=f"{mark.file_stem}-against-{other.id}-epoch-{epoch}",
        title="Both probabilities",
        alt=describe_two_ensembles_chart(*both, mark.names),
        table=lambda: tabulate_two_ensembles(*both, mark.names),
        sees=describe_answer_comparison(*both, mark.names),
    )
    st.dataframe(
        downloads.style_downloadable_table(tabulate_two_answers(*both, mark.names)),
        hide_index=True,
        key="classify_compare_table",
        width="content",
    )


def find_comparable_classifiers(mark: ClassifiedMark) -> dict[str, tuple[runs.Run, list[int]]]:
    """Runs whose classes are the same, with the epochs that can be asked; this one's are others."""
    classifiers = {}
    for run in [mark.run, *(cached_run for cached_run in loaders.list_cached_runs() if cached_run.id != mark.run.id)]:
        if tuple(run.data.class_names) != tuple(mark.names):
            continue
        here = mark.epoch if run.id == mark.run.id else None
        if epochs := [askable_epoch for askable_epoch in _list_askable_epochs(run) if askable_epoch != here]:
            classifiers[run.id] = run, epochs
    return classifiers


def _list_askable_epochs(run: runs.Run) -> Sequence[int]:
    """The epochs that a run can be asked at; none where it has been deleted meanwhile."""
    try:
        return list_member_epochs(run.id)
    except RunError:
        return ()


def _show_no_other_classifier(mark: ClassifiedMark) -> None:
    """There is nobody else to ask: say so, and the next step."""
    st.info(
        f"No other run has members that know the same {pluralize_noun(mark.noun)}, and "
        "this one kept no other epoch. Train a second run to compare the two here.",
        icon=":material/compare_arrows:",
    )
    st.page_link(
        "pages/train.py",
        label="Train another",
        icon=":material/arrow_forward:",
        query_params=address.RUN.build_query(mark.run.id),
    )


def _select_other_classifier(
    mark: ClassifiedMark, classifiers: dict[str, tuple[runs.Run, list[int]]]
) -> tuple[runs.Run, int]:
    """Controls for the other run and its epoch; what they say stands in the address."""
    wanted = address.WITH.read()
    # Another run says more than another epoch.
    usual = next((run_id for run_id in classifiers if run_id != mark.run.id), mark.run.id)
    chosen = wanted if wanted in classifiers else usual
    if wanted and wanted != chosen:
        st.caption("That run no longer exists, or knows other classes; another one is shown.")
    address.WITH.set_value(chosen)
    other, epochs = classifiers[chosen]
    address_epoch = address.WITH_EPOCH.read()
    default = runs.select_default_epoch(other, epochs)
    epoch = address_epoch if address_epoch in epochs and address_epoch is not None else default
    names = {
        run_id: "This run, another epoch" if run_id == mark.run.id else f"{format_unique_run_name(run)} · {run.state}"
        for run_id, (run, _) in classifiers.items()
    }
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        address.show_address_widget(
            f"classify_with_{controls.hash_options(names.values())}",
            chosen,
            lambda key: widget_state.draw_widget(
                st.selectbox,
                "Compare with",
                list(names),
                format_func=names.__getitem__,
                key=key,
                width=420,
                on_change=_update_other_classifier_address,
                args=(key,),
                help="Runs with the same classes.",
            ),
        )
        _show_other_epoch_slider(epochs, epoch, default)
    return other, epoch


def _show_other_epoch_slider(epochs: Sequence[int], epoch: int, usual: int) -> None:
    if len(epochs) > 1:
        address.show_address_widget(
            f"classify_with_epoch_{controls.hash_options(epochs)}",
            epoch,
            lambda key: widget_state.draw_widget(
                st.select_slider,
                "Its epoch",
                epochs,
                key=key,
                width=260,
                on_change=_update_other_epoch_address,
                args=(key, usual),
            ),
        )


def _update_other_classifier_address(key: str) -> None:
    """Callback: another run to compare with, at its usual epoch."""
    address.WITH.set_value(widget_state.get_widget_value(key))
    address.WITH_EPOCH.set_value(None)


def _update_other_epoch_address(key: str, usual: int) -> None:
    """Callback: another epoch of the other run."""
    address.WITH_EPOCH.set_value(widget_state.get_widget_value(key), usual)


def distinguish_run_name(run: runs.Run, other: runs.Run) -> str:
    """What a run is called beside another: told apart where both are called the same."""
    alike = run.id != other.id and format_run_name(run) == format_run_name(other)
    return format_unique_run_name(run) if alike else format_run_name(run)


def describe_answer_comparison(own_answer: EnsembleAnswer, other_answer: EnsembleAnswer, names: Sequence[str]) -> str:
    first, second = (
        escaping.escape_markdown(marks_words.format_mark_verdict(class_answer.digit, names))
        for class_answer in (own_answer, other_answer)
    )
    rejected = [class_answer.digit.rejected for class_answer in (own_answer, other_answer)]
    if all(rejected):
        return f"**Both reject it.** {marks_words.describe_mark_rejection(names)}."
    if any(rejected):
        who, whom = (own_answer, other_answer) if rejected[0] else (other_answer, own_answer)
        sentence = escaping.escape_markdown(
            f"{who.name}; {whom.name} says {marks_words.format_mark_class(whom.digit, names)}."
        )
        return f"**Only one rejects it:** {sentence}"
    if own_answer.digit.label == other_answer.digit.label:
        label = escaping.escape_markdown(names[own_answer.digit.label])
        return f"**Both say {label}:** {first}, the other {second}."
    own_name, other = (escaping.escape_markdown(side.name) for side in (own_answer, other_answer))
    return f"**They differ:** {own_name} says {first}, {other} says {second}."
