"""The labelled images by which a run's accuracy on images without labels is estimated."""

from dataclasses import dataclass
from typing import Literal

from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.unlabelled.accuracy_estimate import AccuracyFit, fit_accuracy
from ensemble.errors import RunError
from ensemble.runs.epoch_choice import select_default_epoch
from ensemble.runs.history import list_prediction_epochs, read_run_predictions
from ensemble.runs.store import Run
from ensemble.runs.test_set import load_test_set
from ensemble.runs.validation_predictions import evaluate_validation_predictions

_LabelledImages = Literal["validation", "test"]


@dataclass(frozen=True, eq=False)
class RunAccuracyFit:
    """What estimates of a run's accuracy are fitted on.

    Attributes:
      run: the run.
      epoch: whose members were asked.
      fit: what they say of labelled images.
      source: which these are: its validation images where it holds some out, else all test images.
    """

    run: Run
    epoch: int
    fit: AccuracyFit
    source: _LabelledImages


def fit_run_accuracy(run: Run, epoch: int | None = None) -> RunAccuracyFit:
    """The fit of a run after an epoch, from 1; None is that of `select_default_epoch`.

    Raises:
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: it keeps no predictions of that epoch, they are damaged, or of too few images.
    """
    kept = list_prediction_epochs(run.id)
    if not kept:
        raise RunError(f"The run “{run.id}” has no predictions on labelled images: nothing says how often it is right.")
    at = select_default_epoch(run, kept) if epoch is None else epoch
    labelled = evaluate_validation_predictions(run, at)
    source: _LabelledImages = "test" if labelled is None else "validation"
    try:
        return RunAccuracyFit(run, at, fit_accuracy(labelled or _evaluate_test_predictions(run, at)), source)
    except ValueError as error:
        raise RunError(
            f"The predictions of epoch {at} of “{run.id}” are damaged, or of fewer than two "
            "images: nothing can be fitted on them. Choose another epoch."
        ) from error


def _evaluate_test_predictions(run: Run, epoch: int) -> EnsemblePredictions:
    test = load_test_set(run)
    return evaluate_predictions(read_run_predictions(run.id, epoch), test.labels, test.groups)
