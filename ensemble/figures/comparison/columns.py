"""What there is to say of several runs, a column each: settings and figures, as axes are drawn."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ensemble.comparison.compared_settings import format_setting_value
from ensemble.comparison.group_metrics import COMPARISON_METRICS
from ensemble.comparison.run_points import Cell, PointAxis, RunPoints
from ensemble.wording import formats

Value = float | str | None


@dataclass(frozen=True)
class AxisColumn:
    """A setting or a figure of every run.

    Attributes:
      name: as in an address: "learning_rate".
      label: the same in words.
      values: one a run, in the order of the runs; None where there is none. All numbers, or all
        words.
      is_number: whether they are numbers.
      log: whether a log axis suits them.
      percent: whether they are shares in [0, 1], said in per cent.
      is_metric: whether it was measured, and not set.
      unit: of its numbers, "" where it has none or `percent` says it.
      n: the least test images that shares of it are of, which says how finely they are said.
    """

    name: str
    label: str
    values: tuple[Value, ...]
    is_number: bool = True
    log: bool = False
    percent: bool = False
    is_metric: bool = False
    unit: str = ""
    n: int = 10_000

    @property
    def axis_title(self) -> str:
        """The label with its unit, for an axis: "NLL, nats"."""
        return f"{self.label}, {self.unit}" if self.unit else self.label

    @property
    def label_in_sentence(self) -> str:
        """The label within a sentence; NLL and ECE stay as they are."""
        return self.label if self.label[1:2].isupper() else self.label[:1].lower() + self.label[1:]

    @property
    def known_values(self) -> list[Value]:
        return [value for value in self.values if value is not None]

    @property
    def varies(self) -> bool:
        return len(set(self.values)) > 1

    @property
    def can_use_log(self) -> bool:
        return (
            self.is_number
            and bool(self.known_values)
            and all(isinstance(value, int | float) and value > 0 for value in self.known_values)
        )

    @property
    def categories(self) -> list[str]:
        """The words that there are, sorted; none of numbers."""
        return sorted({str(value) for value in self.known_values}) if not self.is_number else []

    def format_value(self, value: Value) -> str:
        """A value as people read it; what is not known is a dash."""
        if value is None or isinstance(value, str):
            return value or "–"
        if self.percent:
            return formats.format_percent(value, self.n)
        return formats.format_significant(value, 4) if self.is_metric else str(format_setting_value(self.name, value))


def list_run_columns(points: RunPoints) -> list[AxisColumn]:
    """What is known of the runs, settings first; without what is known of none."""
    n = min((row.run.data.test_size for row in points.rows), default=10_000)
    every = [_build_axis_column(axis, [row.cells.get(axis.name) for row in points.rows], n) for axis in points.axes]
    return [column for column in every if column.known_values]


def _build_axis_column(axis: PointAxis, cells: Sequence[Cell], n: int) -> AxisColumn:
    units = {metric.name: metric.unit for metric in COMPARISON_METRICS}
    is_number = axis.kind == "number"
    values = tuple(_keep_finite_number(cell) if is_number else _format_category_cell(axis.name, cell) for cell in cells)
    unit = units.get(axis.name, "")
    return AxisColumn(
        name=axis.name,
        label=axis.title,
        values=values,
        is_number=is_number,
        log=axis.log,
        percent=unit == "share",
        is_metric=not axis.setting,
        unit="" if unit == "share" else unit,
        n=n,
    )


def _keep_finite_number(cell: Cell) -> float | None:
    ok = isinstance(cell, int | float) and not isinstance(cell, bool) and math.isfinite(cell)
    return cell if ok and isinstance(cell, int | float) else None


def _format_category_cell(name: str, cell: Cell) -> str | None:
    """A setting that is no number, in words; nothing said is nothing known."""
    return None if cell is None or cell == "" else format_setting_value(name, cell)


def build_parallel_axes(columns: Sequence[AxisColumn]) -> list[dict[str, Any]]:
    """The columns as the axes of parallel coordinates, ready for JSON; words by their places."""
    axes = []
    for column in columns:
        words = column.categories
        places = {word: place for place, word in enumerate(words)}
        values = [places[str(value)] if words and value is not None else value for value in column.values]
        axes.append(
            {
                "name": column.name,
                "label": column.axis_title,
                "values": values,
                "kind": "number" if column.is_number else "category",
                "categories": words,
                "may_log": column.can_use_log,
                "log": column.log and column.can_use_log,
                "percent": column.percent,
                "said": [column.format_value(value) for value in column.values],
            }
        )
    return axes
