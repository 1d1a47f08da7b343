"""A picture read: the answer beside it, then what it went through, then its open mark."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble import runs
from ensemble.recognition.classifier import Classifier
from ensemble.ui.classify.answer import loader, number, sets, stages
from ensemble.ui.classify.answer import overrule as answer_overrule
from ensemble.ui.classify.answer import shown as answer_shown
from ensemble.ui.classify.answer.shown import Shown
from ensemble.ui.classify.details import choice
from ensemble.ui.classify.input import picture, selected, sheet
from ensemble.ui.classify.state import Source
from ensemble.ui.shared.guard import guarded
from ensemble.wording import escaping


def show(
    run: runs.Run,
    asked: Classifier,
    source: Source,
    way: str,
    left: DeltaGenerator,
    right: DeltaGenerator,
) -> None:
    """All that is said of a picture.

    Args:
      run: the run.
      asked: its members.
      source: the picture.
      way: by which way in it came.
      left: where the picture stands.
      right: where the answer stands.
    """
    overrule, refuse = answer_overrule.of(source.id), answer_shown.refuse()
    looked = loader.look(asked, source, overrule)
    if looked.prepared is None or looked.picture is None:
        with right:
            st.warning(
                f"{escaping.markdown(source.name)}: {escaping.markdown(looked.problem)}",
                icon=":material/broken_image:",
            )
        return
    prepared = looked.prepared
    reading = loader.reading(asked, source, overrule, refuse, prepared)
    newest = len(prepared.marks) - 1 if way == "draw" else 0
    index = selected.index(source.id, len(prepared.marks), newest)
    with left:
        if way == "draw":
            boxes = picture.boxes_of(prepared, reading, index, asked, (1, 1))
            sheet.show(boxes, sheet.serial(), "")
        else:
            boxes = picture.boxes_of(prepared, reading, index, asked, looked.picture.size)
            picture.show(looked.picture, source.key, boxes, overrule, source.id)
    with right:
        if way != "draw":
            st.caption(escaping.markdown(source.name))
        number.show(asked, prepared, reading, index, source.id, refuse)
    key = f"{source.key}-{overrule.word}"
    shown = Shown(run, asked, prepared, reading, index, source.name, key, refuse)
    below(shown, source.id, right)


def below(shown: Shown, ident: str, right: DeltaGenerator) -> None:
    """The open mark in words, under the answer; then what came before it, and its details."""
    if not shown.prepared.marks:
        steps(shown, ident)
        return
    # Here, for a picture without marks and the first look at the page do without them.
    from ensemble.ui.classify.answer import verdict

    with right, guarded():
        verdict.words(shown)
    with right, guarded():
        sets.show(shown)
    # A row of its own: on a phone the answer stands before the steps.
    before, beside = st.columns([6, 5], gap="large")
    with before:
        steps(shown, ident)
    with beside, guarded():
        verdict.chart(shown)
    with guarded():
        choice.show(shown)
    with guarded():
        from ensemble.ui.classify.details import corrections

        corrections.show(shown)


def steps(shown: Shown, ident: str) -> None:
    """What the picture went through, to be overruled."""
    with guarded():
        st.markdown("##### Preprocessing, step by step")
        stages.show(shown.prepared)
        stages.overruling(ident, shown.prepared)
