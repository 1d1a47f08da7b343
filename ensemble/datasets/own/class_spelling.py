"""Classes whose names differ only in how they are spelt: made one, kept apart, or asked about.

Names that differ in their Unicode form alone are one (NFC). Those that differ in capitals, spaces
or underscores may be one or not: whoever adds them says.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.request import CHOICE_OPTIONS
from ensemble.datasets.own.source import DatasetImageFormat, PictureSource, PictureSurvey, Pixels, UnreadablePicture
from ensemble.errors import DataError

_MAX_PAIRS = 3  # that are named


class _MergedClassSource:
    """A source some of whose classes are one; a `source.PictureSource`.

    Args:
      source: with the classes as they are spelt.
      numbers: (C,), which of `names` each of its classes is.
      names: of the classes that are left.
      notes: what is said of it.
    """

    def __init__(
        self, source: PictureSource, numbers: NDArray[np.int32], names: tuple[str, ...], notes: list[str]
    ) -> None:
        self._source, self.class_names = source, names
        self.origin, self.notes = source.origin, source.notes
        self.notes += notes
        self.labels: Mapping[str, NDArray[np.int32]] = {
            split: numbers[labels] for split, labels in source.labels.items()
        }
        self.groups = source.groups

    def survey(self) -> PictureSurvey:
        """As of the source."""
        return self._source.survey()

    def iterate_pictures(self, split: str, form: DatasetImageFormat) -> Iterator[Pixels | UnreadablePicture]:
        """As of the source."""
        return self._source.iterate_pictures(split, form)


def resolve_class_spelling(source: PictureSource, merge: bool | None) -> PictureSource:
    """The source with every class once.

    Args:
      source: any.
      merge: whether classes whose names differ only in capitals, spaces or underscores are one;
        None where nobody has said.

    Raises:
      DataError: there are such classes, and nobody has said.
    """
    names = source.class_names
    forms = [unicodedata.normalize("NFC", name) for name in names]
    folded = [fold_class_name(name) for name in names]
    alike = _group_places(folded)
    undecided = [[names[place] for place in places] for places in alike if len({forms[place] for place in places}) > 1]
    if undecided and merge is None:
        raise DataError(
            f"{describe_similar_names(undecided)} differ only in capitals, spaces or "
            f"underscores: say whether they are one class with {CHOICE_OPTIONS}."
        )
    together = alike if merge else _group_places(forms)
    counts = np.zeros(len(names), np.int64)
    for labels in source.labels.values():
        counts += np.bincount(labels, minlength=len(names))
    kept = {max(places, key=lambda place: (counts[place], -place)): places for places in together}
    if len(kept) == len(names):
        if undecided:
            source.notes.append(f"{describe_similar_names(undecided)} are kept as classes of their own.")
        return source
    numbers = np.zeros(len(names), np.int32)
    for number, place in enumerate(sorted(kept)):
        numbers[kept[place]] = number
    notes = [
        f"{describe_similar_names([[names[each] for each in places]])} are one class, “{forms[place]}”."
        for place, places in kept.items()
        if len(places) > 1
    ]
    return _MergedClassSource(source, numbers, tuple(forms[place] for place in sorted(kept)), notes[:_MAX_PAIRS])


def fold_class_name(name: str) -> str:
    """What names of a class share that differ only in how they are spelt."""
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    return re.sub(r"[\s_]+", "", plain) or plain


def _group_places(keys: Sequence[str]) -> list[list[int]]:
    groups: dict[str, list[int]] = {}
    for place, key in enumerate(keys):
        groups.setdefault(key, []).append(place)
    return list(groups.values())


def describe_similar_names(groups: Sequence[Sequence[str]]) -> str:
    """Names in quotes: "“Cat” and “cat”; “dog” and “Dog”; and 2 more pairs"."""
    listed = ["“" + "” and “".join(names[:_MAX_PAIRS]) + "”" for names in groups[:_MAX_PAIRS]]
    more = len(groups) - _MAX_PAIRS
    return "; ".join(listed) + (f"; and {more:,} more" if more > 0 else "")
