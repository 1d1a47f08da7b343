"""L-BFGS beside JAXopt's, and many solves on many devices: python -m benchmarks.training.lbfgs

Every competitor is a process of its own and solves the same problem (50,000 × 784, 10 classes,
zoom, 100 iterations); they take turns, and a ratio is of medians of one round. What two devices
make of it is said by seven turns of one process, for it differs from turn to turn: their median,
least and most; `--turns` does only these. `--stress` does 200 solves each on 2, 4 and 8 CPU devices
instead, and says whether all of them ended.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common

ROUNDS, SAME = 3, 1e-4
TURNS, TURN_ITERATIONS = 7, 40
SOLVES, STRESS_DEVICES, STRESS_SECONDS = 200, (2, 4, 8), 1200
# Competitor: whose solver, on how many devices, and on how many processor cores (None: all).
COMPETITORS: dict[str, tuple[str, int, int | None]] = {
    "jaxopt": ("jaxopt", 1, None),
    "ours_1_device": ("ours", 1, None),
    "ours_2_devices": ("ours", 2, None),
    "ours_1_device_1_core": ("ours", 1, 1),
}


def compete(name: str) -> dict[str, Any]:
    """Solve the problem in this process: the figures of one competitor."""
    solver, devices, cores = COMPETITORS[name]
    if cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    from ensemble.regression.cpu_devices import prepare_solver_devices
    from ensemble.regression.regression_job import LbfgsConfig

    prepare_solver_devices(devices)
    from ensemble.regression.regression_samples import load_regression_samples

    config = LbfgsConfig()
    problem = load_regression_samples(config)
    if solver == "jaxopt":
        return with_jaxopt(problem, config.iterations)
    import jax

    from ensemble.regression.lbfgs_solver import LbfgsSolver

    jax.devices()
    before = resident()
    lbfgs_solver = LbfgsSolver(problem.x, problem.labels, problem.classes, config, jax.devices()[:devices])
    point, records = lbfgs_solver.start(), []
    for _ in range(config.iterations):
        point, iteration = lbfgs_solver.iterate(point)
        records.append(iteration)
    seconds = [record.seconds for record in records]
    return {
        "step_ms": 1e3 * float(np.median(seconds)),
        "objective": records[-1].objective,
        "error": records[-1].error,
        "evaluations": sum(record.evaluations for record in records),
        "compile_s": round(lbfgs_solver.compile_seconds, 2),
        "memory_over_data": round((peak() - before) / problem.x.nbytes, 2),
    }


def take_turns() -> dict[str, Any]:
    """Both in this process, one after the other: how many times as fast two devices are, by turn.

    XLA begins anew for each solve, with threads for its devices, as it does for a regression.
    """
    from ensemble.regression.cpu_devices import prepare_solver_devices, restart_cpu_devices
    from ensemble.regression.regression_job import LbfgsConfig

    prepare_solver_devices(2)
    import jax

    from ensemble.regression.lbfgs_solver import LbfgsSolver
    from ensemble.regression.regression_samples import load_regression_samples

    config = LbfgsConfig()
    problem = load_regression_samples(config)

    def step(devices: int) -> float:
        restart_cpu_devices(devices)
        solver = LbfgsSolver(*problem, config, jax.devices())
        point, _ = solver.iterate(solver.start())
        seconds = []
        for _ in range(TURN_ITERATIONS):
            point, iteration = solver.iterate(point)
            seconds.append(iteration.seconds)
        return float(np.median(seconds))

    ratios = []
    for turn in range(TURNS):
        order = (1, 2) if turn % 2 else (2, 1)  # Whatever the machine drifts to hits both.
        took = {devices: step(devices) for devices in order}
        ratios.append(round(took[1] / took[2], 3))
    return {"median": float(np.median(ratios)), "least": min(ratios), "most": max(ratios), "turns": ratios}


def with_jaxopt(problem: Any, iterations: int) -> dict[str, Any]:
    """The example's loop without `pmap`."""
    import warnings

    warnings.simplefilter("ignore")  # JAXopt is no longer maintained, and says so.
    import jax
    import jaxopt

    samples = jax.device_put(np.asarray(problem.x)), jax.device_put(problem.labels)
    objective = jaxopt.objective.multiclass_logreg
    solver = jaxopt.LBFGS(objective, linesearch="zoom", maxiter=iterations, tol=0.0)
    weights = np.zeros((problem.x.shape[1], problem.classes), np.float32)
    state, update = solver.init_state(weights, data=samples), jax.jit(solver.update)
    began = time.perf_counter()
    jax.block_until_ready(update(weights, state, samples))
    compiled, seconds = time.perf_counter() - began, []
    for _ in range(iterations):
        began = time.perf_counter()
        weights, state = jax.block_until_ready(update(weights, state, samples))
        seconds.append(time.perf_counter() - began)
    return {
        "step_ms": 1e3 * float(np.median(seconds)),
        "objective": float(state.value),
        "error": float(state.error),
        "compile_s": round(compiled, 2),
    }


def resident() -> int:
    """Bytes that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak() -> int:
    """The most bytes that this process has held."""
    rows = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(row.split()[1] for row in rows if row.startswith("VmHWM")))


def stress(devices: int) -> dict[str, Any]:
    """Many short solves in this process."""
    from ensemble.regression.cpu_devices import prepare_solver_devices
    from ensemble.regression.regression_job import LbfgsConfig

    prepare_solver_devices(devices)
    import jax

    from ensemble.regression.lbfgs_solver import LbfgsSolver
    from ensemble.regression.regression_samples import load_regression_samples

    config = LbfgsConfig(samples=4000, iterations=20)
    problem = load_regression_samples(config)
    solver = LbfgsSolver(problem.x, problem.labels, problem.classes, config, jax.devices()[:devices])
    ends, began = set(), time.perf_counter()
    for _ in range(SOLVES):
        point = solver.start()
        for _ in range(config.iterations):
            point, iteration = solver.iterate(point)
        ends.add(iteration.objective)
        if np.ptp(solver.gather_weights(point), axis=0).max() > 0:
            raise SystemExit("The devices' weights are not the same.")
    spread = (max(ends) - min(ends)) / min(ends)
    return {"solves": SOLVES, "seconds": round(time.perf_counter() - began, 1), "spread": spread}


def child(*words: str, limit: float = 600) -> dict[str, Any]:
    """What another process of this benchmark found."""
    command = [sys.executable, "-m", "benchmarks.training.lbfgs", *words]
    done = subprocess.run(command, cwd=common.ROOT, check=True, capture_output=True, text=True, timeout=limit)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def compare() -> None:
    """Every competitor in turn, and the ratios."""
    rounds = [{name: child("--compete", name) for name in COMPETITORS} for _ in range(ROUNDS)]

    def ratio(name: str, other: str) -> float:
        each = [results[name]["step_ms"] / results[other]["step_ms"] for results in rounds]
        return round(float(np.median(each)), 3)

    best = min(results["jaxopt"]["objective"] for results in rounds)
    worst = max(result["objective"] for results in rounds for result in results.values())
    if worst > best * (1 + SAME):
        raise SystemExit(f"Not the same objective: {best} and {worst}.")
    common.keep(
        "lbfgs",
        {
            "ours_1_device_over_jaxopt": ratio("ours_1_device", "jaxopt"),
            "2_devices_times_as_fast_as_1": child("--turns"),
            "2_devices_times_as_fast_as_1_on_1_core": ratio("ours_1_device_1_core", "ours_2_devices"),
            "objective_relative_difference": worst / best - 1,
            "memory_over_data": max(results["ours_1_device"]["memory_over_data"] for results in rounds),
            "rounds": rounds,
        },
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compete", choices=COMPETITORS)
    parser.add_argument("--solves-on", type=int)
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("--stress", action="store_true")
    args = parser.parse_args()
    if args.compete:
        print(json.dumps(compete(args.compete)))
    elif args.turns:
        print(json.dumps(take_turns()))
    elif args.solves_on:
        print(json.dumps(stress(args.solves_on)))
    elif args.stress:
        common.keep(
            "lbfgs_stress",
            {
                f"{devices}_devices": child("--solves-on", str(devices), limit=STRESS_SECONDS)
                for devices in STRESS_DEVICES
            },
        )
    else:
        compare()


if __name__ == "__main__":
    main()
