"""What the screen Classify has opened, prepared and read, kept for a while in memory alone.

Keyed by a picture's content, by what was overruled in it, and by run, epoch and error rate.
Bounded: `PICTURES` pictures at their working size, and of the others only their marks and
what was said of them. What comes back is shared: treat it as read-only.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from ensemble.errors import ImageError
from ensemble.storage.folders import runs_folder
from ensemble.ui.classify.state import Overrule, Row, Source
from ensemble.ui.shared.guard import BUG
from ensemble.wording import readings as readings_words

if TYPE_CHECKING:
    from ensemble.pictures.files.opening import Picture
    from ensemble.pictures.prepare import Mark, Prepared
    from ensemble.recognition.classifier import Classifier, Reading

# A working picture takes up to 12 MB, its stages as much again.
PICTURES, READINGS, ROWS = 4, 24, 1000
GONE = (
    "This picture was let go to make room for others; what was said of it is kept. Hand it in "
    "again to open it."
)


@dataclass(frozen=True, eq=False)
class Looked:
    """A picture, prepared, or one sentence why it cannot be."""

    picture: Picture | None
    prepared: Prepared | None
    problem: str = ""


@dataclass(frozen=True, eq=False)
class Marks:
    """A picture's marks, or why there are none."""

    marks: tuple[Mark, ...]
    problem: str = ""


def look(asked: Classifier, source: Source, overrule: Overrule) -> Looked:
    """The picture opened and prepared; a bad one is a sentence, never an exception."""
    if source.content is None:
        return Looked(None, None, GONE)
    try:
        return _look(who(asked), source.key, overrule, asked, source.content)
    except Exception:
        # One picture that the program chokes on must not take the others with it.
        logging.getLogger("ensemble").exception("A picture could not be prepared")
        return Looked(None, None, BUG)


@st.cache_resource(max_entries=PICTURES, show_spinner=False)
def _look(
    who: str, key: str, overrule: Overrule, _asked: Classifier, _content: bytes
) -> Looked:  # The members have a say in it where digits touch.
    return prepared_now(_asked, _content, overrule)


def prepared_now(asked: Classifier, content: bytes, overrule: Overrule) -> Looked:
    """The picture opened and prepared, without being kept."""
    from ensemble.pictures.files.opening import open_picture

    try:
        picture = open_picture(content)
        return Looked(picture, asked.prepare(picture, overrule.choices()))
    except ImageError as error:
        return Looked(None, None, str(error))


def reading(
    asked: Classifier, source: Source, overrule: Overrule, refuse: float, prepared: Prepared
) -> Reading:
    """What the ensemble says of the picture's marks."""
    return _reading(who(asked), source.key, overrule, refuse, asked, prepared)


def who(asked: Classifier) -> str:
    """A word for the run and epoch, also where folders of runs differ."""
    return f"{runs_folder()} {asked.run_id} {asked.epoch}"


@st.cache_resource(max_entries=READINGS, show_spinner=False)
def _reading(
    who: str, key: str, overrule: Overrule, refuse: float, _asked: Classifier, _prepared: Prepared
) -> Reading:
    return _asked.read_marks(_prepared.marks, refuse)


def row(asked: Classifier, source: Source, overrule: Overrule, refuse: float) -> Row:
    """What is said of one of many pictures, of which only the marks are kept."""
    try:
        return _row(who(asked), source.key, overrule, refuse, asked, source.content)
    except GoneError:
        return Row("–", "", GONE)
    except Exception:
        logging.getLogger("ensemble").exception("A picture could not be read")
        return Row("–", "", BUG)


class GoneError(Exception):
    """A picture's file was let go before it was asked about."""


@st.cache_resource(max_entries=ROWS, show_spinner=False)
def _row(
    who: str,
    key: str,
    overrule: Overrule,
    refuse: float,
    _asked: Classifier,
    _content: bytes | None,
) -> Row:
    found = _marks(who, key, overrule, _asked, _content)
    if found.problem:
        return Row("–", "", found.problem)
    said = _asked.read_marks(found.marks, refuse)
    lines = tuple(mark.line for mark in found.marks)
    return Row(*readings_words.row(said, lines, _asked.class_names, _asked.noun))


@st.cache_resource(max_entries=ROWS, show_spinner=False)
def _marks(
    who: str, key: str, overrule: Overrule, _asked: Classifier, _content: bytes | None
) -> Marks:
    # What is raised is not kept, so that the picture can be handed in again.
    if _content is None:
        raise GoneError
    looked = prepared_now(_asked, _content, overrule)
    if looked.prepared is None:
        return Marks((), looked.problem)
    # Not its ink as cut from the picture: a thousand of these are kept.
    return Marks(tuple(replace(mark, cut=mark.image) for mark in looked.prepared.marks))
