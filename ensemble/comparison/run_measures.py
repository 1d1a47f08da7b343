"""What one run's ensemble reached at the epoch it is compared at, image by image.

Reckoned once for each version of a run's predictions, and cached on disk: reading 1.6 MB of
probabilities a run takes longer than all that is made of them.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.inference.crossed_means import RunVariance
from ensemble.analysis.inference.image_groups import Groups
from ensemble.analysis.inference.unseen_mistakes import estimate_mistake_nll
from ensemble.analysis.members.broken_members import judge_member_removal
from ensemble.analysis.members.member_variance import estimate_member_variances
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.averaging import average_probabilities, most_likely_classes
from ensemble.analysis.quality.metrics import MAIN_METRICS, ClassifierAnswers, Metric
from ensemble.comparison.image_identity import fingerprint_images, load_image_groups, load_image_labels
from ensemble.errors import RunError
from ensemble.runs.epoch_choice import CHOSEN_LAST, CHOSEN_ON_VALIDATION, is_chosen_on_validation
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.runs.store import Run
from ensemble.runs.validation_predictions import evaluate_validation_predictions
from ensemble.storage.arrays.disk_cache import load_or_compute_arrays
from ensemble.storage.arrays.npz import Arrays
from ensemble.storage.folder_index import file_version

_VARIANCE_METRICS = ("accuracy", "nll")


@dataclass(frozen=True, eq=False)
class RunMeasures:
    """A run's ensemble on its N test images. All arrays are read-only; equal is the same object.

    Attributes:
      run_id: the run.
      epoch: after which it is.
      chosen: "validation" where that is the epoch with the ensemble's lowest validation NLL,
        "last" where it is the last one with predictions: never the best on the test images.
      images: the fingerprint of the test images.
      share: (N,), the share of the members that are right, in [0, 1].
      per_image: the ensemble's metrics that are means over the images, of each image, (N,), by
        name.
      over_all_images: its metrics that are of all images at once, by name.
      better_without: (member, NLL without it, NLL with it), the member counted from 0, where the
        ensemble is shown to be better without one; None where it is not.
      member_variances: what other members of the same settings would add to the squared error of
        its "accuracy" and "nll"; {} of one member.
      mistake_nll: what the ensemble loses on average where it is wrong, in nats, by its own
        second guesses (`estimate_mistake_nll`).
      groups: which of the N images belong together; None where all are independent.
      are_members_independent: whether members share nothing but their settings: else, seeing the
        images in one order, they move together from seed to seed, by more than they tell.
    """

    run_id: str
    epoch: int
    chosen: str
    images: str
    share: NDArray[np.float64]
    per_image: Mapping[str, NDArray[Any]]
    over_all_images: Mapping[str, float]
    better_without: tuple[int, float, float] | None = None
    member_variances: Mapping[str, RunVariance] = field(default_factory=dict)
    are_members_independent: bool = False
    groups: Groups | None = None
    mistake_nll: float = 0.0

    @property
    def right(self) -> NDArray[np.bool_]:
        """(N,), where the ensemble is right."""
        return self.per_image["accuracy"]

    @property
    def nll(self) -> NDArray[np.float64]:
        """(N,), of the averaged probabilities, in nats."""
        return self.per_image["nll"]

    @property
    def n(self) -> int:
        """N."""
        return len(self.share)

    def value(self, metric: Metric) -> float:
        """One of the ensemble's metrics, of all images."""
        overall_value = self.over_all_images.get(metric.name)
        return float(self.per_image[metric.name].mean()) if overall_value is None else overall_value


def select_compared_epoch(run: Run) -> tuple[int, str]:
    """The epoch that a run is compared at, and how it was chosen: "validation" or "last".

    Raises:
      RunError: the run has no predictions.
    """
    kept = runs.list_prediction_epochs(run.id)
    if not kept:
        raise RunError(f"The run “{run.name}” is {run.state} and has no predictions yet.")
    epoch = runs.select_default_epoch(run, kept)
    return epoch, CHOSEN_ON_VALIDATION if is_chosen_on_validation(run, epoch) else CHOSEN_LAST


def measure_run(run: Run) -> RunMeasures:
    """What the run reached at `select_compared_epoch`: the same object until its files change.

    Raises:
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: there are no predictions, or they cannot be read.
    """
    epoch, chosen = select_compared_epoch(run)
    version = file_version(str(locate_epoch_file(run.path, "predictions", epoch)))
    return _load_run_measures(
        run.id, str(run.path), epoch=epoch, chosen=chosen, version=version, images=fingerprint_images(run)
    )


@functools.lru_cache(maxsize=64)  # of 10,000 images some 250 kB each
def _load_run_measures(run_id: str, place: str, epoch: int, chosen: str, version: Any, images: str) -> RunMeasures:
    names = " ".join(metric.name for metric in MAIN_METRICS)
    made_from = f"{place} {epoch} {version} {images} {names} {_VARIANCE_METRICS}"
    kept = load_or_compute_arrays("compared", made_from, lambda: _compute_run_measures(run_id, epoch))
    for values in kept.values():
        values.setflags(write=False)
    each = {metric.name: kept[metric.name] for metric in MAIN_METRICS if metric.example_function}
    whole = {metric.name: float(kept[metric.name]) for metric in MAIN_METRICS if metric.overall_function}
    better_without = None
    if len(kept["better_without"]):
        member, without, nll = kept["better_without"].tolist()
        better_without = int(member), without, nll
    variances = {
        name: RunVariance(variance, int(freedom))
        for name, (variance, freedom) in zip(_VARIANCE_METRICS, kept["member_variances"].tolist(), strict=False)
    }
    return RunMeasures(
        run_id=run_id,
        epoch=epoch,
        chosen=chosen,
        images=images,
        share=kept["share"],
        per_image=each,
        over_all_images=whole,
        better_without=better_without,
        member_variances=variances,
        are_members_independent=_are_members_independent(runs.find_run(run_id)),
        groups=load_image_groups(runs.find_run(run_id)),
        mistake_nll=float(kept["mistake_nll"]),
    )


def _compute_run_measures(run_id: str, epoch: int) -> Arrays:
    run = runs.find_run(run_id)
    probabilities, truth = runs.read_run_predictions(run_id, epoch), load_image_labels(run)
    answers = ClassifierAnswers.from_probabilities(average_probabilities(probabilities), truth)
    arrays = {
        "share": np.mean([most_likely_classes(member) == truth for member in probabilities], axis=0),
        "mistake_nll": np.array(estimate_mistake_nll(answers.probabilities)),
    }
    for metric in MAIN_METRICS:
        each = metric.example_function
        arrays[metric.name] = each(answers) if each else np.array(metric.measure(answers))
    removal = judge_member_removal(
        evaluate_predictions(probabilities, truth, load_image_groups(run)), evaluate_validation_predictions(run, epoch)
    )
    is_better = removal is not None and removal.is_better
    arrays["better_without"] = np.array(
        [removal.member, removal.nll_without, removal.nll] if removal and is_better else []
    )
    variances = estimate_member_variances(probabilities, truth)
    arrays["member_variances"] = np.array([variances[name] for name in _VARIANCE_METRICS if variances])
    return arrays


def _are_members_independent(run: Run) -> bool:
    """Whether each member has its own order of the images, or its own images.

    Of predictions that were made elsewhere that is not known.
    """
    config = run.training_config
    return config is not None and config.has_member_batches
