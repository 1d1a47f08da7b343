"""The gate of a run: which digits its threshold was set on, and what it lets through."""

import functools
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from ensemble import datasets
from ensemble.analysis.quality.averaging import average
from ensemble.analysis.quality.halves import halves
from ensemble.engine import activations
from ensemble.recognition.novelty import Known
from ensemble.recognition.rejection import Rejection
from ensemble.shift.non_digits import KINDS, strangers
from ensemble.shift.ood_images import outsiders
from ensemble.shift.variation import varied
from ensemble.storage.cached_arrays import Arrays, digest_of, kept

Pixels = NDArray[np.uint8]

KNOWN = 12_000  # training digits that marks are compared with
DIGITS = 800  # held-out digits, of which one in four is shown as it is, the others varied
STRANGERS = 50  # of each kind


@dataclass(frozen=True, eq=False)
class Turned:
    """Strangers of one kind, and how many of them are turned away.

    Attributes:
      key: the kind's name.
      title: what people call it.
      n: how many were shown.
      share: of them that were turned away, in [0, 1].
      scores: (n,), how strange each was found.
    """

    key: str
    title: str
    n: int
    share: float
    scores: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Gate:
    """What the gate does when it may turn away a share of real digits.

    Attributes:
      refuse: that share, as asked for.
      threshold: turned away is what scores more.
      n: held-out digits that it was set on.
      known: (n,), their scores.
      judged: digits of the other half of the test set that it was judged on.
      kept: the share of those that it lets through.
      accuracy: of those it lets through, the share that is read right.
      accuracy_all: the same of all of them.
      strangers: what became of images that are no digits.
    """

    refuse: float
    threshold: float
    n: int
    known: NDArray[np.float32]
    judged: int
    kept: float
    accuracy: float
    accuracy_all: float
    strangers: tuple[Turned, ...]


class Judge:
    """Says how strange images are to a run's members. Made once for a run and epoch.

    Args:
      params: the members' parameters, leaves (M, …), on a device.
      dataset: the name of what they have learnt.
    """

    def __init__(self, params: Any, dataset: str) -> None:
        self._params, self._dataset = params, dataset
        self._known = known(dataset)
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(params)]
        self._made_from = f"{dataset} {datasets.load(dataset).fingerprint} {digest_of(leaves)}"
        held = kept("held-out", self._made_from, self._measure_held_out)
        self.rejection = Rejection.of(held["measures"])
        self._measured = functools.cache(self._measure)

    def measures(self, images: Pixels, probabilities: NDArray[np.float32]) -> NDArray[np.float64]:
        """How strange images (N, 28, 28, 1) are in four respects, (4, N)."""
        return self._known.measures(images, probabilities)

    def gate(self, refuse: float) -> Gate:
        """What the gate does, measured on digits that it was not set on, and on strangers."""
        threshold = self.rejection.threshold(refuse)
        scores, right, others = self._measured()
        kept = scores <= threshold
        ranked = self.rejection.held_out.astype(np.float32)
        turned = tuple(
            Turned(key, title, len(found), float((found > threshold).mean()), found)
            for key, title, found in others
        )
        return Gate(
            refuse, threshold, len(ranked), ranked, len(kept), float(kept.mean()),
            float(right[kept].mean()) if kept.any() else 0.0, float(right.mean()), turned,
        )  # fmt: skip

    def _measure_held_out(self) -> Arrays:
        images, _ = held_out(self._dataset, fitted=True)
        return {"measures": self._known.measures(images, self._asked(images))}

    def _measure(self) -> tuple[NDArray[np.float32], NDArray[np.bool_], list[Any]]:
        found = kept("gate", self._made_from, self._measure_others)
        each = np.split(found["strange"], np.cumsum(found["counts"])[:-1].astype(int))
        named = zip(found["keys"], found["titles"], each, strict=True)
        return found["scores"], found["right"], [(str(a), str(b), c) for a, b, c in named]

    def _measure_others(self) -> Arrays:
        images, labels = held_out(self._dataset, fitted=False)
        asked = self._asked(images)
        kinds = foreign(self._dataset)
        strange = np.concatenate([shown for _, _, shown in kinds])
        return {
            "scores": self._scores(images, asked),
            "right": average(asked).argmax(axis=-1) == labels,
            "strange": self._scores(strange, self._asked(strange)),
            "counts": np.array([len(shown) for _, _, shown in kinds]),
            "keys": np.array([key for key, _, _ in kinds]),
            "titles": np.array([title for _, title, _ in kinds]),
        }

    def _scores(self, images: Pixels, asked: NDArray[np.float32]) -> NDArray[np.float32]:
        return self.rejection.scores(self.measures(images, asked)).astype(np.float32)

    def _asked(self, images: Pixels) -> NDArray[np.float32]:
        return activations(self._params, images).probabilities


# What follows depends on the dataset alone, and is the same for every run and epoch on it.


@functools.lru_cache(maxsize=2)
def known(dataset: str) -> Known:
    """Training images that marks are compared with, evenly out of all: 14 MB at most."""
    found = datasets.load(dataset)
    classes = len(found.class_names)

    def make() -> Arrays:
        size = len(found.train_labels)
        chosen = np.unique(np.linspace(0, size - 1, min(KNOWN, size)).astype(np.int64))
        images = np.asarray(found.train_images[chosen])
        return Known.of(images, found.train_labels[chosen], classes).as_arrays()

    return Known.from_arrays(kept("known", f"{dataset} {found.fingerprint}", make))


@functools.lru_cache(maxsize=4)
def held_out(dataset: str, fitted: bool) -> tuple[Pixels, NDArray[np.int32]]:
    """Images and labels out of one half of the test set; three in four are varied."""
    found = datasets.load(dataset)
    half = np.flatnonzero(halves(found.test_labels)[0 if fitted else 1])
    chosen = half[np.linspace(0, len(half) - 1, min(DIGITS, len(half))).astype(np.int64)]
    images, labels = np.asarray(found.test_images[chosen]), found.test_labels[chosen]
    turn = np.arange(len(chosen)) % 4 != 0

    def make() -> Arrays:
        return {"images": varied(images[turn], seed=int(fitted))}

    changed = kept("varied", f"{dataset} {found.fingerprint} {fitted}", make)["images"]
    return np.concatenate([images[~turn], changed]), np.concatenate([labels[~turn], labels[turn]])


@functools.lru_cache(maxsize=2)
def foreign(dataset: str) -> tuple[tuple[str, str, Pixels], ...]:
    """Key, title and images of each kind of stranger that there is."""
    drawn = [(kind.key, kind.title, _drawn(kind.key)) for kind in KINDS.values()]
    others = [(one.key, one.title, one.load()) for one in outsiders(dataset, STRANGERS)]
    return (*drawn, *others)


def _drawn(kind: str) -> Pixels:
    return kept("strangers", f"{kind} {STRANGERS}", lambda: {"x": strangers(kind, STRANGERS)})["x"]
