"""Predictions that know what they are of: what their classes, members and examples are called."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from ensemble.analysis.predictions import EnsemblePredictions


@dataclass(frozen=True, eq=False)
class NamedPredictions(EnsemblePredictions):
    """Predictions with the words for them, as a table or a picture says them.

    Attributes:
      class_names: what the C classes are called.
      member_names: what the M members are called.
      noun: what one example is called, in the singular.
      source: whose they are, for titles: "three sizes · epoch 4"; "" where nobody said.
      notes: what was assumed as they were read, a sentence each.
      example_names: what the N examples are called; none where nobody said.
    """

    class_names: tuple[str, ...]
    member_names: tuple[str, ...]
    noun: str
    source: str
    notes: tuple[str, ...] = ()
    example_names: tuple[str, ...] = ()

    @classmethod
    def from_predictions(
        cls,
        predictions: EnsemblePredictions,
        class_names: Sequence[str] | None = None,
        member_names: Sequence[str] | None = None,
        noun: str = "example",
        source: str = "",
    ) -> Self:
        """The same predictions with words; by default classes are numbers, members "member 1".

        Raises:
          ValueError: there are fewer or more names than classes or members.
        """
        C = predictions.averaged.shape[1]
        classes = _check_names(class_names, [str(c) for c in range(C)], "class")
        members = _check_names(member_names, [f"member {m + 1}" for m in range(predictions.members)], "member")
        words: dict[str, Any] = {"class_names": classes, "member_names": members}
        fields = {name: getattr(predictions, name) for name in EnsemblePredictions.__dataclass_fields__}
        return cls(**fields, **words, noun=noun, source=source)


def _check_names(names: Sequence[str] | None, usual: Sequence[str], what: str) -> tuple[str, ...]:
    checked_names = tuple(map(str, usual if names is None else names))
    if len(checked_names) != len(usual):
        raise ValueError(f"{len(checked_names):,} {what} names for {len(usual):,}: give one for each.")
    return checked_names
