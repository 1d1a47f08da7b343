"""The accuracy that is estimated of corrupted images without their labels, beside the true one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import Groups
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.unlabelled.accuracy_estimate import (
    ESTIMATORS,
    MIN_IMAGES,
    AccuracyFit,
    estimate_accuracy,
    fit_accuracy,
    fit_half_accuracy,
)
from ensemble.analysis.unlabelled.output_measures import measure_outputs
from ensemble.runs.store import Run
from ensemble.runs.validation_predictions import evaluate_validation_predictions
from ensemble.shift.results import StressResults


class AccuracyReference:
    """Labelled images as they are, by which the accuracy on corrupted ones is estimated.

    Those are the run's validation images, where it holds some out and they are of the same
    members, and all test images are judged; else one half of the test images, and the corruptions
    of the other half are judged. Fitted by `fit_images`, before any is estimated.

    Args:
      run: the run.
      labels: (N,), of the test images that are measured.
      groups: (N,), which of them belong together; None where all are independent.
    """

    def __init__(self, run: Run, labels: NDArray[np.int32], groups: Groups | None) -> None:
        self._run, self._labels, self._groups = run, labels, groups
        self._fit: AccuracyFit | None = None
        self._judged = np.ones(len(labels), bool)

    def fit_images(self, probabilities: NDArray[np.float32], results: StressResults) -> dict[str, Any] | None:
        """Fit on labelled images; returns what was fitted, ready for JSON, None of too few.

        Args:
          probabilities: (M, N, C), of the test images as they are.
          results: which members these are.
        """
        self._fit, self._judged = None, np.ones(len(self._labels), bool)
        held_out = self._find_validation_predictions(results)
        if held_out is not None:
            self._fit, source = fit_accuracy(held_out), "validation"
        elif len(self._labels) >= 2 * MIN_IMAGES:
            test = evaluate_predictions(probabilities, self._labels, self._groups)
            self._fit, self._judged = fit_half_accuracy(test)
            source = "half"
        if self._fit is None or self._fit.n < MIN_IMAGES or self._judged.sum() < MIN_IMAGES:
            self._fit = None
            return None
        return {
            "source": source,
            "images": self._fit.n,
            "accuracy": self._fit.accuracy,
            "disagreement": self._fit.disagreement,
            "temperature": self._fit.temperature,
            "threshold": self._fit.threshold,
            "errors_per_disagreement": self._fit.errors_per_disagreement,
            "calibration": self._fit.calibration.verdict,
        }

    def estimate_images(self, probabilities: NDArray[np.float32]) -> dict[str, Any] | None:
        """The estimates (value, low, high) of corrupted images beside what is right, for JSON.

        Args:
          probabilities: (M, N, C), of all N test images, corrupted in one way.

        Returns:
          None where too few were fitted on or are judged.
        """
        if self._fit is None:
            return None
        outputs = measure_outputs(probabilities[:, self._judged])
        estimate = estimate_accuracy(self._fit, outputs)
        assert estimate.likeness is not None
        measure, p = estimate.likeness.strongest
        shares = {name: estimate.estimates.get(name) for name in ESTIMATORS}
        return {
            "images": outputs.n,
            "accuracy": float((outputs.answers == self._labels[self._judged]).mean()),
            **{name: [share.value, share.low, share.high] if share else None for name, share in shares.items()},
            "unlike_p": p,
            "unlike_measure": measure,
        }

    def _find_validation_predictions(self, results: StressResults) -> EnsemblePredictions | None:
        """Those of the same members; None of members that have gone on since that epoch."""
        if results.steps_after:
            return None
        held_out = evaluate_validation_predictions(self._run, results.epoch)
        if held_out is None or held_out.members != results.members:
            return None
        return held_out if len(held_out.labels) >= MIN_IMAGES else None
