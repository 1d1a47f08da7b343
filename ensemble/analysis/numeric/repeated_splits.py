"""Figures of ensembles that were trained on several splits of one table."""

from collections.abc import Sequence

import numpy as np

from ensemble.analysis.numeric.numeric_evaluation import NumericEvaluation

SplitSummary = dict[str, dict[str, dict[str, float]]]


def summarize_splits(evaluations: Sequence[NumericEvaluation]) -> SplitSummary:
    """Compute means with standard errors over splits: of the ensemble, of a member, of the gain.

    The standard error is the standard deviation over splits divided by √K. Test parts of different
    splits overlap, so it is of other splits of these rows, not of other rows.

    Args:
      evaluations: K, one for each split, at least two.

    Returns:
      By "ensemble", "member" (the members' mean) and "saved" (member less ensemble), then by
      "rmse", "nll" and "crps": "mean" and "standard_error".

    Source: J. M. Hernández-Lobato and R. P. Adams, "Probabilistic backpropagation for scalable
    learning of Bayesian neural networks", ICML 2015 (20 splits, mean ± standard error); C. Nadeau
    and Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003), 239-281
    (why overlapping splits understate the error for other rows).
    """
    summary: SplitSummary = {"ensemble": {}, "member": {}, "saved": {}}
    for name in ("rmse", "nll", "crps"):
        ensembles = np.array([getattr(each.ensemble, name) for each in evaluations], np.float64)
        members = np.array([np.mean([getattr(member, name) for member in each.members]) for each in evaluations])
        columns = {"ensemble": ensembles, "member": members, "saved": members - ensembles}
        for who, values in columns.items():
            error = float(values.std(ddof=1) / np.sqrt(len(values)))
            summary[who][name] = {"mean": float(values.mean()), "standard_error": error}
    return summary
