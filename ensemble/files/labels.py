"""What stands for "no label": the same in tables, arrays and archives, for pictures and predictions."""

import re
from collections.abc import Iterable

_WORDS = frozenset({"", "nan", "na", "n/a", "#n/a", "<na>", "null", "unknown"})
_MINUS_1 = re.compile(r"[-−]1(\.0*)?")
_NUMBER = re.compile(r"([-−]?\d+)(\.0*)?")


def find_missing_labels(labels: Iterable[object], names: Iterable[str] = ()) -> set[str]:
    """The labels that mean "no label": −1, NaN, empty and unknown, spelled as `str` does.

    A label that is also the name of a class is one. −1 is a class where all labels are −1 and 1, or others are
    below −1.

    Args:
      labels: of all examples, each once or more.
      names: of the classes, where a list of them was given.
    """
    texts = {str(label) for label in labels} - set(names)
    missing = {text for text in texts if text.strip().casefold() in _WORDS}
    minus = {text for text in texts if _MINUS_1.fullmatch(text.strip())}
    numbers = {
        int(match[1].replace("−", "-")) for text in texts - missing if (match := _NUMBER.fullmatch(text.strip()))
    }
    is_class = (numbers == {-1, 1} and len(texts - missing) == 2) or any(number < -1 for number in numbers)
    return missing if is_class else missing | minus
