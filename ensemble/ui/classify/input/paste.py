"""Pictures from the clipboard: Streamlit's uploader takes what is dropped, not what is pasted."""

import base64
import binascii
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from ensemble.ui.shared import widget_state

KEY = "classify_paste"
MAX_PICTURES, _MAX_PICTURE_BYTES = 10, 20 * 2**20
HTML = """
<div class="paste">
  <button type="button" title="Ctrl+V does the same, anywhere on this page" disabled>
    Paste a picture
  </button>
  <span class="note" role="status"></span>
</div>
"""

PastedPictures = Sequence[tuple[str, bytes]]


def show_paste_button(on_paste: Callable[[PastedPictures], None]) -> None:
    """The button, and while it is there, an ear for Ctrl+V.

    Args:
      on_paste: called with the pictures' names, "" where they have none, and their bytes.
    """
    _create_paste_component()(key=KEY, width="content", on_pasted_change=lambda: on_paste(_read_pasted_pictures()))


def _read_pasted_pictures() -> PastedPictures:
    return _parse_pasted_pictures(widget_state.get_widget_value(KEY).get("pasted"))


def _parse_pasted_pictures(sent: Any) -> PastedPictures:
    """What a browser sent, within bounds; what is no picture's bytes is left out."""
    pictures = []
    for entry in sent[:MAX_PICTURES] if isinstance(sent, list) else []:
        try:
            content = base64.b64decode(entry["data"], validate=True)
            pictures.append((str(entry.get("name") or ""), content))
        except (TypeError, KeyError, AttributeError, binascii.Error, ValueError):
            continue
    return [picture for picture in pictures if len(picture[1]) <= _MAX_PICTURE_BYTES]


@functools.cache
def _create_paste_component() -> Any:
    folder = Path(__file__).parents[1] / "js"
    return st.components.v2.component(
        "ensemble_paste", html=HTML, css=(folder / "paste.css").read_text(), js=(folder / "paste.js").read_text()
    )
