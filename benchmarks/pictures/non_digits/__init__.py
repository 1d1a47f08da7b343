"""Pictures of what is not a digit, by kinds: five to tune a reader on, and five that are held.

A held kind is never looked at while a reader is tuned: its figures say what a reader is worth
before what nobody has thought of.
"""

from collections.abc import Callable
from typing import Any

from benchmarks.pictures.non_digits import documents, drawings, empty, objects, shapes, writing
from benchmarks.pictures.rendering import Photo

TUNING: dict[str, Callable[[Any, int], Photo]] = {
    "letters": writing.letter,
    "words": writing.words,
    "icons": writing.icon,
    "drawings": drawings.picture,
    "no writing": empty.picture,
}
HELD: dict[str, Callable[[Any, int], Photo]] = {
    "other scripts": writing.script,
    "signs": writing.sign,
    "documents": documents.picture,
    "shapes": shapes.picture,
    "objects": objects.picture,
}
KINDS = TUNING | HELD
