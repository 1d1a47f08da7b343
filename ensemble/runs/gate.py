"""The gate: which digits it was set on, how it judges, and what it lets through."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.averaging import average, confidence
from ensemble.analysis.halves import halves
from ensemble.analysis.rejection import Rarity, distances_to_nearest
from ensemble.data.dataset import Dataset
from ensemble.data.outside import outsiders
from ensemble.engine import Activations, activations

REFERENCE, HELD_OUT, JUDGED, STRANGERS = 1000, 400, 400, 100


@dataclass(frozen=True)
class Turned:
    """How many strangers of one kind are turned away.

    Attributes:
      key: the kind's name.
      title: what people call it.
      n: how many were shown.
      share: of them that were turned away, in [0, 1].
    """

    key: str
    title: str
    n: int
    share: float


@dataclass(frozen=True)
class Gate:
    """What the gate does when it may turn away a share of real digits.

    Attributes:
      refuse: that share, as asked for.
      threshold: turned away is what scores more.
      n: held-out digits that it was set on.
      judged: digits of the other half that it was judged on.
      kept: the share of those that it lets through.
      accuracy: of those it lets through, how many are read right.
      accuracy_all: of all of them.
      strangers: what became of images that are no digits.
      says: how it was set, in words.
    """

    refuse: float
    threshold: float
    n: int
    judged: int
    kept: float
    accuracy: float
    accuracy_all: float
    strangers: tuple[Turned, ...]
    says: str


class Judge:
    """Scores images by how strange they are to the members. Made once for a run and epoch."""

    def __init__(self, params: Any, dataset: Dataset) -> None:
        self._params, self._dataset = params, dataset
        labels = dataset.test_labels
        fitted, judged = (np.flatnonzero(half) for half in halves(labels))
        spread = np.linspace(0, len(dataset.train_labels) - 1, REFERENCE).astype(int)
        known = np.unique(spread)
        self.reference = activations(params, np.asarray(dataset.train_images[known])).features
        held_out = activations(params, np.asarray(dataset.test_images[fitted[:HELD_OUT]]))
        self._rarities = [Rarity.of(values) for values in self._values(held_out)]
        self.held_out = np.sort(self.scores(held_out))
        self._judged = judged[:JUDGED]
        self._figures: Any = None

    def scores(self, found: Activations) -> NDArray[np.float64]:
        """How strange N images are, (N,): higher is stranger."""
        pairs = zip(self._rarities, self._values(found), strict=True)
        return np.sum([rarity(values) for rarity, values in pairs], axis=0)

    def threshold(self, refuse: float) -> float:
        """The score that this share of held-out digits exceeds."""
        return float(np.quantile(self.held_out, 1 - refuse, method="higher"))

    def stranger_than(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The share of held-out digits that are less strange, (N,)."""
        return np.searchsorted(self.held_out, scores) / len(self.held_out)

    def gate(self, refuse: float) -> Gate:
        """What the gate does, judged on digits that it was not set on, and on strangers."""
        if self._figures is None:
            self._figures = self._measure()
        scores, right, strangers = self._figures
        threshold = self.threshold(refuse)
        kept = scores <= threshold
        turned = tuple(
            Turned(key, title, len(values), float((values > threshold).mean()))
            for key, title, values in strangers
        )
        return Gate(
            refuse, threshold, len(self.held_out), len(kept), float(kept.mean()),
            float(right[kept].mean()) if kept.any() else 0.0, float(right.mean()), turned,
            f"Set on {len(self.held_out):,} digits of the test set.",
        )  # fmt: skip

    def _measure(self) -> Any:
        found = activations(self._params, np.asarray(self._dataset.test_images[self._judged]))
        said = average(found.probabilities).argmax(-1)
        right = said == self._dataset.test_labels[self._judged]
        strangers = [
            (one.key, one.title, self.scores(activations(self._params, one.load())))
            for one in outsiders(self._dataset.name, STRANGERS)
        ]
        return self.scores(found), right, strangers

    def _values(self, found: Activations) -> list[NDArray[Any]]:
        doubt = 1 - confidence(average(found.probabilities))
        return [distances_to_nearest(found.features, self.reference), doubt]
