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
from ensemble.machine.jax_settings import cpu_cores
from ensemble.regression.choosing import Choice, faster, keep_choice, read_choice, tried
from ensemble.regression.cpu_devices import begin_anew
from ensemble.regression.lbfgs import Solver
from ensemble.regression.samples import Problem, load_problem
from ensemble.regression.status import SolveStatus
from ensemble.regression.store import Solve
from ensemble.storage.records.lines import append_line

SWEEP = (1, 2, 4, 8)
SWEEP_ITERATIONS = 20
TELL_SECONDS = 0.3


class Part(NamedTuple):
    """One solve: its name in the history, on how many devices, and how many iterations."""

    name: str
    devices: int
    iterations: int


class Job:
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
        solve: Solve,
        status: StatusWriter[SolveStatus],
        stop: Callable[[], bool],
        report: Callable[[SolveStatus], None],
        own_pool: bool,
    ) -> None:
        self._solve, self._status, self._stop, self._report = solve, status, stop, report
        self._own_pool = own_pool
        self._history = solve.path / "history.jsonl"
        self._done, self._told = 0, 0.0
        self._pace: deque[float] = deque(maxlen=50)

    def work(self) -> Outcome:
        """Every part, one after the other: never two solvers' samples in memory at once."""
        config = self._solve.config
        self._tell(
            state="solving",
            message="Drawing the samples."
            if config.dataset == "synthetic"
            else "Reading the samples.",
        )
        problem = load_problem(config)
        parts = self._parts(problem)
        self._tell(
            iterations=sum(part.iterations for part in parts),
            devices=next((part.devices for part in parts if part.name == "with"), 0),
            cores=cpu_cores(),
            platform=jax.default_backend(),
        )
        for part in parts:
            self._tell(message=f"Compiling for {_counted(part.devices)}.")
            solver = self._solver(problem, part.devices)
            if outcome := self._run(part, solver):
                return outcome
            del solver
        return Outcome("finished")

    def _parts(self, problem: Problem) -> list[Part]:
        config, every = self._solve.config, choose_devices(0)
        # A CPU has as many devices as one asks for; more than it has cores gain nothing.
        on_cpu = every[0].platform == "cpu"
        all_of_them = min(cpu_cores(), len(every)) if on_cpu else len(every)
        many = len(choose_devices(config.devices or all_of_them))
        few = min(config.iterations, SWEEP_ITERATIONS)
        swept = [count for count in SWEEP if config.sweep and count <= len(every)]
        # After the counting: whoever tries them has JAX begin anew, with devices for just that.
        ways = self._ways(problem, {"without": 1, "with": many}, len(every))
        parts = [Part(name, count, config.iterations) for name, count in ways.items()]
        return parts + [Part(f"sweep-{count}", count, few) for count in swept]

    def _ways(self, problem: Problem, both: dict[str, int], most: int) -> dict[str, int]:
        """Of both solves those to make in full, each with its number of devices, `most` at most."""
        asked = self._solve.config.pmap
        if asked == "both":
            return both
        if asked == "faster":
            choice = read_choice(self._solve.path) or self._choose(problem, both["with"])
            asked = "with" if choice.pmap else "without"
            if choice.with_pmap:  # As it was begun, so that it comes to the same numbers.
                both["with"] = min(choice.with_pmap["devices"], most)
        return {asked: both[asked]}

    def _choose(self, problem: Problem, many: int) -> Choice:
        """Try both for a moment; what is faster is kept, and said in the log."""
        choice = Choice(pmap=False)
        if many > 1:
            self._tell(message=f"Trying 1 device and {_counted(many)}.")
            choice = faster(*(tried(self._solver(problem, count), count) for count in (1, many)))
        keep_choice(self._solve.path, choice)
        return choice

    def _solver(self, problem: Problem, devices: int) -> Solver:
        return Solver(*problem, self._solve.config, self._devices(devices))

    def _devices(self, count: int) -> list[jax.Device]:
        if self._own_pool:
            begin_anew(count)
        return choose_devices(count)

    def _run(self, part: Part, solver: Solver) -> Outcome | None:
        several = part.devices > 1 or part.name == "with"
        place = {"solve": part.name, "devices": part.devices, "pmap": several}
        self._write("compile", 0, **place, seconds=solver.compile_seconds)
        point = solver.start()
        for number in range(1, part.iterations + 1):
            point, found = solver.iterate(point)
            self._write("iteration", number, **place, **found._asdict())
            if not np.isfinite(found.objective):
                return Outcome(
                    "failed",
                    "The objective is no longer a number: take a smaller "
                    "fixed step size, or 0 for a line search.",
                )
            self._count(found.seconds, part)
            if self._stop():
                return Outcome("stopped", "Stopped. What was measured is kept.")
        spread = float(np.ptp(solver.weights(point), axis=0).max())
        self._write("end", part.iterations, **place, spread=spread)
        return None

    def _write(self, kind: str, step: int, **values: object) -> None:
        append_line(self._history, {"kind": kind, "step": step, **values})

    def _count(self, seconds: float, part: Part) -> None:
        self._done += 1
        self._pace.append(seconds)
        now = time.monotonic()
        if now - self._told > TELL_SECONDS:
            self._told = now
            left = (self._status.status.iterations - self._done) * float(np.mean(self._pace))
            words = f"Solving on {_counted(part.devices)}."
            self._tell(iteration=self._done, message=words, seconds_left=round(left, 1))

    def _tell(self, **changes: object) -> None:
        self._status.update(**changes)
        self._report(self._status.status)


def _counted(devices: int) -> str:
    return f"{devices} device" + ("s" if devices > 1 else "")
