"""Which mark of a picture is open, in this tab; another picture starts with its first."""

from ensemble.ui.shared import widget
from ensemble.ui.shared.tab import tab


def index(ident: str, marks: int, default: int = 0) -> int:
    """The open mark of the picture of that ident, from 0."""
    of, kept = tab.mark_open
    return kept if of == ident and kept < marks else min(default, max(0, marks - 1))


def put(ident: str, index: int) -> None:
    """Callback: open another mark."""
    tab.mark_open = ident, index


def follow(key: str, ident: str) -> None:
    """Callback of a component that says which mark was pressed."""
    pressed = widget.value(key).get("opened")
    if isinstance(pressed, int | float) and 0 <= pressed < 1000:
        put(ident, int(pressed))
