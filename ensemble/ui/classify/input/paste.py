"""Pictures from the clipboard: Streamlit's uploader takes what is dropped, not what is pasted."""

import base64
import binascii
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from ensemble.ui.shared import widget

KEY = "classify_paste"
MOST, MOST_BYTES = 10, 20 * 2**20
HTML = """
<div class="paste">
  <button type="button" title="Ctrl+V does the same, anywhere on this page" disabled>
    Paste a picture
  </button>
  <span class="note" role="status"></span>
</div>
"""

Taken = Sequence[tuple[str, bytes]]


def show(on_paste: Callable[[Taken], None]) -> None:
    """The button, and while it is there, an ear for Ctrl+V.

    Args:
      on_paste: called with the pictures' names, "" where they have none, and their bytes.
    """
    component()(key=KEY, width="content", on_pasted_change=lambda: on_paste(taken()))


def taken() -> Taken:
    """What has just been pasted."""
    return cleaned(widget.value(KEY).get("pasted"))


def cleaned(sent: Any) -> Taken:
    """What a browser sent, within bounds; what is no picture's bytes is left out."""
    found = []
    for one in sent[:MOST] if isinstance(sent, list) else []:
        try:
            content = base64.b64decode(one["data"], validate=True)
            found.append((str(one.get("name") or ""), content))
        except (TypeError, KeyError, AttributeError, binascii.Error, ValueError):
            continue
    return [one for one in found if len(one[1]) <= MOST_BYTES]


@functools.cache
def component() -> Any:
    """The component, registered once."""
    folder = Path(__file__).parents[1] / "js"
    return st.components.v2.component(
        "ensemble_paste",
        html=HTML,
        css=(folder / "paste.css").read_text(),
        js=(folder / "paste.js").read_text(),
    )
