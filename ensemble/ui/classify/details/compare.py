"""Another run, or another epoch of this one, asked about the same mark: both side by side."""

from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.errors import EnsembleError, RunError
from ensemble.figures.two_answers import Side, alt, figure, rows, table
from ensemble.runs.members import member_epochs
from ensemble.ui.classify.answer.shown import Shown
from ensemble.ui.classify.input import members
from ensemble.ui.predictions import controls, downloads
from ensemble.ui.shared import address, guard, loaders, theme, widget
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording import escaping
from ensemble.wording import marks as marks_words
from ensemble.wording.formats import plural
from ensemble.wording.run_names import called, told_apart


def show(shown: Shown) -> None:
    """Whom to compare with, whether both say the same, and everybody's probabilities."""
    others = comparable(shown)
    if not others:
        nothing(shown)
        return
    other, epoch = choose(shown, others)
    try:
        with st.spinner("Opening the other members"):
            asked = members.classifier(other, epoch)
    except EnsembleError as error:
        guard.problem(error)
        return
    theirs = asked.read_marks(shown.prepared.marks, shown.refuse).digits[shown.index]
    ours = Side(shown.digit, f"{beside(shown.run, other)}, epoch {shown.epoch}")
    both = ours, Side(theirs, f"{beside(other, shown.run)}, epoch {epoch}")
    pictures.show(
        figure(*both, shown.names, f"{shown.called} · {shown.name}", theme.palette()),
        key="classify_compare",
        of=shown.run,
        epoch=shown.epoch,
        name=f"{shown.stem}-against-{other.id}-epoch-{epoch}",
        title="Both probabilities",
        alt=alt(*both, shown.names),
        table=lambda: table(*both, shown.names),
        sees=sentence(*both, shown.names),
    )
    st.dataframe(
        downloads.on_screen(rows(*both, shown.names)),
        hide_index=True,
        key="classify_compare_table",
        width="content",
    )


def comparable(shown: Shown) -> dict[str, tuple[runs.Run, list[int]]]:
    """Runs whose classes are the same, with the epochs that can be asked; this one's are others."""
    found = {}
    for run in [shown.run, *(one for one in loaders.all_runs() if one.id != shown.run.id)]:
        if tuple(run.data.class_names) != tuple(shown.names):
            continue
        here = shown.epoch if run.id == shown.run.id else None
        if epochs := [one for one in epochs_of(run) if one != here]:
            found[run.id] = run, epochs
    return found


def epochs_of(run: runs.Run) -> Sequence[int]:
    """The epochs that a run can be asked at; none where it has been deleted meanwhile."""
    try:
        return member_epochs(run.id)
    except RunError:
        return ()


def nothing(shown: Shown) -> None:
    """There is nobody else to ask: say so, and the next step."""
    st.info(
        f"There is no other run whose members know the same {plural(shown.noun)}, "
        "and this one keeps no other epoch. Train a second one, and both can be asked here.",
        icon=":material/compare_arrows:",
    )
    st.page_link(
        "pages/train.py",
        label="Train another",
        icon=":material/arrow_forward:",
        query_params=address.RUN.link(shown.run.id),
    )


def choose(shown: Shown, others: dict[str, tuple[runs.Run, list[int]]]) -> tuple[runs.Run, int]:
    """Controls for the other run and its epoch; what they say stands in the address."""
    wanted = address.WITH.read()
    # Another run says more than another epoch.
    usual = next((one for one in others if one != shown.run.id), shown.run.id)
    chosen = wanted if wanted in others else usual
    if wanted and wanted != chosen:
        st.caption("That run is not there any more, or knows something else; here it is another.")
    address.WITH.put(chosen)
    other, epochs = others[chosen]
    asked = address.WITH_EPOCH.read()
    epoch = asked if asked in epochs and asked is not None else epochs[-1]
    names = {
        one: "This run, another epoch"
        if one == shown.run.id
        else f"{told_apart(run)} · {run.state}"
        for one, (run, _) in others.items()
    }
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        address.bound(
            f"classify_with_{controls.stamp(names.values())}",
            chosen,
            lambda key: st.selectbox(
                "Compare with",
                list(names),
                format_func=names.__getitem__,
                key=key,
                width=420,
                on_change=picked,
                args=(key,),
                help="Runs whose members know the same classes.",
            ),
        )
        turn(epochs, epoch)
    return other, epoch


def turn(epochs: Sequence[int], epoch: int) -> None:
    """The other run's epoch, where there is a choice."""
    if len(epochs) > 1:
        address.bound(
            f"classify_with_epoch_{controls.stamp(epochs)}",
            epoch,
            lambda key: st.select_slider(
                "Its epoch", epochs, key=key, width=260, on_change=turned, args=(key, epochs[-1])
            ),
        )


def picked(key: str) -> None:
    """Callback: another run to compare with, at its last epoch."""
    address.WITH.put(widget.value(key))
    address.WITH_EPOCH.put(None)


def turned(key: str, last: int) -> None:
    """Callback: another epoch of the other run."""
    address.WITH_EPOCH.put(widget.value(key), last)


def beside(run: runs.Run, other: runs.Run) -> str:
    """What a run is called beside another: told apart where both are called the same."""
    alike = run.id != other.id and called(run) == called(other)
    return told_apart(run) if alike else called(run)


def sentence(ours: Side, theirs: Side, names: Sequence[str]) -> str:
    """Whether both say the same."""
    first, second = (
        escaping.markdown(marks_words.verdict(one.digit, names)) for one in (ours, theirs)
    )
    rejected = [one.digit.rejected for one in (ours, theirs)]
    if all(rejected):
        return f"**Both reject it.** {marks_words.rejection(names)}."
    if any(rejected):
        who, whom = (ours, theirs) if rejected[0] else (theirs, ours)
        said = escaping.markdown(
            f"{who.name}; {whom.name} says {marks_words.said(whom.digit, names)}."
        )
        return f"**Only one rejects it:** {said}"
    if ours.digit.label == theirs.digit.label:
        label = escaping.markdown(names[ours.digit.label])
        return f"**Both say {label}:** {first}, the other {second}."
    one, other = (escaping.markdown(side.name) for side in (ours, theirs))
    return f"**They differ:** {one} says {first}, {other} says {second}."
