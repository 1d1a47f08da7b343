"""Which mark of a picture is open, in this tab; another picture starts with its first."""

from ensemble.ui.shared import widget_state
from ensemble.ui.shared.tab import tab


def find_open_mark(ident: str, marks: int, default: int = 0) -> int:
    """The open mark of the picture of that ident, from 0."""
    picture_id, kept = tab.mark_open
    return kept if picture_id == ident and kept < marks else min(default, max(0, marks - 1))


def _set_open_mark(ident: str, index: int) -> None:
    """Callback: open another mark."""
    tab.mark_open = ident, index


def open_pressed_mark(key: str, ident: str) -> None:
    pressed = widget_state.get_widget_value(key).get("opened")
    if isinstance(pressed, int | float) and 0 <= pressed < 1000:
        _set_open_mark(ident, int(pressed))
