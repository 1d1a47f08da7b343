"""What committees of each size cost in training and prediction time, and what larger ones are expected to gain."""

import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ensemble.analysis.members import committees
from ensemble.analysis.members.committees import CommitteeEvaluation
from ensemble.analysis.members.extrapolation import Extrapolation
from ensemble.analysis.quality.metrics import METRICS_BY_NAME
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

EXPECTED_LABEL = "expected, not measured"
_MAX_EXPECTED_ROWS = 4  # rows at most of what is expected
_TIMED_IMAGES = 1_000  # that predicting is told for


def format_committee_metric(value: float, name: str, n: int) -> str:
    return formats.format_percent(value, n) if name == "accuracy" else formats.format_significant(value)


def measure_prediction_time(history: Sequence[dict[str, Any]], members: int, n: int) -> float | None:
    """Seconds that one member took for 1,000 test images; None where a run does not tell.

    The clock stands beside the last steps of an epoch and again beside its test: what lies
    between is the test of all members. That of the first epoch is left out, for it compiles.

    Args:
      n: how many images it was asked of at the end of an epoch: the test images, and those held
        out.
    """
    took = []
    for before, line in pairwise(history):
        ends = line.get("kind") == "epoch" and before.get("kind") == "steps"
        times = before.get("seconds"), line.get("seconds")
        if ends and line.get("epoch", 1) > 1 and None not in times:
            took.append(float(line["seconds"]) - float(before["seconds"]))
    each = statistics.median(took) / members / n * _TIMED_IMAGES if took else 0.0
    return each if each > 0 else None


def describe_member_costs(epoch: EvaluatedEpoch, members: int) -> str:
    """Return what training and prediction take with so many members, next to what all take; "" if unknown."""
    costs = _list_cost_columns(epoch, [members, epoch.members])
    if not costs:
        return ""
    names = ["training", f"predicting {formats.format_count(_TIMED_IMAGES, epoch.noun)}"]
    parts = []
    for name, (some, whole) in zip(names, costs.values(), strict=False):
        parts.append(f"{name} takes about {some}" + (f" instead of {whole}" if members < epoch.members else ""))
    text = ", ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def tabulate_committee_costs(
    judged: CommitteeEvaluation, name: str, beyond: Extrapolation | None, epoch: EvaluatedEpoch
) -> pd.DataFrame:
    """A row for each size: the expected figure, what the last member brought, and what it takes."""
    curve = committees.committee_curve(judged, name)
    mean = curve.mean
    committee_metrics = [format_committee_metric(value, name, judged.n) for value in mean]
    gained = ["–", *(describe_size_gain(last, now, name) for last, now in pairwise(mean))]
    size = [str(number) for number in curve.size]
    if beyond:
        rows = np.unique(np.linspace(0, len(beyond.size) - 1, _MAX_EXPECTED_ROWS).round().astype(int))
        size += [f"{beyond.size[row]} ({EXPECTED_LABEL})" for row in rows]
        committee_metrics += [
            f"{formats.format_significant(beyond.mean[row])} "
            f"({formats.format_significant(beyond.low[row])} to "
            f"{formats.format_significant(beyond.high[row])})"
            for row in rows
        ]
        all_of_it = np.concatenate([mean[-1:], beyond.mean])
        gained += [describe_size_gain(all_of_it[row], all_of_it[row + 1], name) for row in rows]
    gain = "by the last one" if len(curve.size) == judged.members else "against the row above"
    columns = {"members": size, METRICS_BY_NAME[name].capitalized_term: committee_metrics, gain: gained}
    return pd.DataFrame(columns | _list_cost_columns(epoch, [int(one.split()[0]) for one in size]))


def _list_cost_columns(epoch: EvaluatedEpoch, sizes: Sequence[int]) -> dict[str, list[str]]:
    """Columns of what training and predicting take, in proportion; only those that are known."""
    found: dict[str, list[str]] = {}
    if seconds := epoch.run.status.seconds:
        found["training, about"] = [formats.format_duration(seconds / epoch.members * k) for k in sizes]
    asked = epoch.n + (len(epoch.fit.labels) if epoch.fit else 0)
    if each := measure_prediction_time(epoch.read_history(), epoch.members, asked):
        found[f"{_TIMED_IMAGES:,} {pluralize_noun(epoch.noun)}, about"] = [
            formats.format_duration(each * k, fine=True) for k in sizes
        ]
    return found


def describe_size_gain(before: float, after: float, name: str) -> str:
    """What a figure gained, in words and with a mark: "▲ better by 0.012"."""
    better = after - before if name == "accuracy" else before - after
    size = formats.format_significant(abs(better) * (100 if name == "accuracy" else 1), 2)
    if not better:
        return "nothing"
    unit = " points" if name == "accuracy" else ""
    return f"{'▲ better' if better > 0 else '▼ worse'} by {size}{unit}"


def explain_committee_costs(
    judged: CommitteeEvaluation, beyond: Extrapolation | None, name: str, known: Sequence[str]
) -> str:
    last = "The gain of the last member" if "by the last one" in known else "The gain against the row above"
    parts = [
        f"{last} is a mean over committees, on these same images; only the "
        "verdict says whether it is more than chance.",
        "Times are those of this run, divided evenly: members on one processor share it.",
    ]
    if not any(column.startswith(f"{_TIMED_IMAGES:,}") for column in known):
        parts.append("This run did not measure how long predicting takes.")
    if beyond:
        parts.append(
            f"{EXPECTED_LABEL.capitalize()}: fitted to the curve as a + b · k^(−{beyond.power:.2f}); "
            "in brackets the 95 % interval of the change, by jackknife over members and images."
        )
    elif name in ("accuracy", "ece"):
        parts.append(
            f"From the {METRICS_BY_NAME[name].capitalized_term} of these committees it cannot be told what more "
            "members would bring."
        )
    elif judged.members < 3:
        parts.append("Two members are too few to tell what more would bring.")
    return " ".join(parts)
