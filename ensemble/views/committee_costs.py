"""What each further member brings and costs: measured up to M, beyond that expected."""

import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ensemble.analysis.members import committees as committees
from ensemble.analysis.members.committees import CommitteeEvaluation
from ensemble.analysis.members.extrapolation import Extrapolation
from ensemble.figures.inspect.committee import EXPECTED_LABEL, METRIC_NAMES, format_committee_metric
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

MAX_EXPECTED_ROWS = 4  # rows at most of what is expected
TIMED_IMAGES = 1_000  # that predicting is told for


def measure_prediction_time(
    history: Sequence[dict[str, Any]], members: int, n: int
) -> float | None:
    """Seconds that one member took for 1,000 test images; None where a run does not tell.

    The clock stands beside the last steps of an epoch and again beside its test: what lies
    between is the test of all members. That of the first epoch is left out, for it compiles.

    Args:
      history: the run's lines, in their order.
      members: M.
      n: how many images it was asked of at the end of an epoch: the test images, and those held
        out.
    """
    took = []
    for before, line in pairwise(history):
        ends = line.get("kind") == "epoch" and before.get("kind") == "steps"
        times = before.get("seconds"), line.get("seconds")
        if ends and line.get("epoch", 1) > 1 and None not in times:
            took.append(float(line["seconds"]) - float(before["seconds"]))
    each = statistics.median(took) / members / n * TIMED_IMAGES if took else 0.0
    return each if each > 0 else None


def tabulate_committee_costs(
    judged: CommitteeEvaluation, name: str, beyond: Extrapolation | None, epoch: EvaluatedEpoch
) -> pd.DataFrame:
    """A row for each size: the expected figure, what the last member brought, and what it takes."""
    mean = committees.committee_curve(judged, name).mean
    said = [format_committee_metric(value, name, judged.n) for value in mean]
    gained = ["–", *(describe_size_gain(last, now, name) for last, now in pairwise(mean))]
    size = [str(number) for number in range(1, judged.members + 1)]
    if beyond:
        rows = np.unique(
            np.linspace(0, len(beyond.size) - 1, MAX_EXPECTED_ROWS).round().astype(int)
        )
        size += [f"{beyond.size[row]} ({EXPECTED_LABEL})" for row in rows]
        said += [
            f"{formats.format_significant(beyond.mean[row])} "
            f"({formats.format_significant(beyond.low[row])} to "
            f"{formats.format_significant(beyond.high[row])})"
            for row in rows
        ]
        all_of_it = np.concatenate([mean[-1:], beyond.mean])
        gained += [describe_size_gain(all_of_it[row], all_of_it[row + 1], name) for row in rows]
    columns = {"members": size, METRIC_NAMES[name]: said, "by the last one": gained}
    return pd.DataFrame(columns | list_cost_columns(epoch, [int(one.split()[0]) for one in size]))


def list_cost_columns(epoch: EvaluatedEpoch, sizes: Sequence[int]) -> dict[str, list[str]]:
    """Columns of what training and predicting take, in proportion; only those that are known."""
    found: dict[str, list[str]] = {}
    if seconds := epoch.run.status.seconds:
        found["training, about"] = [
            formats.format_duration(seconds / epoch.members * k) for k in sizes
        ]
    asked = epoch.n + (len(epoch.fit.labels) if epoch.fit else 0)
    if each := measure_prediction_time(epoch.read_history(), epoch.members, asked):
        found[f"{TIMED_IMAGES:,} {pluralize_noun(epoch.noun)}, about"] = [
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
    """How the table came about, and what it leaves out."""
    said = [
        "What the last one brings is a mean over committees, on these very images; whether it is "
        "more than chance, only the verdict tells.",
        "Times are this run's, shared out evenly: members on a processor share it.",
    ]
    if not any(column.startswith(f"{TIMED_IMAGES:,}") for column in known):
        said.append("How long predicting takes this run did not measure.")
    if beyond:
        said.append(
            f"{EXPECTED_LABEL.capitalize()}: fitted to the curve as a + b · "
            f"k^(−{beyond.power:.2f}); in "
            "brackets the 95 % interval of the change, by jackknife over members and images."
        )
    elif name in ("accuracy", "ece"):
        said.append(
            f"{METRIC_NAMES[name]} follows no law that tells what more members would bring."
        )
    elif judged.members < 3:
        said.append("Two members are too few to tell what more would bring.")
    return " ".join(said)
