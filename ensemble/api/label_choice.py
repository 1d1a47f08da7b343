"""Which images to label next, from members' probabilities."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemble.acquisition.next_labels import DEFAULT_COUNT, DEFAULT_STRATEGY, NextLabels, choose_next_labels
from ensemble.errors import PredictionsError
from ensemble.wording.next_labels import describe_next_labels, serialize_next_labels

if TYPE_CHECKING:
    import pandas as pd

ROW_SUM_TOLERANCE = 1e-2  # rounded to two decimals, as of files


@dataclass(frozen=True, eq=False)
class LabelChoice:
    """What to label next.

    Attributes:
      chosen: numbers of the chosen images, the first to label first.
      at_random: numbers of as many drawn at random, to be trained on beside them.
      found: all that is known of the choice, every measure of every image.
      noun: what one image is called.
    """

    chosen: NDArray[np.int64]
    at_random: NDArray[np.int64]
    found: NextLabels
    noun: str

    def to_dict(self) -> dict[str, Any]:
        """As `ensemble label next --json` prints it."""
        return serialize_next_labels(self.found, self.noun)

    def to_frame(self) -> "pd.DataFrame":
        """A row an image that is to be labelled, the chosen ones first."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["next"]).drop(columns="name")

    def __str__(self) -> str:
        """What is to be labelled, in a sentence."""
        return describe_next_labels(self.found, self.noun)


def choose_labels(
    probabilities: ArrayLike,
    *,
    by: str = DEFAULT_STRATEGY,
    count: int = DEFAULT_COUNT,
    seed: int = 0,
    noun: str = "image",
) -> LabelChoice:
    """Which of N images without labels to label next, by what M members say of them.

    Args:
      probabilities: (M, N, C), each row of C a distribution.
      by: "diversity", "power", "random" or the name of a measure, as "epistemic": docs/labelling.md.
      count: how many are chosen, and drawn at random beside them.
      seed: of what is drawn: the same numbers and the same seed give the same choice.
      noun: what one image is called.

    Raises:
      PredictionsError: these are no probabilities.
      ConfigError: there is no such way to choose, or one member alone cannot disagree.
    """
    each = np.asarray(probabilities)
    if each.ndim != 3 or 0 in each.shape or each.dtype.kind not in "fiu":
        raise PredictionsError(
            f"`probabilities` has the shape {each.shape} of {each.dtype}: give numbers (members, examples, classes)."
        )
    if not ((each >= 0).all() and (abs(each.sum(axis=2) - 1) <= ROW_SUM_TOLERANCE).all()):
        raise PredictionsError(
            "`probabilities` has a row that is below 0 or does not sum to 1: give probabilities, not logits."
        )
    found = choose_next_labels(each, by, count, seed)
    return LabelChoice(found.chosen, found.at_random, found, noun)
