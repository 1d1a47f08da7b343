"""A run's rejection threshold: the digits that it is set on, and the share of others it rejects."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.datasets.partition.split import HoldoutSettings
from ensemble.datasets.registry import find_dataset_entry
from ensemble.engine import Activations, compute_activations
from ensemble.recognition.calibration_images import (
    CalibrationSource,
    load_held_out_images,
    load_known_images,
    select_training_images,
)
from ensemble.recognition.class_subspaces import ClassSubspaces, compute_free_energy, count_feature_images
from ensemble.recognition.digit_novelty import KnownDigits
from ensemble.recognition.image_novelty import KnownImages
from ensemble.recognition.rejection import Rejection
from ensemble.runs.members import Members
from ensemble.shift.non_digits import NON_DIGIT_KINDS, draw_non_digits
from ensemble.shift.ood_images import list_ood_sets
from ensemble.storage.arrays.disk_cache import Arrays, digest_array_list, is_kept, load_or_compute_arrays

Pixels = NDArray[np.uint8]

PEN_MEASURE_NAMES = ("energy", "features", *KnownDigits.MEASURE_NAMES)  # of the measures, of what a pen wrote
NON_DIGITS_PER_KIND = 50  # of each kind


@dataclass(frozen=True, eq=False)
class RejectedOodSet:
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
      held_out_scores: (n,), their scores.
      judged_count: test digits that it is judged on, none of them among the former.
      coverage: the share of those that it accepts.
      accuracy: of those it accepts, the share that is read right.
      accuracy_all: the same of all of them.
      non_digits: what becomes of images that are no digits.
      threshold_split: on which images it is set: "validation", or one half of the "test" images.
      written: whether the dataset's images are what a pen wrote; what they are like is changed as
        pens do, and letters and signs are among the others.
    """

    refuse: float
    value: float
    n: int
    held_out_scores: NDArray[np.float32]
    judged_count: int
    coverage: float
    accuracy: float
    accuracy_all: float
    non_digits: tuple[RejectedOodSet, ...]
    threshold_split: str = "test"
    written: bool = True


class NoveltyJudge:
    """Gives images their measures of novelty for a run's members. Made once for a run and epoch.

    Args:
      members: whose.
      dataset: the name of what they have learnt.
      held: by what settings training images were held out of that.
    """

    def __init__(self, members: Members, dataset: str, held: HoldoutSettings) -> None:
        self._members, self._source = members, CalibrationSource.from_holdout(dataset, held)
        self._known = load_known_images(self._source)
        self._made_from = identify_calibration(members, self._source)
        self._features = self._load_class_subspaces() if isinstance(self._known, KnownDigits) else None
        arrays = load_or_compute_arrays("held-out", self._made_from, self._measure_held_out)
        self.rejection = Rejection.from_measures(arrays["measures"])
        self.load_judged_scores = functools.cache(self._load_judged_scores)

    @property
    def measure_names(self) -> Sequence[str]:
        """What the measures are called."""
        return PEN_MEASURE_NAMES if self._features else self._known.MEASURE_NAMES

    def compute_measures(self, images: Pixels, activations: Activations) -> NDArray[np.float64]:
        """The measures of images (N, H, W, channels), in the order of `measure_names`: (K, N).

        Args:
          images: as the members were asked about them.
          activations: what these made of them.
        """
        if not isinstance(self._known, KnownDigits) or self._features is None:
            assert isinstance(self._known, KnownImages)
            return self._known.compute_measures(images, activations.probabilities)
        answers = average_probabilities(activations.probabilities).argmax(axis=-1)
        member_measures = (
            compute_free_energy(activations.logits),
            self._features.compute_distances(activations.features, answers),
        )
        return np.concatenate([np.stack(member_measures), self._known.compute_measures(images, answers)])

    def _load_class_subspaces(self) -> ClassSubspaces:
        def compute_subspace_arrays() -> Arrays:
            M = len(jax.tree.leaves(self._members.params)[0])
            images, labels, classes = select_training_images(self._source, count_feature_images(M))
            return ClassSubspaces.from_features(self._compute_activations(images).features, labels, classes).as_arrays()

        return ClassSubspaces(**load_or_compute_arrays("features", self._made_from, compute_subspace_arrays))

    def compute_rejection_threshold(self, refuse: float) -> RejectionThreshold:
        """The threshold, judged on digits that it is not set on and on non-digits.

        Raises:
          ValueError: `refuse` is not in (0, 1).
        """
        threshold = self.rejection.compute_threshold(refuse)
        scores, right, ood_sets = self.load_judged_scores()
        accepted = scores <= threshold
        ranked = self.rejection.held_out_scores.astype(np.float32)
        rejected = tuple(
            RejectedOodSet(key, title, len(ood_scores), float((ood_scores > threshold).mean()), ood_scores)
            for key, title, ood_scores in ood_sets
        )
        return RejectionThreshold(
            refuse=refuse,
            value=threshold,
            n=len(ranked),
            held_out_scores=ranked,
            judged_count=len(accepted),
            coverage=float(accepted.mean()),
            accuracy=float(right[accepted].mean()) if accepted.any() else 0.0,
            accuracy_all=float(right.mean()),
            non_digits=rejected,
            threshold_split=self._source.threshold_split,
            written=find_dataset_entry(self._source.dataset).is_mnist_like,
        )

    def _measure_held_out(self) -> Arrays:
        images, _ = load_held_out_images(self._source, fitted=True)
        return {"measures": self.compute_measures(images, self._compute_activations(images))}

    def _load_judged_scores(self) -> tuple[NDArray[np.float32], NDArray[np.bool_], list[Any]]:
        arrays = load_or_compute_arrays("judged", self._made_from, self._measure_judged)
        each = np.split(arrays["ood"], np.cumsum(arrays["counts"])[:-1].astype(int))
        named = zip(arrays["keys"], arrays["titles"], each, strict=True)
        return arrays["scores"], arrays["right"], [(str(a), str(b), c) for a, b, c in named]

    def _measure_judged(self) -> Arrays:
        images, labels = load_held_out_images(self._source, fitted=False)
        activations = self._compute_activations(images)
        kinds = _list_ood_images(self._source.dataset, self._source.fingerprint)
        strange = np.concatenate([images for _, _, images in kinds])
        return {
            "scores": self._compute_scores(images, activations),
            "right": average_probabilities(activations.probabilities).argmax(axis=-1) == labels,
            "ood": self._compute_scores(strange, self._compute_activations(strange)),
            "counts": np.array([len(images) for _, _, images in kinds]),
            "keys": np.array([key for key, _, _ in kinds]),
            "titles": np.array([title for _, title, _ in kinds]),
        }

    def _compute_scores(self, images: Pixels, activations: Activations) -> NDArray[np.float32]:
        return self.rejection.compute_scores(self.compute_measures(images, activations)).astype(np.float32)

    def _compute_activations(self, images: Pixels) -> Activations:
        return compute_activations(self._members.network, self._members.params, images)


def identify_calibration(members: Members, source: CalibrationSource) -> str:
    """What a calibration is made from, in a word: it differs where its numbers do."""
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(members.params)]
    return f"{source.cache_key} {digest_array_list(leaves)}"


def is_calibration_kept(source: CalibrationSource, made_from: str) -> bool:
    """Whether a `NoveltyJudge` finds everything on the disk, so that it is made in a moment.

    Args:
      source: where the held-out images come from.
      made_from: of `identify_calibration`.
    """
    written = find_dataset_entry(source.dataset).is_mnist_like
    names = ("features", "held-out", "judged") if written else ("held-out", "judged")
    return is_kept("known", source.cache_key) and all(is_kept(name, made_from) for name in names)


def calibrate_rejection(
    members: Members, dataset: str, held: HoldoutSettings, report: Callable[[float, str], None]
) -> None:
    """Compute all that a `NoveltyJudge` needs, and keep it on the disk.

    Args:
      members: whose rejection it is.
      dataset: the name of what they have learnt.
      held: by what settings training images were held out of that.
      report: told between two steps which share is done, in [0, 1], and what comes next. What it
        raises ends this; what was computed is kept.
    """
    source = CalibrationSource.from_holdout(dataset, held)
    report(0.0, "Looking at the training images.")
    load_known_images(source)
    report(0.2, "Changing held-out images as people would.")
    for fitted in (True, False):
        load_held_out_images(source, fitted)
    report(0.4, "Drawing what belongs to no class.")
    _list_ood_images(source.dataset, source.fingerprint)
    report(0.5, "Showing the members held-out images.")
    judge = NoveltyJudge(members, dataset, held)
    report(0.8, "Showing the members what belongs to no class.")
    judge.load_judged_scores()
    report(1.0, "")


def _list_ood_images(dataset: str, fingerprint: str = "") -> tuple[tuple[str, str, Pixels], ...]:
    """Key, title and images of each kind of out-of-distribution image that there is.

    Letters, signs and scribbles are shown only to those that have learnt what a pen writes.
    """
    return _draw_ood_images(dataset, fingerprint, NON_DIGITS_PER_KIND)


@functools.lru_cache(maxsize=2)
def _draw_ood_images(dataset: str, fingerprint: str, per_kind: int) -> tuple[tuple[str, str, Pixels], ...]:
    kinds = NON_DIGIT_KINDS.values() if find_dataset_entry(dataset).is_mnist_like else ()
    drawn = [(kind.key, kind.title, _load_non_digits(kind.key, per_kind)) for kind in kinds]
    ood_images = [(ood_set.key, ood_set.title, ood_set.load()) for ood_set in list_ood_sets(dataset, per_kind)]
    return (*drawn, *ood_images)


def _load_non_digits(kind: str, per_kind: int) -> Pixels:
    def draw_non_digit_arrays() -> Arrays:
        return {"x": draw_non_digits(kind, per_kind)}

    return load_or_compute_arrays("non-digits", f"{kind} {per_kind}", draw_non_digit_arrays)["x"]
