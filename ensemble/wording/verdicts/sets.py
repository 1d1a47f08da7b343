"""Conformal sets in words: a set, what is promised of sets, and what they came to."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.inference.intervals import wilson
from ensemble.analysis.quality.conformal import Calibrated
from ensemble.analysis.quality.coverage import Achieved, by_chance
from ensemble.wording import formats
from ensemble.wording.formats import plural

Judged = Mapping[str, tuple[Calibrated, Achieved]]

METHODS = {"aps": "Adaptive (APS)", "raps": "Regularised (RAPS)", "lac": "Smallest (LAC)"}
BROKEN = 0.05  # of the draws in which the promise is kept, so many are called broken at most
HELP = (
    "Adaptive (APS): the likeliest classes until enough probability stands ahead; never empty. "
    "Regularised (RAPS): the same, with a price on each further class. Smallest (LAC): every class "
    "above one probability, the smallest sets on average; a set can be empty. All keep the promise."
)


def braces(row: NDArray[np.bool_], names: Sequence[str]) -> str:
    """A set of classes, (C,): "{4, 9}", "{}", or "any of the 10"."""
    if row.all() and len(names) > 2:
        return f"any of the {len(names)}"
    return "{" + ", ".join(name for name, kept in zip(names, row, strict=True) if kept) + "}"


def level(error_rate: float) -> str:
    """What share of sets is to hold the label: "95 %" for an error rate of 0.05."""
    return formats.percent(1 - error_rate, figures=2)


def too_few(made: Calibrated, noun: str) -> str:
    """Why every set holds all classes; "" where they do not have to."""
    if made.enough:
        return ""
    return (
        f"{made.n:,} calibration {plural(noun)} are too few for sets at "
        f"{level(made.error_rate)}: it "
        f"takes {made.needed:,}. Until then every set names all classes."
    )


def verdict(made: Calibrated, found: Achieved, noun: str) -> str:
    """What share of the sets holds the label and how large they are, against what was promised."""
    if few := too_few(made, noun):
        return few
    said = (
        f"Sets at {level(made.error_rate)} hold the {noun} "
        f"{formats.percent(found.coverage, found.n)} of the time, with {size(found.mean_size)}"
    )
    return f"{said}: less than promised." if by_chance(made, found) < BROKEN else f"{said}."


def size(mean: float) -> str:
    """A mean size: "1.08 classes on average"."""
    return f"{formats.significant(mean)} classes on average"


def calibrated_on(fitted: int, judged: int, noun: str, halved: bool) -> str:
    """On which images sets were calibrated and on which judged: a sentence without its end.

    Args:
      fitted: how many they were calibrated on.
      judged: how many others they are judged on.
      noun: what an image is called.
      halved: whether both are halves of the test images; else the former were held out.
    """
    if halved:
        return (
            f"Calibrated on one half of the test {plural(noun)} ({fitted:,}), judged on the other "
            f"{judged:,}"
        )
    return (
        f"Calibrated on the {fitted:,} validation {plural(noun)}, judged on the {judged:,} "
        f"test {plural(noun)}"
    )


def promise(made: Calibrated, noun: str, halved: bool = True) -> str:
    """What is promised and of which images, in full.

    Args:
      made: the sets.
      noun: what an image is called.
      halved: whether they were calibrated on test images; else on images held out of training.
    """
    low, high = made.expected
    like = "these" if halved else "the validation images"
    said = (
        f"The promise: of new {plural(noun)} like {like}, in {level(made.error_rate)} or more "
        "the set holds what it is. That is on average over calibrations"
    )
    if made.enough:
        given = formats.percents(low, high, 1)
        said += f"; with {made.n:,} calibration {plural(noun)} most give {given}"
    return (
        f"{said}. It is not a promise for each class, nor for images that come from elsewhere or "
        "under shift."
    )


def summary(sets: NDArray[np.bool_], covered: int, error_rate: float, noun: str) -> str:
    """Sets (N, C) of all test images in a line."""
    sizes = sets.sum(axis=1)
    several, none = int((sizes > 1).sum()), int((sizes == 0).sum())
    said = (
        f"Sets at {level(error_rate)}: {formats.percent(covered / len(sets), len(sets))} hold the "
        f"{noun}; {several:,} of {len(sets):,} name two or more"
    )
    return f"{said}, {none:,} none." if none else f"{said}."


def one(row: NDArray[np.bool_], error_rate: float, names: Sequence[str]) -> str:
    """One image's set: "{4, 9} at 95 %"."""
    return f"{braces(row, names)} at {level(error_rate)}"


def not_exchangeable(noun: str, set_on: str = "test") -> str:
    """That a person's own pictures have no promise.

    Args:
      noun: what an image is called.
      set_on: the images that the sets were calibrated on: "validation" or "test".
    """
    whose = "the validation images" if set_on == "validation" else "the test set's"
    return (
        f"Promised for {plural(noun)} like {whose}. Yours were written and photographed otherwise, "
        "so here it is a hint: the set may miss more often."
    )


WORST = 30  # classes in a table of many


def sees(found: Achieved, noun: str) -> str:
    """What to see in the picture."""
    n = found.n
    said = (
        f"{formats.percent(found.singletons / n, n)} of the {plural(noun)} get a set of one class"
    )
    several = n - found.singletons - found.empties
    said += f", {formats.percent(several / n, n)} two or more"
    if found.empties:
        said += f", {formats.percent(found.empties / n, n)} none: nothing is likely enough"
    return f"{said}. Orange: sets that miss what it is."


def by_method(each: Judged) -> pd.DataFrame:
    """A row for each kind of sets."""
    return pd.DataFrame(
        [
            {
                "sets": METHODS[name],
                "hold it": held(found.covered, found.n),
                "mean size": formats.significant(found.mean_size),
                "one class": f"{found.singletons:,}",
                "none": f"{found.empties:,}",
                "largest": f"{found.sizes.nonzero()[0].max():,}",
                "threshold": formats.significant(made.threshold) if made.enough else "none",
            }
            for name, (made, found) in each.items()
        ]
    )


def worst(found: Achieved, most: int = WORST) -> list[int]:
    """The classes to list: all, or of many those whose sets hold the label least often."""
    classes = np.arange(len(found.class_n))
    if len(classes) <= most:
        return [int(one) for one in classes]
    seen = classes[found.class_n > 0]
    share = found.class_covered[seen] / found.class_n[seen]
    return [int(one) for one in seen[np.lexsort((-found.class_n[seen], share))[:most]]]


def by_class(found: Achieved, names: Sequence[str], listed: Sequence[int]) -> pd.DataFrame:
    """A row for each class: the promise is for all together, and some classes may get less."""
    rows = (
        (names[c], int(found.class_n[c]), int(found.class_covered[c]), found.class_size[c])
        for c in listed
    )
    return pd.DataFrame(
        [
            {
                "class": name,
                "images": f"{n:,}",
                "hold it": held(covered, n),
                "mean size": formats.significant(float(size)) if n else "–",
            }
            for name, n, covered, size in rows
        ]
    )


def held(covered: int, n: int) -> str:
    """A share of sets with the ends of its 95 % interval: "96.4 % (93.3 to 98.1 %)"."""
    if not n:
        return "–"
    ends = formats.percents(*wilson(covered, n), places=formats.decimals(n))
    return f"{formats.percent(covered / n, n)} ({ends})"
