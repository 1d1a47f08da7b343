"""Groups of regressions beside each other: the best settings, losses with intervals, differences."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from ensemble.analysis.inference.crossed_means import OVER_SEEDS_AND_IMAGES
from ensemble.comparison.regression_groups import (
    SQUARED_ERROR,
    RegressionComparison,
    RegressionGroup,
    compare_regression_groups,
)
from ensemble.comparison.run_groups import group_runs
from ensemble.errors import EnsembleError
from ensemble.runs.store import Run
from ensemble.views.parts import Paragraph, Table, View
from ensemble.wording import formats
from ensemble.wording.verdicts.ensemble_gain import format_p_value, format_signed
from ensemble.wording.verdicts.settings_verdict import (
    describe_baseline,
    describe_settings_verdict,
    list_settings_evidence,
    serialize_settings_verdict,
)

_LOSS_TITLES = {
    SQUARED_ERROR: "RMSE",
    "nll": "NLL",
    "pinball": "pinball loss",
    "crps": "CRPS",
    "absolute_error": "absolute error",
}


def build_regression_comparison(runs: Sequence[Run], baseline: str | None = None) -> View:
    """Show which settings are best, every group's losses, and its differences to the baseline.

    Args:
      runs: regressions on the same test rows; those that differ in the seed alone are one group.
      baseline: a run of the group that the others are compared with; None for the usual choice.
    """
    try:
        comparison = compare_regression_groups(group_runs(runs), baseline)
    except EnsembleError as error:
        yield Paragraph(str(error), "unavailable")
        return
    yield from show_regression_comparison(comparison)


def show_regression_comparison(comparison: RegressionComparison) -> View:
    if verdict := comparison.verdict:
        yield Paragraph(describe_settings_verdict(verdict), "answer")
        for sentence in (*list_settings_evidence(verdict, "row"), describe_baseline(verdict)):
            if sentence:
                yield Paragraph(sentence, "evidence")
    yield Table(
        "Test losses by group",
        pd.DataFrame([_tabulate_group(group) for group in comparison.groups]).fillna("–"),
        note="Mean over the seeds, with the lowest and the highest run. Each run is judged after the epoch chosen on "
        f"its validation rows, else after its last, on {formats.format_count(comparison.examples, 'test row')}.",
        key="regression_groups",
    )
    if comparison.baseline and len(comparison.groups) > 1:
        yield Table(
            f"Saved against {comparison.baseline.group.title}",
            pd.DataFrame(_tabulate_differences(comparison)),
            note=f"Positive is better. {_describe_intervals(comparison)}; squared errors are in the squared unit. "
            f"Each p is adjusted for {formats.format_count(comparison.tests, 'test')}, all losses of all pairs (Holm).",
            key="regression_differences",
        )


def _describe_intervals(comparison: RegressionComparison) -> str:
    every = {difference.saved.over for pairs in comparison.differences.values() for difference in pairs.values()}
    if OVER_SEEDS_AND_IMAGES not in every:
        return "95 % intervals over rows, of these trained runs alone"
    unknown = " where those are known" if len(every) > 1 else ""
    return f"95 % intervals over rows and seeds{unknown}"


def _tabulate_group(group: RegressionGroup) -> dict[str, str]:
    seconds = [run.status.seconds for run in group.runs if run.status.seconds]
    row = {
        "group": group.group.title,
        "runs": f"{len(group.runs):,}",
        "time": formats.format_duration(float(np.mean(seconds)) if seconds else None),
    }
    for loss in group.losses:
        row[_LOSS_TITLES[loss]] = _format_range(group.list_run_means(loss))
    return row


def _format_range(means: Sequence[float]) -> str:
    text = formats.format_significant(float(np.mean(means)))
    if len(means) == 1:
        return text
    return f"{text} ({formats.format_significant(min(means))} to {formats.format_significant(max(means))})"


def _tabulate_differences(comparison: RegressionComparison) -> list[dict[str, str]]:
    assert comparison.baseline
    base, rows = comparison.baseline.group.key, list[dict[str, str]]()
    for group in comparison.groups:
        if group.group.key == base:
            continue
        row = {"group": group.group.title}
        for loss, pairs in comparison.differences.items():
            difference = pairs[group.group.key, base]
            saved = difference.saved
            ends = f"{format_signed(saved.low)} to {format_signed(saved.high)}"
            title = "squared error" if loss == SQUARED_ERROR else _LOSS_TITLES[loss]
            row[title] = f"{format_signed(saved.mean)} ({ends}), {format_p_value(difference.adjusted_p)}"
        rows.append(row)
    return rows


def serialize_regression_comparison(comparison: RegressionComparison, by: Sequence[str]) -> dict[str, Any]:
    """The comparison, ready for JSON."""
    base = comparison.baseline.group.key if comparison.baseline else None
    return {
        "task": "regression",
        "by": list(by) or None,
        "baseline": base,
        "tests": comparison.tests,
        "examples": comparison.examples,
        "groups": [
            {
                "key": group.group.key,
                "title": group.group.title,
                "run_ids": [run.id for run in group.group.runs],
                "counted": [run.id for run in group.runs],
                "epochs": list(group.epochs),
                "figures": {
                    _LOSS_TITLES[loss].lower(): float(np.mean(group.list_run_means(loss))) for loss in group.losses
                },
                "saved": {
                    loss: {**asdict(difference.saved), "p_adjusted": difference.adjusted_p}
                    for loss, pairs in comparison.differences.items()
                    if base and (difference := pairs.get((group.group.key, base)))
                },
            }
            for group in comparison.groups
        ],
        "verdict": serialize_settings_verdict(comparison.verdict, "row") if comparison.verdict else None,
    }
