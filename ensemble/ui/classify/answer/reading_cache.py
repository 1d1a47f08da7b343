"""What the screen Classify has opened, prepared and read, kept for a while in memory alone.

Keyed by a picture's content, by what was overruled in it, and by run, epoch and error rate.
Bounded: `MAX_PICTURES` pictures at their working size, and of the others only their marks and
what was said of them. What comes back is shared: treat it as read-only.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from ensemble.errors import ImageError
from ensemble.storage.folders import runs_folder
from ensemble.ui.classify.state import InputPicture, PreparationOverrides, ReadingRow
from ensemble.ui.shared.guard import BUG_MESSAGE
from ensemble.wording import readings as readings_words

if TYPE_CHECKING:
    from ensemble.analysis.unlabelled.output_measures import OutputMeasures
    from ensemble.pictures.files.picture import Picture
    from ensemble.pictures.preparation import Mark, SegmentedPicture
    from ensemble.recognition.classifier import Classifier, Reading

# A working picture takes up to 12 MB, its stages as much again.
MAX_PICTURES, _MAX_READINGS, MAX_ROWS = 4, 24, 1000
_RELEASED_PICTURE_NOTE = (
    "This picture was removed to make room for others; its answer is kept. Add it again to open it."
)


@dataclass(frozen=True, eq=False)
class _PreparationResult:
    """A picture, prepared, or one sentence why it cannot be."""

    picture: Picture | None
    prepared: SegmentedPicture | None
    problem: str = ""


@dataclass(frozen=True, eq=False)
class _PictureMarks:
    """A picture's marks, or why there are none."""

    marks: tuple[Mark, ...]
    problem: str = ""


def load_prepared_picture(
    classifier: Classifier, source: InputPicture, overrule: PreparationOverrides
) -> _PreparationResult:
    """The picture opened and prepared; a bad one is a sentence, never an exception."""
    if source.content is None:
        return _PreparationResult(None, None, _RELEASED_PICTURE_NOTE)
    try:
        return _load_prepared_picture(identify_classifier(classifier), source.key, overrule, classifier, source.content)
    except Exception:
        # One picture that the program chokes on must not take the others with it.
        logging.getLogger("ensemble").exception("A picture could not be prepared")
        return _PreparationResult(None, None, BUG_MESSAGE)


@st.cache_resource(max_entries=MAX_PICTURES, show_spinner=False)
def _load_prepared_picture(
    who: str, key: str, overrule: PreparationOverrides, _asked: Classifier, _content: bytes
) -> _PreparationResult:  # The members have a say in it where digits touch.
    return prepare_input_picture(_asked, _content, overrule)


def prepare_input_picture(classifier: Classifier, content: bytes, overrule: PreparationOverrides) -> _PreparationResult:
    try:
        picture = classifier.open_picture(content)
        return _PreparationResult(picture, classifier.prepare_picture(picture, overrule.to_choices()))
    except ImageError as error:
        return _PreparationResult(None, None, str(error))


def read_picture_marks(
    classifier: Classifier,
    source: InputPicture,
    overrule: PreparationOverrides,
    refuse: float,
    prepared: SegmentedPicture,
) -> Reading:
    return _read_picture_marks(
        identify_classifier(classifier),
        source.key,
        overrule=overrule,
        refuse=refuse,
        _asked=classifier,
        _prepared=prepared,
    )


def identify_classifier(classifier: Classifier) -> str:
    """A word for the run and epoch, also where folders of runs differ, and whether it rejects."""
    rejects = "" if classifier.is_calibrated else " rejects nothing"
    return f"{runs_folder()} {classifier.run_id} {classifier.epoch}{rejects}"


@st.cache_resource(max_entries=_MAX_READINGS, show_spinner=False)
def _read_picture_marks(
    who: str, key: str, overrule: PreparationOverrides, refuse: float, _asked: Classifier, _prepared: SegmentedPicture
) -> Reading:
    return _asked.read_marks(_prepared.marks, refuse)


def read_picture_row(
    classifier: Classifier, source: InputPicture, overrule: PreparationOverrides, refuse: float
) -> ReadingRow:
    """What is said of one of many pictures, of which only the marks are kept."""
    try:
        return _read_picture_row(
            identify_classifier(classifier),
            source.key,
            overrule=overrule,
            refuse=refuse,
            _asked=classifier,
            _content=source.content,
        )
    except _PictureReleasedError:
        return ReadingRow("–", "", _RELEASED_PICTURE_NOTE)
    except Exception:
        logging.getLogger("ensemble").exception("A picture could not be read")
        return ReadingRow("–", "", BUG_MESSAGE)


class _PictureReleasedError(Exception):
    """A picture's file was let go before it was asked about."""


@st.cache_resource(max_entries=MAX_ROWS, show_spinner=False)
def _read_picture_row(
    who: str, key: str, overrule: PreparationOverrides, refuse: float, _asked: Classifier, _content: bytes | None
) -> ReadingRow:
    picture_marks = _load_picture_marks(who, key, overrule, _asked, _content)
    if picture_marks.problem:
        return ReadingRow("–", "", picture_marks.problem)
    reading = _asked.read_marks(picture_marks.marks, refuse)
    lines = tuple(mark.line for mark in picture_marks.marks)
    return ReadingRow(
        *readings_words.format_reading_row(reading, lines, _asked.class_names, _asked.noun),
        _measure_reading_outputs(reading),
    )


def _measure_reading_outputs(reading: Reading) -> OutputMeasures | None:
    import numpy as np

    from ensemble.analysis.unlabelled.output_measures import measure_outputs

    if not reading.digits:
        return None
    return measure_outputs(np.stack([digit.members for digit in reading.digits], axis=1))


@st.cache_resource(max_entries=MAX_ROWS, show_spinner=False)
def _load_picture_marks(
    who: str, key: str, overrule: PreparationOverrides, _asked: Classifier, _content: bytes | None
) -> _PictureMarks:
    # What is raised is not kept, so that the picture can be handed in again.
    if _content is None:
        raise _PictureReleasedError
    looked = prepare_input_picture(_asked, _content, overrule)
    if looked.prepared is None:
        return _PictureMarks((), looked.problem)
    # Not its ink as cut from the picture: a thousand of these are kept.
    return _PictureMarks(tuple(replace(mark, cut=mark.image) for mark in looked.prepared.marks))
