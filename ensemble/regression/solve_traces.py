"""What a regression measured: its history, gathered by the devices that it was solved on."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.regression.speedup import Speedup, compute_speedup
from ensemble.storage.records.json_lines import Line, read_lines

_FloatArray = NDArray[np.float64]
_SOLVE_NAME_PATTERN = re.compile(r"without|with|sweep-[0-9]{1,5}")


@dataclass(frozen=True)
class SolveTrace:
    """One solve, iteration by iteration, as far as it has come; arrays (I,).

    Attributes:
      devices: how many it ran on.
      pmap: whether under `pmap`.
      compile_seconds: of tracing and compiling.
      objective: after each iteration, nats per sample.
      error: the norm of the gradient after it.
      step_size: what the line search took.
      evaluations: of the objective, within it.
      seconds: that it took.
      weight_spread: the largest difference between the devices' weights at the end; None before it.
    """

    devices: int
    pmap: bool
    compile_seconds: float
    objective: _FloatArray
    error: _FloatArray
    step_size: _FloatArray
    evaluations: _FloatArray
    seconds: _FloatArray
    weight_spread: float | None


@dataclass(frozen=True)
class RegressionTraces:
    """All solves of one regression.

    Attributes:
      without: on one device; None before it begins, and where only the other was asked for.
      with_pmap: on all; None before it begins, and where only the other was asked for.
      sweep: shorter ones, on ever more devices, the first on one.
    """

    without: SolveTrace | None
    with_pmap: SolveTrace | None
    sweep: tuple[SolveTrace, ...]

    @property
    def speedup(self) -> Speedup | None:
        """What `pmap` bought in the iterations that both have done; None before there are any."""
        one, many = self.without, self.with_pmap
        if one is None or many is None or not min(len(one.seconds), len(many.seconds)):
            return None
        return compute_speedup(one.seconds, many.seconds, one.compile_seconds, many.compile_seconds, many.devices)

    @property
    def scaling(self) -> list[tuple[int, float]]:
        """For each number of devices of the sweep: how many times as fast as the first, median."""
        done = [trace for trace in self.sweep if len(trace.seconds)]
        if not done:
            return []
        first = float(np.median(done[0].seconds))
        return [(trace.devices, first / float(np.median(trace.seconds))) for trace in done]


def read_regression_traces(folder: Path) -> RegressionTraces:
    """What the regression in `folder` has measured so far, without lines that are torn or odd.

    Raises:
      RunError: its history cannot be read.
    """
    gathered: dict[str, list[Line]] = {}
    for line in read_lines(folder / "history.jsonl"):
        if _SOLVE_NAME_PATTERN.fullmatch(str(line.get("solve"))):
            gathered.setdefault(line["solve"], []).append(line)
    # Of a solve whose beginning cannot be read nobody knows on what it ran.
    traces = {
        name: _build_solve_trace(lines)
        for name, lines in gathered.items()
        if any(line["kind"] == "compile" for line in lines)
    }
    sweep = sorted(
        (name for name in traces if name.startswith("sweep-")),
        key=lambda name: int(name.removeprefix("sweep-")),  # the number of devices
    )
    return RegressionTraces(traces.get("without"), traces.get("with"), tuple(traces[name] for name in sweep))


def _build_solve_trace(lines: list[Line]) -> SolveTrace:
    compiled = next(line for line in lines if line["kind"] == "compile")
    steps = [line for line in lines if line["kind"] == "iteration"]
    end: dict[str, Any] = next((line for line in lines if line["kind"] == "end"), {})

    def read_column(name: str) -> _FloatArray:
        values = [float("nan") if line[name] is None else line[name] for line in steps]
        return np.array(values, np.float64)

    return SolveTrace(
        devices=compiled["devices"],
        pmap=compiled["pmap"],
        compile_seconds=compiled["seconds"],
        objective=read_column("objective"),
        error=read_column("error"),
        step_size=read_column("step_size"),
        evaluations=read_column("evaluations"),
        seconds=read_column("seconds"),
        weight_spread=end.get("spread"),
    )
