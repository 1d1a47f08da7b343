"""The real images that others are compared with, and that the rejection threshold is set on.

Where a run holds training images out, the threshold is set on these, and marks are compared with
the other training images alone: a digit held out is to be as new to the measures as a person's.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import datasets
from ensemble.analysis.quality.conformal import fewest
from ensemble.analysis.quality.halves import halves
from ensemble.datasets.registry import find
from ensemble.datasets.split import Held, validation_indices
from ensemble.recognition import image_novelty, novelty
from ensemble.recognition.image_novelty import Chosen, KnownImages
from ensemble.recognition.novelty import Known
from ensemble.shift.image_variation import changed
from ensemble.shift.variation import varied
from ensemble.storage.arrays.disk_cache import Arrays, cached

Pixels = NDArray[np.uint8]

KNOWN = 12_000  # training digits that marks are compared with
DIGITS = 800  # held-out digits, of which one in four is shown as it is, the others varied
PIXEL_BYTES = 32 * 2**20  # of the images of other datasets: of large ones fewer are held out
FEWEST = fewest(0.01)  # with fewer there is no threshold at the smallest share on offer


@dataclass(frozen=True)
class Source:
    """A dataset, and the share of its training images that the threshold is set on.

    Attributes:
      dataset: its name.
      validation: the share held out; 0: the threshold is set on one half of the test images.
      seed: of the draw of the images held out; 0 where none are.
      fingerprint: of a person's own dataset, whose name may be given to another one.
    """

    dataset: str
    validation: float = 0.0
    seed: int = 0
    fingerprint: str = ""

    @classmethod
    def of(cls, dataset: str, held: Held) -> "Source":
        """Of a run by its settings; where it holds out fewer than FEWEST, the test images serve."""
        own = find(dataset).fingerprint
        source = cls(dataset, held.validation, held.seed, own)
        return source if len(source.held) >= FEWEST else cls(dataset, fingerprint=own)

    @property
    def held(self) -> NDArray[np.int64]:
        """The numbers of the training images held out, rising; none where `validation` is 0."""
        return validation_indices(self, datasets.load(self.dataset).train_labels)

    @property
    def set_on(self) -> str:
        """Which images the threshold is set on: "validation" or "test"."""
        return "validation" if self.validation else "test"

    @property
    def key(self) -> str:
        """What names it in a cache: it differs where the images do."""
        split = f" held out {self.validation} {self.seed}" if self.validation else ""
        return f"{self.dataset} {datasets.load(self.dataset).fingerprint}{split}"


# What follows depends on the dataset and the split alone, and is the same for every epoch.


@functools.lru_cache(maxsize=2)
def known(source: Source) -> Known | KnownImages:
    """Training images that others are compared with, evenly out of all: 18 MB at most."""
    found = datasets.load(source.dataset)
    classes = len(found.class_names)
    form = Known if find(source.dataset).written else KnownImages

    def make() -> Arrays:
        images, labels, _ = learnt(source, KNOWN)
        return form.of(images, labels, classes).as_arrays()

    return form.from_arrays(cached("known", source.key, make))


def learnt(source: Source, most: int) -> tuple[Any, NDArray[np.int32], int]:
    """Training images not held out, evenly out of all, their labels, and how many classes."""
    found = datasets.load(source.dataset)
    chosen = evenly(np.delete(np.arange(len(found.train_labels)), source.held), most)
    images = taken(source.dataset, found.train_images, chosen)
    return images, found.train_labels[chosen], len(found.class_names)


@functools.lru_cache(maxsize=2)
def pictures(dataset: str, fingerprint: str = "") -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Numbers of test images, evenly out of all, and their pictures as distances are taken in."""
    found = datasets.load(dataset)
    chosen = evenly(np.arange(len(found.test_labels)), KNOWN)
    return chosen, picture(dataset)(taken(dataset, found.test_images, chosen))


def taken(dataset: str, images: Pixels, numbers: NDArray[np.int64]) -> Any:
    """Some of the images, those of digits as an array, others read as they are asked for."""
    return np.asarray(images[numbers]) if find(dataset).written else Chosen(images, numbers)


def picture(dataset: str) -> Callable[[Any], NDArray[np.float32]]:
    """What makes of images (N, H, W, channels) the few numbers that distances are taken in."""
    return novelty.pictures if find(dataset).written else image_novelty.pictures


@functools.lru_cache(maxsize=4)
def held_out(source: Source, fitted: bool) -> tuple[Pixels, NDArray[np.int32]]:
    """Images and labels that nobody learnt from; three in four are varied.

    Args:
      source: of which dataset, and where the former come from.
      fitted: those that the threshold is set on, else those that it is judged on.
    """
    found = datasets.load(source.dataset)
    images, labels = found.test_images, found.test_labels
    pen = find(source.dataset).written
    if not source.validation:
        chosen = np.flatnonzero(halves(labels)[0 if fitted else 1])
    elif fitted:
        images, labels, chosen = found.train_images, found.train_labels, source.held
    else:
        chosen = np.arange(len(labels))
    few = DIGITS if pen else max(FEWEST, min(DIGITS, PIXEL_BYTES // images[0].size))
    chosen = evenly(chosen, few)
    shown, labels = np.asarray(images[chosen]), labels[chosen]
    turn = np.arange(len(chosen)) % 4 != 0

    def make() -> Arrays:
        return {"images": (varied if pen else changed)(shown[turn], seed=int(fitted))}

    others = cached("varied", f"{source.key} {fitted}", make)["images"]
    return np.concatenate([shown[~turn], others]), np.concatenate([labels[~turn], labels[turn]])


def evenly(numbers: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most so many of these, evenly out of all of them."""
    places = np.linspace(0, len(numbers) - 1, min(most, len(numbers))).astype(np.int64)
    return numbers[places]
