"""The sheet of Classify: what a browser sends of it, and the picture that is made of it."""

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ensemble.ui.classify.input import drawing_sheet


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {},
        {"strokes": [{"w": 1, "p": [1]}]},
        {"strokes": [{"w": 1, "p": [1, 2, 3]}]},
        {"strokes": [{"w": "x", "p": [1, 2]}]},
        {"strokes": [{"w": float("nan"), "p": [1, 2]}]},
        {"strokes": [{"w": 1, "p": [0] * 9000}]},
    ],
)
def test_what_is_no_drawing_is_not_taken_for_one(wrong: Any) -> None:
    whole = {"serial": 1, "pen": 18, "width": 300, "height": 280}
    sent_ = wrong | whole if isinstance(wrong, dict) and wrong else wrong
    assert drawing_sheet.parse_sent_drawing(sent_) is None


def test_a_point_and_a_line_are_strokes() -> None:
    strokes = [{"w": 4.0, "p": [1.0, 2.0]}, {"w": 4.0, "p": [1.0, 2.0, 3.0, 4.0]}]
    sent = {"strokes": strokes, "serial": 1, "pen": 18.0, "width": 300, "height": 280}
    assert drawing_sheet.parse_sent_drawing(sent) == sent


def test_the_drawing_is_ink_where_the_pen_was() -> None:
    drawn = {"strokes": [{"w": 10.0, "p": [20, 30, 60, 30, 100, 30]}], "width": 120, "height": 60}
    page = np.asarray(Image.open(io.BytesIO(drawing_sheet.encode_drawing_png(drawn))))
    assert page.shape == (60, 120)
    inked = np.argwhere(page < 128)
    assert abs(inked.min(axis=0) - [25, 15]).max() <= 1
    assert abs(inked.max(axis=0) - [35, 105]).max() <= 1
    assert page[30, 20:101].max() == 0
