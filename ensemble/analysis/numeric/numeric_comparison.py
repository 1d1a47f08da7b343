"""Ensembles that predict the same numbers, against each other, example by example."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ensemble.analysis.inference.crossed_means import CrossedMean, RunVariance, estimate_crossed_mean
from ensemble.analysis.inference.image_groups import Groups, collapse_groups
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble

_JACKKNIFE_PARTS = 10  # members of more are left out several at a time


def compute_comparable_losses(
    ensemble: NumericEnsemble, targets: Doubles, levels: Collection[tuple[float, ...]] = ()
) -> dict[str, Doubles]:
    """Compute an ensemble's losses that can be compared with those of others, (N,) by name.

    Quantiles and densities, or quantiles of different levels, are not compared by the CRPS, which
    few levels only approximate: densities are judged by the pinball loss of the others' levels.

    Args:
      ensemble: N examples.
      targets: (N,).
      levels: the distinct levels of the quantiles among all that are compared; none without quantiles.
    """
    losses = ensemble.compute_losses(targets)
    if len(levels) > 1:
        return {name: loss for name, loss in losses.items() if name not in ("crps", "pinball")}
    if levels and isinstance(ensemble, NormalMixture):
        [chosen] = levels
        quantiles = [ensemble.compute_quantile(level) for level in chosen]
        same = QuantileEnsemble(np.array(chosen), np.maximum.accumulate(quantiles)[None])
        del losses["crps"]
        losses["pinball"] = same.compute_pinball(targets).mean(axis=0)
    return losses


def compare_losses(
    losses: ArrayLike, others: ArrayLike, groups: Groups | None = None, run_variances: Sequence[RunVariance] = ()
) -> CrossedMean:
    """Estimate how much lower the mean loss of K runs is than that of L others; positive if they are better.

    Args:
      losses: (K, N) of one setting's runs.
      others: (L, N) of another's, on the same examples.
      groups: (N,), the group of each example; None if examples are independent.
      run_variances: of each side, if both have one run whose members are independent.
    """
    own, apart = np.atleast_2d(losses), np.atleast_2d(others)
    if groups is not None:
        own, apart = collapse_groups(own, groups), collapse_groups(apart, groups)
    each = own.mean(axis=0) - apart.mean(axis=0)
    # A single example does not show how examples differ.
    bound = float(np.abs(each - each.mean() if len(each) > 1 else each).max())
    lost = estimate_crossed_mean(own, apart, bound=bound, run_variances=run_variances)
    return replace(lost, mean=-lost.mean, low=-lost.high, high=-lost.low)


def estimate_member_variances(ensemble: NumericEnsemble, targets: Doubles) -> dict[str, RunVariance]:
    """Estimate the variance of each mean loss over other draws of the members (jackknife).

    Members are left out one by one, or in 10 parts if there are more. See
    `ensemble.analysis.members.member_variance` for the formula and its source.

    Args:
      ensemble: M members that share nothing but their settings.
      targets: (N,).

    Returns:
      By loss, without the CRPS of densities; {} for fewer than two members.
    """
    if ensemble.members < 2:
        return {}
    every = np.arange(ensemble.members)
    parts = np.array_split(every, min(ensemble.members, _JACKKNIFE_PARTS))
    figures: dict[str, list[float]] = {}
    for part in parts:
        others = ensemble.select_members(np.setdiff1d(every, part))
        if isinstance(others, NormalMixture):  # whose CRPS takes pairs of members
            squared = (targets - others.compute_mean()) ** 2
            losses = {"squared_error": squared, "nll": others.compute_nll(targets)}
        else:
            losses = others.compute_losses(targets)
        for metric, loss in losses.items():
            figures.setdefault(metric, []).append(float(loss.mean()))
    return {
        metric: RunVariance((len(parts) - 1) * float(np.var(values)), len(parts) - 1)
        for metric, values in figures.items()
    }
