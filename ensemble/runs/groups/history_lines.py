"""The lines of a run's history from those of its groups, which stand at the same steps."""

from collections.abc import Sequence

import numpy as np

from ensemble.storage.records.history_lines import MEMBER_FIELDS
from ensemble.storage.records.json_lines import Line

_POSITION_FIELDS = ("epoch", "step", "progress")
# Members' figures on their own test predictions; how they differ all of them have to be there for.
_MEMBER_METRICS = tuple(name for name in MEMBER_FIELDS if name != "member_disagreement")
# The kind of line of an epoch that not every group has closed.
UNFINISHED_KIND = "members"


def join_lines_by(name: str, group_lines: Sequence[dict[int, Line]], sizes: Sequence[int]) -> list[Line]:
    """A line for each step, or epoch, that any group has told of, in order.

    Args:
      name: "step" or "epoch".
      group_lines: of each group its lines of one kind, by that.
      sizes: how many members each has.
    """
    every = sorted({place for lines in group_lines for place in lines})
    return [join_group_lines([lines.get(place) for lines in group_lines], sizes) for place in every]


def join_group_lines(lines: Sequence[Line | None], sizes: Sequence[int]) -> Line:
    """One line of all members; null for those of groups that have none at this place.

    The members' mean stands only where every group has come. What their averaged probabilities
    were in training nobody knows who trains only some of them, but a group that is the only one.

    Args:
      lines: of each group the line at one place; at least one has.
      sizes: how many members each has.
    """
    there = [line for line in lines if line is not None]
    row: Line = {"kind": there[0]["kind"], **{name: there[0][name] for name in _POSITION_FIELDS}}
    for name in _MEMBER_METRICS:
        if any(name in line for line in there):
            row[name] = [
                figure
                for line, size in zip(lines, sizes, strict=True)
                for figure in (line or {}).get(name, [None] * size)
            ]
    if "train_rmse" not in row:
        row["ensemble_train_loss"] = mean_if_complete(row["train_loss"])
        for name in ("ensemble_train_nll", "ensemble_train_accuracy"):
            row[name] = there[0].get(name) if len(lines) == 1 else None
    row["seconds"] = max(line.get("seconds") or 0.0 for line in there)
    rates = [line.get("img_member_per_s") or 0.0 for line in there]
    row["img_member_per_s"] = round(sum(rates), 1) if all(rates) else None
    return row


def mean_if_complete(figures: Sequence[float | None]) -> float | None:
    """Their mean; None if one is unknown."""
    values = [figure for figure in figures if figure is not None]
    return float(np.mean(values)) if len(values) == len(figures) else None


def is_line_complete(row: Line) -> bool:
    return row["kind"] != UNFINISHED_KIND and None not in row["train_loss"]
