"""A regression's history gathered by solve, and what the command line makes of it."""

from typing import Any

import pytest

from ensemble import regression
from ensemble.cli.stress_and_regression import summarize_regression
from ensemble.regression import Regression
from ensemble.regression.regression_job import LbfgsConfig
from ensemble.storage.records.json_lines import append_line

SMALL = LbfgsConfig(samples=120, features=8, classes=3, iterations=3, sweep=False)


def tell(solve: Regression, name: str, devices: int, seconds: list[float], **end: Any) -> None:
    """Lines of one solve: the objective falls from 3.0 by halves, the error is a tenth of it."""
    path = solve.path / "history.jsonl"
    line = {"kind": "compile", "step": 0, "solve": name, "devices": devices, "seconds": 1.5}
    append_line(path, line | {"pmap": devices > 1})
    for step, took in enumerate(seconds, 1):
        objective = 3.0 - 0.5 * (step - 1)
        append_line(
            path,
            {
                "kind": "iteration",
                "step": step,
                "solve": name,
                "seconds": took,
                "objective": objective,
                "error": objective / 10,
                "step_size": 1.0,
                "evaluations": 2,
            },
        )
    if end:
        append_line(path, {"kind": "end", "step": len(seconds), "solve": name, **end})


@pytest.fixture
def solve() -> Regression:
    return regression.create_regression(SMALL)


def test_the_sweep_says_how_many_times_as_fast_as_the_first(solve: Regression) -> None:
    tell(solve, "sweep-4", 4, [1.0, 2.0, 99.0])
    tell(solve, "sweep-1", 1, [8.0, 6.0, 4.0])
    tell(solve, "sweep-16", 16, [])
    tell(solve, "sweep-2", 2, [12.0])
    traces = regression.read_regression_traces(solve.path)
    assert [one.devices for one in traces.sweep] == [1, 2, 4, 16]
    assert traces.scaling == [(1, 1.0), (2, 0.5), (4, 3.0)]
    assert traces.speedup is None


def test_the_summary_has_the_last_figures_of_either_solve(solve: Regression) -> None:
    tell(solve, "without", 1, [4.0, 9.0, 6.0])
    tell(solve, "with", 2, [2.0, 3.0], spread=0.25)
    found = summarize_regression(solve)
    assert (found["objective"], found["error"]) == (2.0, 0.2)
    assert (found["objective_with_pmap"], found["error_with_pmap"]) == (2.5, 0.25)
    assert found["step_seconds_median"] == {"without_pmap": 6.0, "with_pmap": 2.5}
    assert found["compile_seconds"] == {"without_pmap": 1.5, "with_pmap": 1.5}
    assert found["speedup"] == pytest.approx((4 / 2 + 9 / 3) / 2)
    assert (found["replica_spread"], found["scaling"]) == (0.25, [])


def test_before_the_first_iteration_there_are_no_figures(solve: Regression) -> None:
    found = summarize_regression(solve)
    assert found["run_id"] == solve.id
    assert found["objective"] is found["speedup"] is found["replica_spread"] is None
    tell(solve, "without", 1, [])
    found = summarize_regression(solve)
    assert found["objective"] is found["step_seconds_median"]["without_pmap"] is None
    assert found["compile_seconds"] == {"without_pmap": 1.5, "with_pmap": None}


def test_a_solve_whose_beginning_is_odd_is_left_out_and_the_others_are_read(solve: Regression) -> None:
    tell(solve, "without", 1, [4.0, 9.0])
    for name in ("with", "sweep-two", "sweep-", "other"):
        tell(solve, name, 2, [2.0, 3.0], spread=0.25)
    path = solve.path / "history.jsonl"
    odd = '"solve": "with", "devices": 2'
    path.write_text(path.read_text().replace(odd, '"solve": "with", "devices": null'))
    traces = regression.read_regression_traces(solve.path)
    assert traces.without is not None
    assert list(traces.without.seconds) == [4.0, 9.0]
    assert (traces.with_pmap, traces.sweep, traces.scaling) == (None, (), [])
    assert summarize_regression(solve)["step_seconds_median"] == {"without_pmap": 6.5, "with_pmap": None}
