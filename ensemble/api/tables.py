"""Predictions as tables of pandas: a row a member, a row an example, a row a size of committee."""

from typing import TYPE_CHECKING, Any

from ensemble.analysis.example_measures import compute_measures
from ensemble.analysis.named_predictions import NamedPredictions
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.conformal import METHODS
from ensemble.analysis.quality.coverage import MISS_RATE, cross_conformal_sets
from ensemble.analysis.quality.quality import EnsembleQualities
from ensemble.errors import ConfigError
from ensemble.views.how_many_members import judge_committees, pick_best_committees, tabulate_committee_sizes
from ensemble.views.prediction_figures import check_allowed_value, check_enough_to_halve, check_two_members

if TYPE_CHECKING:
    import pandas as pd


def tabulate_member_metrics(qualities: EnsembleQualities, member_names: tuple[str, ...]) -> "pd.DataFrame":
    """Every metric of every member, (M rows), by the members' names."""
    import pandas as pd

    rows = [member.as_row() for member in qualities.members]
    return pd.DataFrame(rows, index=pd.Index(member_names, name="member"))


def tabulate_examples(
    predictions: NamedPredictions,
    labels: Any,
    rate: float = MISS_RATE,
    method: str = METHODS[0],
    fit: EnsemblePredictions | None = None,
) -> "pd.DataFrame":
    """What is said of each example, (N rows), by the examples' names, else by number.

    Args:
      predictions: the predictions.
      labels: (N,), what they are; None where nobody has said.
      rate: the share of the sets that may miss, in (0, 1).
      method: "aps", "raps" or "lac".
      fit: the same members' predictions of other examples, to calibrate the sets on.

    Raises:
      ConfigError: the rate or the method is out of its range, or there are too few examples.
    """
    import pandas as pd

    if not 0 < rate < 1:
        raise ConfigError(f"rate is {rate:g}: it has to be a share between 0 and 1.")
    check_allowed_value("method", method, METHODS)
    names = predictions.class_names
    columns: dict[str, Any] = {}
    if labels is not None:
        columns["label"] = [names[label] for label in labels]
    columns["said"] = [names[c] for c in predictions.said]
    if labels is not None:
        columns["right"] = predictions.said == labels
    columns |= compute_measures(predictions)
    columns["votes"] = [tuple(names[c] for c in votes) for votes in predictions.votes.T]
    if labels is not None or fit is not None:
        calibration = None if fit is None else (fit.averaged, fit.labels)
        if calibration is None:
            check_enough_to_halve(predictions, None)
        sets = cross_conformal_sets(
            predictions.averaged,
            predictions.said if labels is None else labels,  # with `fit` they are not looked at
            error_rate=rate,
            method=method,
            calibration=calibration,
            groups=predictions.groups,
        )
        columns["set"] = [tuple(names[c] for c in row.nonzero()[0]) for row in sets]
        columns["set_size"] = sets.sum(axis=1)
    index = pd.Index(predictions.example_names or range(len(predictions.said)), name=predictions.noun)
    return pd.DataFrame(columns, index=index)


def tabulate_committees(predictions: NamedPredictions, fit: EnsemblePredictions | None = None) -> "pd.DataFrame":
    """Every size of committee: each metric's mean, least and largest, as Inspect's CSV has them.

    Args:
      predictions: the predictions.
      fit: the same members' predictions of other examples, to choose the best committees on.

    Raises:
      ConfigError: there is one member.
    """
    check_two_members(predictions)
    best = pick_best_committees(predictions, fit)
    return tabulate_committee_sizes(judge_committees(predictions), best)
