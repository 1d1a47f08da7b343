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


def show_answer_comparison(shown: ClassifiedMark) -> None:
    """Whom to compare with, whether both say the same, and everybody's probabilities."""
    others = find_comparable_classifiers(shown)
    if not others:
        show_no_other_classifier(shown)
        return
    other, epoch = select_other_classifier(shown, others)
    try:
        with st.spinner("Loading the other members"):
            asked = classifier_loader.wait_for_classifier(other, epoch)
    except EnsembleError as error:
        guard.show_error_message(error)
        return
    theirs = asked.read_marks(shown.prepared.marks, shown.refuse).digits[shown.index]
    ours = EnsembleAnswer(
        shown.digit, f"{distinguish_run_name(shown.run, other)}, epoch {shown.epoch}"
    )
    both = ours, EnsembleAnswer(theirs, f"{distinguish_run_name(other, shown.run)}, epoch {epoch}")
    pictures.show_figure_panel(
        plot_two_ensembles(
            *both, shown.names, f"{shown.title} · {shown.name}", theme.get_page_palette()
        ),
        key="classify_compare",
        of=shown.run,
        epoch=shown.epoch,
        name=f"{shown.file_stem}-against-{other.id}-epoch-{epoch}",
        title="Both probabilities",
        alt=describe_two_ensembles_chart(*both, shown.names),
        table=lambda: tabulate_two_ensembles(*both, shown.names),
        sees=describe_answer_comparison(*both, shown.names),
    )
    st.dataframe(
        downloads.style_downloadable_table(tabulate_two_answers(*both, shown.names)),
        hide_index=True,
        key="classify_compare_table",
        width="content",
    )


def find_comparable_classifiers(shown: ClassifiedMark) -> dict[str, tuple[runs.Run, list[int]]]:
    """Runs whose classes are the same, with the epochs that can be asked; this one's are others."""
    found = {}
    for run in [shown.run, *(one for one in loaders.list_cached_runs() if one.id != shown.run.id)]:
        if tuple(run.data.class_names) != tuple(shown.names):
            continue
        here = shown.epoch if run.id == shown.run.id else None
        if epochs := [one for one in list_askable_epochs(run) if one != here]:
            found[run.id] = run, epochs
    return found


def list_askable_epochs(run: runs.Run) -> Sequence[int]:
    """The epochs that a run can be asked at; none where it has been deleted meanwhile."""
    try:
        return list_member_epochs(run.id)
    except RunError:
        return ()


def show_no_other_classifier(shown: ClassifiedMark) -> None:
    """There is nobody else to ask: say so, and the next step."""
    st.info(
        f"There is no other run whose members know the same {pluralize_noun(shown.noun)}, "
        "and this one keeps no other epoch. Train a second one, and both can be asked here.",
        icon=":material/compare_arrows:",
    )
    st.page_link(
        "pages/train.py",
        label="Train another",
        icon=":material/arrow_forward:",
        query_params=address.RUN.build_query(shown.run.id),
    )


def select_other_classifier(
    shown: ClassifiedMark, others: dict[str, tuple[runs.Run, list[int]]]
) -> tuple[runs.Run, int]:
    """Controls for the other run and its epoch; what they say stands in the address."""
    wanted = address.WITH.read()
    # Another run says more than another epoch.
    usual = next((one for one in others if one != shown.run.id), shown.run.id)
    chosen = wanted if wanted in others else usual
    if wanted and wanted != chosen:
        st.caption("That run no longer exists, or knows other classes; another one is shown.")
    address.WITH.set_value(chosen)
    other, epochs = others[chosen]
    asked = address.WITH_EPOCH.read()
    epoch = asked if asked in epochs and asked is not None else epochs[-1]
    names = {
        one: "This run, another epoch"
        if one == shown.run.id
        else f"{format_unique_run_name(run)} · {run.state}"
        for one, (run, _) in others.items()
    }
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        address.show_address_widget(
            f"classify_with_{controls.hash_options(names.values())}",
            chosen,
            lambda key: st.selectbox(
                "Compare with",
                list(names),
                format_func=names.__getitem__,
                key=key,
                width=420,
                on_change=update_other_classifier_address,
                args=(key,),
                help="Runs with the same classes.",
            ),
        )
        show_other_epoch_slider(epochs, epoch)
    return other, epoch


def show_other_epoch_slider(epochs: Sequence[int], epoch: int) -> None:
    """The other run's epoch, where there is a choice."""
    if len(epochs) > 1:
        address.show_address_widget(
            f"classify_with_epoch_{controls.hash_options(epochs)}",
            epoch,
            lambda key: st.select_slider(
                "Its epoch",
                epochs,
                key=key,
                width=260,
                on_change=update_other_epoch_address,
                args=(key, epochs[-1]),
            ),
        )


def update_other_classifier_address(key: str) -> None:
    """Callback: another run to compare with, at its last epoch."""
    address.WITH.set_value(widget_state.get_widget_value(key))
    address.WITH_EPOCH.set_value(None)


def update_other_epoch_address(key: str, last: int) -> None:
    """Callback: another epoch of the other run."""
    address.WITH_EPOCH.set_value(widget_state.get_widget_value(key), last)


def distinguish_run_name(run: runs.Run, other: runs.Run) -> str:
    """What a run is called beside another: told apart where both are called the same."""
    alike = run.id != other.id and format_run_name(run) == format_run_name(other)
    return format_unique_run_name(run) if alike else format_run_name(run)


def describe_answer_comparison(
    ours: EnsembleAnswer, theirs: EnsembleAnswer, names: Sequence[str]
) -> str:
    """Whether both say the same."""
    first, second = (
        escaping.escape_markdown(marks_words.format_mark_verdict(one.digit, names))
        for one in (ours, theirs)
    )
    rejected = [one.digit.rejected for one in (ours, theirs)]
    if all(rejected):
        return f"**Both reject it.** {marks_words.describe_mark_rejection(names)}."
    if any(rejected):
        who, whom = (ours, theirs) if rejected[0] else (theirs, ours)
        said = escaping.escape_markdown(
            f"{who.name}; {whom.name} says {marks_words.format_mark_class(whom.digit, names)}."
        )
        return f"**Only one rejects it:** {said}"
    if ours.digit.label == theirs.digit.label:
        label = escaping.escape_markdown(names[ours.digit.label])
        return f"**Both say {label}:** {first}, the other {second}."
    one, other = (escaping.escape_markdown(side.name) for side in (ours, theirs))
    return f"**They differ:** {one} says {first}, {other} says {second}."
