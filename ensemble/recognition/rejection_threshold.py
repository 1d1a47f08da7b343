"""A run's rejection threshold: the digits that it is set on, and the share of others it rejects."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import average
from ensemble.datasets.registry import find
from ensemble.datasets.split import Held
from ensemble.engine import Activations, activations
from ensemble.recognition.calibration_images import Source, held_out, known, learnt
from ensemble.recognition.features import Features, energy, shown
from ensemble.recognition.image_novelty import KnownImages
from ensemble.recognition.novelty import Known
from ensemble.recognition.rejection import Rejection
from ensemble.runs.members import Members
from ensemble.shift.non_digits import KINDS, non_digits
from ensemble.shift.ood_images import ood_sets
from ensemble.storage.arrays.disk_cache import Arrays, cached, digest_of

Pixels = NDArray[np.uint8]

NAMES = ("energy", "features", *Known.NAMES)  # of the measures, of what a pen wrote
NON_DIGITS = 50  # of each kind


@dataclass(frozen=True, eq=False)
class Rejected:
    """Out-of-distribution images of one kind, and how many of them are rejected.

    Attributes:
      key: the kind's name.
      title: what people call it.
      n: how many were shown.
      share: of them that were rejected, in [0, 1].
      scores: (n,), their OOD scores.
    """

    key: str
    title: str
    n: int
    share: float
    scores: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class RejectionThreshold:
    """The threshold that rejects a given share of real digits, and what it does to others.

    Attributes:
      refuse: that share, as asked for.
      value: the threshold itself: what scores more is rejected.
      n: held-out digits that it is set on.
      known: (n,), their scores.
      judged: test digits that it is judged on, none of them among the former.
      coverage: the share of those that it accepts.
      accuracy: of those it accepts, the share that is read right.
      accuracy_all: the same of all of them.
      non_digits: what becomes of images that are no digits.
      set_on: on which images it is set: "validation", or one half of the "test" images.
      written: whether the dataset's images are what a pen wrote; what they are like is changed as
        pens do, and letters and signs are among the others.
    """

    refuse: float
    value: float
    n: int
    known: NDArray[np.float32]
    judged: int
    coverage: float
    accuracy: float
    accuracy_all: float
    non_digits: tuple[Rejected, ...]
    set_on: str = "test"
    written: bool = True


class Judge:
    """Gives images their measures of novelty for a run's members. Made once for a run and epoch.

    Args:
      members: whose.
      dataset: the name of what they have learnt.
      held: by what settings training images were held out of that.
    """

    def __init__(self, members: Members, dataset: str, held: Held) -> None:
        self._members, self._source = members, Source.of(dataset, held)
        self._known = known(self._source)
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(members.params)]
        self._made_from = f"{self._source.key} {digest_of(leaves)}"
        self._features = self._of_training() if isinstance(self._known, Known) else None
        found = cached("held-out", self._made_from, self._measure_held_out)
        self.rejection = Rejection.of(found["measures"])
        self._measured = functools.cache(self._measure)

    @property
    def named(self) -> Sequence[str]:
        """What the measures are called."""
        return NAMES if self._features else self._known.NAMES

    def measures(self, images: Pixels, asked: Activations) -> NDArray[np.float64]:
        """The measures of images (N, H, W, channels), in the order of `named`: (K, N).

        Args:
          images: as the members were asked about them.
          asked: what these made of them.
        """
        if not isinstance(self._known, Known) or self._features is None:
            assert isinstance(self._known, KnownImages)
            return self._known.measures(images, asked.probabilities)
        said = average(asked.probabilities).argmax(axis=-1)
        seen = energy(asked.logits), self._features.distances(asked.features, said)
        return np.concatenate([np.stack(seen), self._known.measures(images, said)])

    def _of_training(self) -> Features:
        """What the members see in images of training, evenly out of all."""

        def make() -> Arrays:
            M = len(jax.tree.leaves(self._members.params)[0])
            images, labels, classes = learnt(self._source, shown(M))
            return Features.of(self._asked(images).features, labels, classes).as_arrays()

        return Features(**cached("features", self._made_from, make))

    def rejection_threshold(self, refuse: float) -> RejectionThreshold:
        """The threshold, judged on digits that it is not set on and on non-digits.

        Raises:
          ValueError: `refuse` is not in (0, 1).
        """
        threshold = self.rejection.threshold(refuse)
        scores, right, others = self._measured()
        accepted = scores <= threshold
        ranked = self.rejection.held_out.astype(np.float32)
        rejected = tuple(
            Rejected(key, title, len(found), float((found > threshold).mean()), found)
            for key, title, found in others
        )
        return RejectionThreshold(
            refuse,
            threshold,
            len(ranked),
            ranked,
            len(accepted),
            float(accepted.mean()),
            float(right[accepted].mean()) if accepted.any() else 0.0,
            float(right.mean()),
            rejected,
            self._source.set_on,
            find(self._source.dataset).written,
        )

    def _measure_held_out(self) -> Arrays:
        images, _ = held_out(self._source, fitted=True)
        return {"measures": self.measures(images, self._asked(images))}

    def _measure(self) -> tuple[NDArray[np.float32], NDArray[np.bool_], list[Any]]:
        found = cached("judged", self._made_from, self._measure_others)
        each = np.split(found["ood"], np.cumsum(found["counts"])[:-1].astype(int))
        named = zip(found["keys"], found["titles"], each, strict=True)
        return found["scores"], found["right"], [(str(a), str(b), c) for a, b, c in named]

    def _measure_others(self) -> Arrays:
        images, labels = held_out(self._source, fitted=False)
        asked = self._asked(images)
        kinds = ood_images(self._source.dataset, self._source.fingerprint)
        strange = np.concatenate([images for _, _, images in kinds])
        return {
            "scores": self._scores(images, asked),
            "right": average(asked.probabilities).argmax(axis=-1) == labels,
            "ood": self._scores(strange, self._asked(strange)),
            "counts": np.array([len(images) for _, _, images in kinds]),
            "keys": np.array([key for key, _, _ in kinds]),
            "titles": np.array([title for _, title, _ in kinds]),
        }

    def _scores(self, images: Pixels, asked: Activations) -> NDArray[np.float32]:
        return self.rejection.scores(self.measures(images, asked)).astype(np.float32)

    def _asked(self, images: Pixels) -> Activations:
        return activations(self._members.network, self._members.params, images)


@functools.lru_cache(maxsize=2)
def ood_images(dataset: str, fingerprint: str = "") -> tuple[tuple[str, str, Pixels], ...]:
    """Key, title and images of each kind of out-of-distribution image that there is.

    Letters, signs and scribbles are shown only to those that have learnt what a pen writes.
    """
    kinds = KINDS.values() if find(dataset).written else ()
    drawn = [(kind.key, kind.title, _drawn(kind.key)) for kind in kinds]
    others = [(one.key, one.title, one.load()) for one in ood_sets(dataset, NON_DIGITS)]
    return (*drawn, *others)


def _drawn(kind: str) -> Pixels:
    def make() -> Arrays:
        return {"x": non_digits(kind, NON_DIGITS)}

    return cached("non-digits", f"{kind} {NON_DIGITS}", make)["x"]
