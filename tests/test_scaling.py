"""docs/scaling.md: its figures are those that the benchmark printed, its limits the program's."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from benchmarks.scale import __main__ as scale
from benchmarks.scale import forecast, weak
from benchmarks.scale.coefficients import fitted
from ensemble.config import EnsembleConfig

REPO = Path(__file__).resolve().parent.parent
DOC = (REPO / "docs" / "scaling.md").read_text("utf-8")
FIGURES = json.loads((REPO / "benchmarks" / "results" / "scale.json").read_text())


def test_its_tables_are_what_the_benchmark_prints_of_what_it_found() -> None:
    costs = scale.costs(FIGURES)
    assert costs == pytest.approx(FIGURES["costs"])
    assert forecast.coefficients(costs) in DOC
    assert forecast.table(costs) in DOC
    assert weak.said(FIGURES["weak"]) in DOC


def test_each_coefficient_is_among_what_was_measured_too() -> None:
    measured = (REPO / "docs" / "measured.md").read_text("utf-8")
    rows = forecast.coefficients(scale.costs(FIGURES)).splitlines()[2:]
    assert [row for row in rows if f"{row} AMD | `python -m benchmarks.scale` |" not in measured] == []


def test_its_limits_are_those_of_the_program() -> None:
    for field in fields(EnsembleConfig):
        if field.name in ("members", "groups"):
            assert f"{field.metadata['high']:,} {field.name}" in DOC


def test_coefficients_come_back_from_costs_that_were_made_of_them() -> None:
    rows = [[1.0, groups, groups * size] for groups in (1, 4, 16, 64) for size in (1.0, 8.0)]
    seen = [0.5 * row[0] + 0.25 * row[1] + 0.0 * row[2] for row in rows]
    found, error = fitted(rows, seen)
    assert found == pytest.approx([0.5, 0.25, 0.0], abs=1e-9)
    assert error < 1e-9


def test_a_run_of_twice_the_members_takes_twice_what_members_take() -> None:
    costs = scale.costs(FIGURES)
    one, two = forecast.Size("", 10, 100), forecast.Size("", 10, 200)
    line = costs["line_bytes_per_member"] * 2100 * 100 / 1e6
    more = forecast.history_mb(two, costs) - forecast.history_mb(one, costs)
    assert more == pytest.approx(line)
    assert two.predictions_mb == 2 * one.predictions_mb == pytest.approx(200 * 0.4)
