"""The forms in which members predict numbers: normal distributions, quantiles, or numbers alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.numeric.ensemble_forms import list_ensemble_arrays
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.point_ensemble import PointEnsemble
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble

NumericEnsemble = NormalMixture | QuantileEnsemble | PointEnsemble


def get_ensemble_arrays(ensemble: NumericEnsemble) -> dict[str, Doubles]:
    """Those arrays of an ensemble, M first."""
    return {name: getattr(ensemble, name) for name in list_ensemble_arrays(ensemble.form)}


def build_numeric_ensemble(
    form: str, arrays: dict[str, NDArray[np.float64]], levels: Sequence[float] = ()
) -> NumericEnsemble:
    """The ensemble of these arrays.

    Args:
      form: one of `FORMS`.
      arrays: by `list_ensemble_arrays`.
      levels: (L,), of quantiles.

    Raises:
      ValueError: a number is none that it may be.
    """
    if form == "normal":
        return NormalMixture(arrays["mean"], arrays["variance"])
    if form == "points":
        return PointEnsemble(arrays["mean"])
    return QuantileEnsemble(np.asarray(levels, np.float64), arrays["quantiles"])


def split_members(ensemble: NumericEnsemble) -> list[NumericEnsemble]:
    """Each member as an ensemble of its own."""
    return [ensemble.select_members([member]) for member in range(ensemble.members)]
