"""Names of classes and members, and of the split: short text, no two alike."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.entry import sanitize_noun
from ensemble.datasets.own.request import sanitize_text
from ensemble.errors import PredictionsError

MOST_LETTERS = 80
MAX_NOUN_LENGTH = 40
MOST_BYTES = 2**20  # of an array of names


def parse_name_array(field: str, values: NDArray[Any]) -> tuple[str, ...]:
    """The names in an array of text or numbers, whatever its shape.

    Args:
      field: what the file calls it, for the sentence.
      values: small: whoever reads it has looked at its size.

    Raises:
      PredictionsError: one is empty, too long, or there twice.
    """
    names = [sanitize_name(value) for value in values.reshape(-1).tolist()]
    return check_distinct_names(field, names)


def check_distinct_names(field: str, names: Sequence[str]) -> tuple[str, ...]:
    """These names, once each can be shown and told from the others; see `parse_name_array`."""
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        if not name:
            raise PredictionsError(f"`{field}[{place}]` is empty: give it a name.")
        if len(name) > MOST_LETTERS:
            raise PredictionsError(
                f"`{field}[{place}]` has {len(name):,} characters: give it a name of at most {MOST_LETTERS}."
            )
        if name in first:
            raise PredictionsError(
                f"`{field}` has “{name}” twice, at {first[name]} and {place}: give each a different one."
            )
        first[name] = place
    return tuple(names)


def check_name_count(field: str, names: tuple[str, ...], count: int, noun: str) -> tuple[str, ...]:
    """These names, if there are as many as members or classes; PredictionsError else."""
    if len(names) != count:
        raise PredictionsError(
            f"`{field}` has {len(names):,} entries for {count:,} {noun}: give one for each, or leave it out."
        )
    return names


def parse_noun(values: NDArray[Any]) -> str:
    """What an array says that one example is.

    Raises:
      PredictionsError: it is not one word, or several.
    """
    if values.size != 1:
        raise PredictionsError("`noun` is not one word: give one, such as np.array('leaf').")
    return check_noun(parse_name_array("noun", values)[0])


def check_noun(text: str) -> str:
    """What one example is called, in the singular, as it is shown.

    Raises:
      PredictionsError: it is no word, or too long.
    """
    noun = " ".join(text.split())
    if noun != sanitize_noun(noun) or len(noun) > MAX_NOUN_LENGTH:
        raise PredictionsError(
            f"The noun {text!r:.60} is not a word: use letters, digits, spaces and hyphens, as in "
            f"leaf, {MAX_NOUN_LENGTH} at most."
        )
    return noun


def parse_split_label(values: NDArray[Any]) -> str:
    """What the examples are of, from an array of one text.

    Raises:
      PredictionsError: it is more than one, or too long.
    """
    if values.size != 1:
        raise PredictionsError("`split` is not one name: give one, such as np.array('test').")
    return parse_name_array("split", values)[0]


def number_duplicate_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names that were made here, of files say: those that are there twice get a number."""
    numbered_names: list[str] = []
    for name in names:
        wanted, number = name, 1
        while wanted in numbered_names:
            number += 1
            wanted = f"{name} ({number})"
        numbered_names.append(wanted)
    return tuple(numbered_names)


def sanitize_name(value: object) -> str:
    """A name in one line, without what cannot be seen or would turn the text around it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return sanitize_text(str(value))


def generate_default_names(count: int, word: str = "") -> tuple[str, ...]:
    """Names where nobody gave any: "0", "1" … of classes, "member 1" … with a word."""
    if word:
        return tuple(f"{word} {number + 1}" for number in range(count))
    return tuple(map(str, np.arange(count)))
