"""The picture with a box and a verdict at each mark; a press opens one, a drag takes a part."""

from __future__ import annotations

import base64
import functools
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st
from PIL import Image

from ensemble.ui.classify.answer import overrides as answer_overrule
from ensemble.ui.classify.input import open_mark
from ensemble.ui.classify.state import WHOLE_PICTURE, PreparationOverrides
from ensemble.ui.shared import widget_state
from ensemble.wording import readings as readings_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ensemble.pictures.files.picture import Picture
    from ensemble.pictures.preparation import SegmentedPicture
    from ensemble.recognition.classifier import Classifier, Reading

KEY = "classify_picture"
_MAX_SENT_SIDE_PX, MAX_HEIGHT_PX = 1100, 440  # pixels sent, and pixels of the screen
_MIN_SIDE_PX = 280
SCRIPTS = ("boxes.js", "picture.js")
STYLES = ("boxes.css", "picture.css")
HTML = """
<div class="picture">
  <div class="frame">
    <img draggable="false">
    <div class="crop" hidden></div>
    <div class="boxes"></div>
    <div class="brush" hidden></div>
  </div>
</div>
"""


def show_annotated_picture(
    picture: Picture, key: str, boxes: Sequence[dict[str, Any]], overrule: PreparationOverrides, ident: str
) -> None:
    """The picture; what lies outside the part that is read is dimmed.

    Args:
      boxes: from `build_mark_boxes`.
    """
    wide, high = picture.size
    _create_picture_component()(
        data={
            "src": _encode_picture_uri(key, picture),
            "size": [wide, high],
            "width": round(max(wide / high * MAX_HEIGHT_PX, _MIN_SIDE_PX if wide >= high else 0)),
            "alt": f"Your picture, with {len(boxes)} marks found on it",
            "boxes": list(boxes),
            "crop": None if overrule.crop == WHOLE_PICTURE else list(overrule.crop),
        },
        key=KEY,
        on_opened_change=lambda: open_mark.open_pressed_mark(KEY, ident),
        on_part_change=lambda: _apply_dragged_crop(ident),
    )


def _apply_dragged_crop(ident: str) -> None:
    """Callback: read only the part that was dragged over."""
    sides = widget_state.get_widget_value(KEY).get("part")
    if isinstance(sides, list) and len(sides) == 4:
        left, top, right, bottom = (min(max(round(float(side), 3), 0.0), 1.0) for side in sides)
        if right > left and bottom > top:
            answer_overrule.update_overrides(ident, crop=(left, top, right, bottom))


def build_mark_boxes(
    prepared: SegmentedPicture, reading: Reading, index: int, classifier: Classifier, size: tuple[int, int]
) -> list[dict[str, Any]]:
    wide, high = size
    mark_count = len(reading.digits)
    return [
        {
            "index": place,
            "place": [round(side / full, 5) for side, full in zip(mark.box, (wide, high, wide, high), strict=True)],
            "said": readings_words.format_mark_reading(digit, classifier.class_names),
            "alt": readings_words.describe_mark_alt_text(
                digit, place, mark_count, classifier.class_names, classifier.noun
            ),
            "rejected": digit.rejected,
            "open": place == index and mark_count > 1,
        }
        for place, (mark, digit) in enumerate(zip(prepared.marks, reading.digits, strict=True))
    ]


@st.cache_resource(max_entries=8, show_spinner=False)
def _encode_picture_uri(key: str, _picture: Picture) -> str:
    image = Image.fromarray(_picture.pixels)
    small = max(image.size) <= 64
    if small:  # an image as networks see it: each of its pixels a square
        times = -(-_MIN_SIDE_PX // max(image.size))
        image = image.resize((image.width * times, image.height * times), Image.Resampling.NEAREST)
    image.thumbnail((_MAX_SENT_SIDE_PX, _MAX_SENT_SIDE_PX))
    buffer = io.BytesIO()
    image.save(buffer, "PNG") if small else image.save(buffer, "JPEG", quality=85)
    kind = "png" if small else "jpeg"
    return f"data:image/{kind};base64," + base64.b64encode(buffer.getvalue()).decode()


@functools.cache
def _create_picture_component() -> Any:
    folder = Path(__file__).parents[1] / "js"
    return st.components.v2.component(
        "ensemble_picture",
        html=HTML,
        css="\n".join((folder / name).read_text() for name in STYLES),
        js="\n".join((folder / name).read_text() for name in SCRIPTS),
    )
