"""Pictures of what is not a digit, by kinds: some to tune a reader on, and some that are held.

A held kind is never looked at while a reader is tuned: its figures say what a reader is worth
before what nobody has thought of. Letters that a hand or a font draws like a digit (O, I, l, S, B,
Z, g, q, b) are counted by themselves: nobody can tell them from the digit by the picture alone.
"""

from collections.abc import Callable
from typing import Any

from benchmarks.pictures.non_digits import documents, drawings, empty, fields, objects, shapes, textures, writing
from benchmarks.pictures.rendering import Photo

# In this order: a kind's place is in the seed of its pictures.
KINDS: dict[str, Callable[[Any, int], Photo]] = {
    "letters": writing.letter,
    "words": writing.words,
    "icons": writing.icon,
    "drawings": drawings.picture,
    "no writing": empty.picture,
    "other scripts": writing.script,
    "signs": writing.sign,
    "documents": documents.picture,
    "shapes": shapes.picture,
    "objects": objects.picture,
    "punctuation": writing.punctuation,
    "empty fields": fields.picture,
    "textures": textures.picture,
    "hairline letters": writing.hairline_letter,
    "letters like digits": writing.look_alike,
    "hairline drawings": drawings.hairline,
    "ticks": drawings.tick,
}
HELD = frozenset(("other scripts", "signs", "documents", "shapes", "objects", "hairline drawings", "ticks"))
LOOK_ALIKES = frozenset(("letters like digits",))
