"""Lines of a regression's history: how well its members and the ensemble predict after an epoch."""

from typing import Any

from ensemble.analysis.numeric.normal_mixture import Doubles
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble, split_members
from ensemble.analysis.numeric.numeric_quality import measure_numeric_quality
from ensemble.storage.records.json_lines import Line, convert_to_json


def compute_numeric_metrics(split: str, predicted: NumericEnsemble, targets: Doubles) -> Line:
    """Compute what an epoch's line says about the "test" or the "validation" examples.

    Args:
      split: which.
      predicted: by the members that remain, M of them, for N examples.
      targets: (N,).
    """
    whole = measure_numeric_quality(predicted, targets)
    each = [measure_numeric_quality(member, targets) for member in split_members(predicted)]
    metrics = {f"{split}_{name}": [getattr(member, name) for member in each] for name in ("rmse", "nll", "crps")}
    return metrics | {f"ensemble_{split}_{name}": getattr(whole, name) for name in ("rmse", "nll", "crps")}


def build_numeric_epoch_line(predicted: NumericEnsemble, targets: Doubles, epoch: int, **more: Any) -> Line:
    """Build the line of an epoch whose predictions of the test examples alone are known.

    Args:
      predicted: by M members, for N examples.
      targets: (N,).
      epoch: counted from 1.
      more: other fields, such as `step` or `ensemble_validation_nll`.
    """
    place = {"kind": "epoch", "epoch": epoch, "step": epoch, "progress": float(epoch)}
    return convert_to_json({**place, **compute_numeric_metrics("test", predicted, targets), **more})
