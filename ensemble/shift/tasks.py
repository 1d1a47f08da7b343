"""What a stress job is made of: images to be shown to the members, and figures to be written down.

First the test images as they are, then every corruption at every amount (Ovadia et al. 2019),
then every set of out-of-distribution (OOD) images (Lakshminarayanan et al. 2017).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.members.disagreement import entropy
from ensemble.analysis.quality import ood
from ensemble.runs.store import Run
from ensemble.runs.test_set import dataset_of
from ensemble.shift import figures as shift_figures
from ensemble.shift.corruptions import Kind, corrupt, kinds
from ensemble.shift.ood_images import OodSet, ood_sets
from ensemble.shift.results import KNOWN, Figures, Results, read_scores, write_scores
from ensemble.storage.records.lines import plain

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Task:
    """One step of the job.

    Attributes:
      words: its name on the screen.
      done: whether the results have it already.
      images: makes the images, uint8 (N, H, W, channels).
      keep: takes the members' probabilities (M, N, C) of them and the results so far; returns
        the results with what they say.
    """

    words: str
    done: bool
    images: Callable[[], Pixels]
    keep: Callable[[NDArray[np.float32], Results], Results]


def tasks(run: Run, results: Results) -> list[Task]:
    """All tasks for a run, in order; those that `results` has are marked done.

    Raises:
      NotPreparedError: the run's dataset is not on this machine.
    """
    dataset = dataset_of(run)
    images = np.asarray(dataset.test_images[: results.images])
    labels = dataset.test_labels[: results.images]
    known = results.clean is not None and read_scores(run.path, KNOWN, results.tick) is not None
    clean = Task("Test images as they are", known, lambda: images, partial(_clean, run, labels))
    shifted = [
        _shift(kind, amount, images, labels, results)
        for kind in kinds(images.shape[1:]).values()
        for amount in kind.amounts[1:]
    ]
    others = [_ood(run, one, results) for one in ood_sets(dataset.name, results.images)]
    return [clean, *shifted, *others]


def _clean(
    run: Run, labels: NDArray[np.int32], found: NDArray[np.float32], results: Results
) -> Results:
    write_scores(run.path, KNOWN, results.tick, _scores(found))
    return replace(results, clean=plain(shift_figures.measure(found, labels)))


def _shift(
    kind: Kind, amount: float, images: Pixels, labels: NDArray[np.int32], results: Results
) -> Task:
    def keep(found: NDArray[np.float32], results: Results) -> Results:
        figures = {
            "kind": kind.name,
            "amount": amount,
            **plain(shift_figures.measure(found, labels)),
        }
        return replace(results, steps=[*results.steps, figures])

    done = any((one["kind"], one["amount"]) == (kind.name, amount) for one in results.steps)
    words = f"{kind.title} {amount:g}{kind.unit}"
    return Task(words, done, lambda: corrupt(images, kind.name, amount), keep)


def _ood(run: Run, shown: OodSet, results: Results) -> Task:
    def keep(found: NDArray[np.float32], results: Results) -> Results:
        known, scores = read_scores(run.path, KNOWN, results.tick), _scores(found)
        if known is None:  # Somebody took the file away in this moment: asked again next time.
            return replace(results, clean=None)
        write_scores(run.path, shown.key, results.tick, scores)
        figures = {
            "key": shown.key,
            "title": shown.title,
            "images": found.shape[1],
            "ensemble": _separation(known["entropy"], scores["entropy"]),
            "information": _separation(known["information"], scores["information"]),
            "members": [
                _separation(*pair)
                for pair in zip(known["member_entropy"], scores["member_entropy"], strict=True)
            ],
        }
        return replace(results, ood=[*results.ood, figures])

    done = any(one["key"] == shown.key for one in results.ood)
    return Task(shown.title, done, shown.load, keep)


def _scores(found: NDArray[np.float32]) -> dict[str, NDArray[Any]]:
    """The ensemble's scores of each image, and the entropy of each member alone."""
    members = np.stack([entropy(member.astype(np.float64)) for member in found])
    return {**ood.scores(found), "member_entropy": members.astype(np.float32)}


def _separation(known: NDArray[Any], unknown: NDArray[Any]) -> Figures:
    """How well a score tells OOD images from known ones; compared as float32, as on the disk."""
    found = ood.separation(np.asarray(known, np.float32), np.asarray(unknown, np.float32))
    return plain({"auroc": found.auroc, "fpr95": found.fpr95})
