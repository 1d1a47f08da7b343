"""What a stress job is made of: images to be shown to the members, and figures to be written down.

First the test images as they are, then every corruption at every amount (Ovadia et al. 2019),
then every set of out-of-distribution (OOD) images (Lakshminarayanan et al. 2017).
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.example_measures import EXAMPLE_MEASURES, MemberOutputs, compute_measures
from ensemble.analysis.inference.image_groups import Groups, select_groups
from ensemble.analysis.members.disagreement import entropy
from ensemble.analysis.quality import ood
from ensemble.runs.store import Run
from ensemble.runs.test_set import load_run_dataset, load_test_set
from ensemble.shift import shift_metrics as shift_figures
from ensemble.shift.accuracy_reference import AccuracyReference
from ensemble.shift.corruptions import Corruption, corrupt_images, scale_corruptions
from ensemble.shift.ood_images import OodSet, list_ood_sets
from ensemble.shift.results import KNOWN_KEY, Metrics, StressResults, read_ood_scores, write_ood_scores
from ensemble.storage.records.json_lines import convert_to_json

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class StressTask:
    """One step of the job.

    Attributes:
      title: its name on the screen.
      is_done: whether the results have it already.
      images: makes the images, uint8 (N, H, W, channels).
      add_to_results: takes the members' probabilities (M, N, C) of them and the results so far;
        returns the results with what they say.
    """

    title: str
    is_done: bool
    images: Callable[[], Pixels]
    add_to_results: Callable[[NDArray[np.float32], StressResults], StressResults]


def list_stress_tasks(run: Run, results: StressResults) -> list[StressTask]:
    """All tasks for a run, in order; those that `results` has are marked done.

    Raises:
      NotPreparedError: the run's dataset is not on this machine.
    """
    dataset = load_run_dataset(run)
    groups = select_groups(load_test_set(run).groups, np.arange(results.images))
    images = np.asarray(dataset.test_images[: results.images])
    labels = dataset.test_labels[: results.images]
    reference = AccuracyReference(run, labels, groups)
    shifted = [
        _build_corruption_task(
            kind, amount, images=images, labels=labels, groups=groups, reference=reference, results=results
        )
        for kind in scale_corruptions(images.shape[1:]).values()
        for amount in kind.amounts[1:]
    ]
    # What is estimated of corrupted images is fitted on the images as they are: shown once more
    # where some are left.
    clean_done = (
        results.clean is not None
        and "accuracy_estimate" in results.clean
        and read_ood_scores(run.path, KNOWN_KEY, results.tick) is not None
        and all(task.is_done for task in shifted)
    )
    clean = StressTask(
        "Test images as they are",
        clean_done,
        lambda: images,
        partial(_add_clean_metrics, run, labels, groups, reference),
    )
    ood_tasks = [_build_ood_task(run, ood_set, results) for ood_set in list_ood_sets(dataset.name, results.images)]
    return [clean, *shifted, *ood_tasks]


def _add_clean_metrics(
    run: Run,
    labels: NDArray[np.int32],
    groups: Groups | None,
    reference: AccuracyReference,
    probabilities: NDArray[np.float32],
    results: StressResults,
) -> StressResults:
    write_ood_scores(run.path, KNOWN_KEY, results.tick, _compute_member_ood_scores(probabilities))
    clean = {
        **shift_figures.compute_shift_metrics(probabilities, labels, groups=groups),
        "accuracy_fit": reference.fit_images(probabilities, results),
        "accuracy_estimate": reference.estimate_images(probabilities),
    }
    return replace(results, clean=convert_to_json(clean))


def _build_corruption_task(
    kind: Corruption,
    amount: float,
    images: Pixels,
    labels: NDArray[np.int32],
    groups: Groups | None,
    reference: AccuracyReference,
    results: StressResults,
) -> StressTask:
    def is_of_this(step: Metrics) -> bool:
        return bool((step["kind"], step["amount"]) == (kind.name, amount))

    def add_corruption_metrics(probabilities: NDArray[np.float32], results: StressResults) -> StressResults:
        figures = {
            "kind": kind.name,
            "amount": amount,
            **convert_to_json(
                shift_figures.compute_shift_metrics(probabilities, labels, _read_answer_threshold(results), groups)
            ),
            "accuracy_estimate": convert_to_json(reference.estimate_images(probabilities)),
        }
        others = [step for step in results.steps if not is_of_this(step)]
        return replace(results, steps=[*others, figures])

    # What an earlier version measured is without estimates: measured again.
    done = any(is_of_this(step) and "accuracy_estimate" in step for step in results.steps)
    words = f"{kind.title} {amount:g}{kind.unit}"
    return StressTask(words, done, lambda: corrupt_images(images, kind.name, amount), add_corruption_metrics)


def _read_answer_threshold(results: StressResults) -> float | None:
    """The confidence from which on an answer was given on the images as they are.

    Infinite where no threshold keeps to the rate; None where an earlier version measured them.
    """
    if results.clean is None or "answer_threshold" not in results.clean:
        return None
    threshold = results.clean["answer_threshold"]
    return math.inf if threshold is None else float(threshold)


def _build_ood_task(run: Run, ood_set: OodSet, results: StressResults) -> StressTask:
    def add_ood_metrics(probabilities: NDArray[np.float32], results: StressResults) -> StressResults:
        known_scores, scores = (
            read_ood_scores(run.path, KNOWN_KEY, results.tick),
            _compute_member_ood_scores(probabilities),
        )
        if known_scores is None:  # Somebody took the file away in this moment: asked again next time.
            return replace(results, clean=None)
        write_ood_scores(run.path, ood_set.key, results.tick, scores)
        figures = {
            "key": ood_set.key,
            "title": ood_set.title,
            "images": probabilities.shape[1],
            "measures": {
                name: _compute_separation(sign * known_scores[name], sign * scores[name])
                for name, measure in EXAMPLE_MEASURES.items()
                if name in known_scores
                for sign in [1 if measure.high_is_unsure else -1]
            },
            "members": [
                _compute_separation(*pair)
                for pair in zip(known_scores["member_entropy"], scores["member_entropy"], strict=True)
            ],
        }
        return replace(results, ood=[*results.ood, figures])

    done = any(ood_metrics["key"] == ood_set.key for ood_metrics in results.ood)
    return StressTask(ood_set.title, done, ood_set.load, add_ood_metrics)


def _compute_member_ood_scores(probabilities: NDArray[np.float32]) -> dict[str, NDArray[Any]]:
    members = np.stack([entropy(member.astype(np.float64)) for member in probabilities])
    return {**compute_measures(MemberOutputs(probabilities)), "member_entropy": members.astype(np.float32)}


def _compute_separation(known: NDArray[Any], unknown: NDArray[Any]) -> Metrics:
    """How well a score tells OOD images from known ones; compared as float32, as on the disk."""
    separation = ood.ood_separation(np.asarray(known, np.float32), np.asarray(unknown, np.float32))
    return convert_to_json(asdict(separation))
