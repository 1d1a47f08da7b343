"""A picture read: the answer beside it, then what it went through, then its open mark."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble import runs
from ensemble.recognition.classifier import Classifier
from ensemble.ui.classify.answer import classified_mark as answer_shown
from ensemble.ui.classify.answer import conformal_sets, preparation_stages, reading_cache, reading_summary
from ensemble.ui.classify.answer import overrides as answer_overrule
from ensemble.ui.classify.answer.classified_mark import ClassifiedMark
from ensemble.ui.classify.details import detail_selection
from ensemble.ui.classify.input import annotated_picture, drawing_sheet, open_mark
from ensemble.ui.classify.state import InputPicture
from ensemble.ui.shared.guard import guard_page
from ensemble.wording import escaping


def show_picture_answer(
    run: runs.Run, classifier: Classifier, source: InputPicture, way: str, left: DeltaGenerator, right: DeltaGenerator
) -> None:
    overrule, refuse = (answer_overrule.find_overrides(source.id), answer_shown.read_rejection_allowance())
    looked = reading_cache.load_prepared_picture(classifier, source, overrule)
    if looked.prepared is None or looked.picture is None:
        with right:
            st.warning(
                f"{escaping.escape_markdown(source.name)}: {escaping.escape_markdown(looked.problem)}",
                icon=":material/broken_image:",
            )
        return
    prepared = looked.prepared
    reading = reading_cache.read_picture_marks(classifier, source, overrule, refuse, prepared)
    newest = len(prepared.marks) - 1 if way == "draw" else 0
    index = open_mark.find_open_mark(source.id, len(prepared.marks), newest)
    with left:
        if way == "draw":
            boxes = annotated_picture.build_mark_boxes(prepared, reading, index, classifier, (1, 1))
            drawing_sheet.show_drawing_sheet(boxes, drawing_sheet.read_drawing_serial(), "")
        else:
            boxes = annotated_picture.build_mark_boxes(prepared, reading, index, classifier, looked.picture.size)
            annotated_picture.show_annotated_picture(looked.picture, source.key, boxes, overrule, source.id)
    with right:
        if way != "draw":
            st.caption(escaping.escape_markdown(source.name))
        reading_summary.show_reading_summary(
            classifier, prepared, reading=reading, index=index, ident=source.id, refuse=refuse
        )
    key = f"{source.key}-{overrule.cache_key}"
    classified_mark = ClassifiedMark(
        run=run,
        classifier=classifier,
        prepared=prepared,
        reading=reading,
        index=index,
        name=source.name,
        key=key,
        refuse=refuse,
    )
    _show_open_mark(classified_mark, source.id, right)


def _show_open_mark(mark: ClassifiedMark, ident: str, right: DeltaGenerator) -> None:
    """The open mark in words, under the answer; then what came before it, and its details."""
    if not mark.prepared.marks:
        _show_preparation_section(mark, ident)
        return
    # Here, for a picture without marks and the first look at the page do without them.
    from ensemble.ui.classify.answer import verdict

    with right, guard_page():
        verdict.show_mark_verdict(mark)
    with right, guard_page():
        conformal_sets.show_mark_sets(mark)
    with right, guard_page():
        verdict.show_rejection_evidence(mark)
    # A row of its own: on a phone the answer stands before the steps.
    before, beside = st.columns([6, 5], gap="large")
    with before:
        _show_preparation_section(mark, ident)
    with beside, guard_page():
        verdict.show_verdict_chart(mark)
    with guard_page():
        detail_selection.show_selected_detail(mark)
    with guard_page():
        from ensemble.ui.classify.details import corrections

        corrections.show_corrections(mark)


def _show_preparation_section(mark: ClassifiedMark, ident: str) -> None:
    with guard_page():
        st.markdown("##### Preprocessing, step by step")
        preparation_stages.show_preparation_stages(mark.prepared)
        preparation_stages.show_override_controls(ident, mark.prepared)
