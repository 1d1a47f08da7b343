"""The work of a regression: solved on one device, on all, and on 1, 2, 4, 8 for the scaling.

With `pmap` and without, in one of these ways, or in the faster one, which is found by trying.
"""

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np

from ensemble.engine import choose_devices
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.status import StatusWriter
from ensemble.machine.jax_settings import count_cpu_cores
from ensemble.regression.cpu_devices import restart_cpu_devices
from ensemble.regression.lbfgs_solver import LbfgsSolver
from ensemble.regression.pmap_choice import (
    PmapChoice,
    choose_faster_way,
    load_pmap_choice,
    save_pmap_choice,
    time_solver,
)
from ensemble.regression.regression_job import Regression, RegressionStatus
from ensemble.regression.regression_samples import ClassificationProblem, load_regression_samples
from ensemble.storage.records.json_lines import append_line

_SWEEP_DEVICES = (1, 2, 4, 8)
_SWEEP_ITERATIONS = 20
_STATUS_INTERVAL_S = 0.3


class _SolveTask(NamedTuple):
    """One solve: its name in the history, on how many devices, and how many iterations."""

    name: str
    devices: int
    iterations: int


class RegressionRunner:
    """Solves a regression and writes down every iteration.

    Args:
      solve: the regression, whose worker this process is.
      status: the hold on its status.json.
      stop: asked after each iteration.
      report: called with each new status.
      own_pool: whether each part may have XLA's CPU devices and threads made for it.
    """

    def __init__(
        self,
        solve: Regression,
        status: StatusWriter[RegressionStatus],
        stop: Callable[[], bool],
        report: Callable[[RegressionStatus], None],
        own_pool: bool,
    ) -> None:
        self._solve, self._status, self._stop, self._report = solve, status, stop, report
        self._own_pool = own_pool
        self._history = solve.path / "history.jsonl"
        self._done, self._told = 0, 0.0
        self._pace: deque[float] = deque(maxlen=50)

    def run(self) -> Outcome:
        """Every part, one after the other: never two solvers' samples in memory at once."""
        config = self._solve.config
        self._update_status(
            state="solving", message="Drawing the samples." if config.dataset == "synthetic" else "Reading the samples."
        )
        problem = load_regression_samples(config)
        parts = self._plan_solves(problem)
        self._update_status(
            iterations=sum(part.iterations for part in parts),
            devices=next((part.devices for part in parts if part.name == "with"), 0),
            cores=count_cpu_cores(),
            platform=jax.default_backend(),
        )
        for part in parts:
            self._update_status(message=f"Compiling for {_format_device_count(part.devices)}.")
            solver = self._create_solver(problem, part.devices)
            if outcome := self._run_solve(part, solver):
                return outcome
            del solver
        return Outcome("finished")

    def _plan_solves(self, problem: ClassificationProblem) -> list[_SolveTask]:
        config, every = self._solve.config, choose_devices(0)
        # A CPU has as many devices as one asks for; more than it has cores gain nothing.
        on_cpu = every[0].platform == "cpu"
        all_of_them = min(count_cpu_cores(), len(every)) if on_cpu else len(every)
        many = len(choose_devices(config.devices or all_of_them))
        few = min(config.iterations, _SWEEP_ITERATIONS)
        swept = [count for count in _SWEEP_DEVICES if config.sweep and count <= len(every)]
        # After the counting: whoever tries them has JAX begin anew, with devices for just that.
        ways = self._choose_solves(problem, {"without": 1, "with": many}, len(every))
        parts = [_SolveTask(name, count, config.iterations) for name, count in ways.items()]
        return parts + [_SolveTask(f"sweep-{count}", count, few) for count in swept]

    def _choose_solves(self, problem: ClassificationProblem, both: dict[str, int], most: int) -> dict[str, int]:
        """Of both solves those to make in full, each with its number of devices, `most` at most."""
        pmap = self._solve.config.pmap
        if pmap == "both":
            return both
        if pmap == "faster":
            choice = load_pmap_choice(self._solve.path) or self._measure_choice(problem, both["with"])
            pmap = "with" if choice.pmap else "without"
            if choice.with_pmap:  # As it was begun, so that it comes to the same numbers.
                both["with"] = min(choice.with_pmap["devices"], most)
        return {pmap: both[pmap]}

    def _measure_choice(self, problem: ClassificationProblem, many: int) -> PmapChoice:
        """Try both for a moment; what is faster is kept, and said in the log."""
        choice = PmapChoice(pmap=False)
        if many > 1:
            self._update_status(message=f"Trying 1 device and {_format_device_count(many)}.")
            choice = choose_faster_way(
                *(time_solver(self._create_solver(problem, count), count) for count in (1, many))
            )
        save_pmap_choice(self._solve.path, choice)
        return choice

    def _create_solver(self, problem: ClassificationProblem, devices: int) -> LbfgsSolver:
        return LbfgsSolver(*problem, self._solve.config, self._prepare_devices(devices))

    def _prepare_devices(self, count: int) -> list[jax.Device]:
        if self._own_pool:
            restart_cpu_devices(count)
        return choose_devices(count)

    def _run_solve(self, part: _SolveTask, solver: LbfgsSolver) -> Outcome | None:
        several = part.devices > 1 or part.name == "with"
        place = {"solve": part.name, "devices": part.devices, "pmap": several}
        self._append_history("compile", 0, **place, seconds=solver.compile_seconds)
        point = solver.start()
        for number in range(1, part.iterations + 1):
            point, iteration = solver.iterate(point)
            self._append_history("iteration", number, **place, **iteration._asdict())
            if not np.isfinite(iteration.objective):
                return Outcome(
                    "failed",
                    "The objective is no longer a number: take a smaller fixed step size, or 0 for a line search.",
                )
            self._count_iteration(iteration.seconds, part)
            if self._stop():
                return Outcome("stopped", "Stopped. What was measured is kept.")
        spread = float(np.ptp(solver.gather_weights(point), axis=0).max())
        self._append_history("end", part.iterations, **place, spread=spread)
        return None

    def _append_history(self, kind: str, step: int, **values: object) -> None:
        append_line(self._history, {"kind": kind, "step": step, **values})

    def _count_iteration(self, seconds: float, part: _SolveTask) -> None:
        self._done += 1
        self._pace.append(seconds)
        now = time.monotonic()
        if now - self._told > _STATUS_INTERVAL_S:
            self._told = now
            left = (self._status.status.iterations - self._done) * float(np.mean(self._pace))
            words = f"Solving on {_format_device_count(part.devices)}."
            self._update_status(iteration=self._done, message=words, seconds_left=round(left, 1))

    def _update_status(self, **changes: object) -> None:
        self._status.update(**changes)
        self._report(self._status.status)


def _format_device_count(devices: int) -> str:
    return f"{devices} device" + ("s" if devices > 1 else "")
