"""How right a run will be on images without labels, from what its members say of them."""

from typing import Any

from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.unlabelled.accuracy_estimate import estimate_accuracy
from ensemble.analysis.unlabelled.output_measures import measure_outputs
from ensemble.errors import PredictionsError
from ensemble.shift.accuracy_fit import fit_run_accuracy
from ensemble.wording.accuracy_estimates import AccuracyStatement

_ROW_SUM_TOLERANCE = 1e-2  # rounded to two decimals, as of files


def state_accuracy(run: runs.Run, epoch: int, probabilities: NDArray[Any]) -> AccuracyStatement:
    """The estimate, or why there is none.

    Args:
      run: the run.
      epoch: after which its members were asked.
      probabilities: (M, N, C), each row of C a distribution.

    Raises:
      PredictionsError: these are no probabilities of these members.
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: it keeps no predictions of that epoch.
    """
    fitted = fit_run_accuracy(run, epoch)
    members, classes = fitted.fit.measures.members, fitted.fit.measures.averaged.shape[1]
    if probabilities.ndim != 3 or probabilities.shape[::2] != (members, classes):
        raise PredictionsError(
            f"`probabilities` has the shape {probabilities.shape}, but the run has {members} "
            f"members and {classes} classes: give ({members}, N, {classes})."
        )
    if probabilities.dtype.kind not in "fiu":
        raise PredictionsError("`probabilities` holds no numbers: give floats from 0 to 1.")
    if not ((probabilities >= 0).all() and (abs(probabilities.sum(axis=2) - 1) <= _ROW_SUM_TOLERANCE).all()):
        raise PredictionsError(
            "`probabilities` has a row that is below 0 or does not sum to 1: give probabilities, not logits."
        )
    return AccuracyStatement(fitted, estimate_accuracy(fitted.fit, measure_outputs(probabilities)), run.data.noun)
