"""The work of a regression: solved on one device, on all, and on 1, 2, 4, 8 for the scaling."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax
import numpy as np

from ensemble.engine import choose_devices
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.status import StatusWriter
from ensemble.machine.jax_settings import cpu_cores
from ensemble.regression.cpu_devices import begin_anew
from ensemble.regression.lbfgs import Solver
from ensemble.regression.samples import load_problem
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
        self._tell(state="solving", message="Drawing the samples." if config.dataset == "synthetic"
                   else "Reading the samples.")  # fmt: skip
        problem = load_problem(config)
        parts = list(self._parts())
        self._tell(
            iterations=sum(part.iterations for part in parts), devices=parts[1].devices,
            cores=cpu_cores(), platform=jax.default_backend(),
        )  # fmt: skip
        for part in parts:
            self._tell(message=f"Compiling for {_counted(part.devices)}.")
            solver = Solver(
                problem.x, problem.labels, problem.classes, config, self._devices(part.devices)
            )
            if outcome := self._run(part, solver):
                return outcome
            del solver
        return Outcome("finished")

    def _parts(self) -> Iterator[Part]:
        config = self._solve.config
        every = choose_devices(0)
        # A CPU has as many devices as one asks for; more than it has cores gain nothing.
        on_cpu = every[0].platform == "cpu"
        count = config.devices or (min(cpu_cores(), len(every)) if on_cpu else len(every))
        yield Part("without", 1, config.iterations)
        yield Part("with", len(choose_devices(count)), config.iterations)
        few = min(config.iterations, SWEEP_ITERATIONS)
        for count in SWEEP if config.sweep else ():
            if count <= len(every):
                yield Part(f"sweep-{count}", count, few)

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
                return Outcome("failed", "The objective is no longer a number: take a smaller "
                               "fixed step size, or 0 for a line search.")  # fmt: skip
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
