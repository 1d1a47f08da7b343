"""Members that differ in their rate: one program of 16 rates beside 16 members at one, and 16 runs.

`python -m benchmarks.training.varied` prints two tables and keeps nothing. The first sets M members
at M rates beside M members at one rate, call by call in turn in one process: seconds of a call, and
their ratio (wanted: at most 1.1). The second sets one run of M members at M rates beside M runs of
one member each, one after the other, each a process of its own that starts, compiles, trains,
tests and writes (wanted: at most half); both begin with nothing compiled. Each is told in seconds
of the day and in processor seconds, which other work on the machine disturbs less.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

from benchmarks import common
from benchmarks.training.layouts import BATCH, CLOCKS, images_of

MEMBERS, STEPS, ROUNDS, EPOCHS = 16, 4, 9, 10
RATES = (0.001, 0.1)  # none of which diverges


def calls(network: str, members: int, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Seconds of each call of STEPS steps, by competitor and clock."""
    from ensemble.machine.jax_settings import prepare_jax

    prepare_jax()
    from ensemble.config import EnsembleConfig
    from ensemble.engine import Trainer

    images, durations, at_work = images_of(network), dict[str, dict[str, list[float]]](), []
    for name, vary in (("at one rate", ""), ("each at its own", varied())):
        config = EnsembleConfig("digits", members=members, batch_size=BATCH, network=network, vary=vary)
        trainer = Trainer(config, images)
        state, _ = trainer.train(trainer.start(), 1, 0, STEPS)
        durations[name] = {clock: [] for clock in CLOCKS}
        at_work.append([name, trainer, state])
    for turn in range(rounds):
        for contestant in at_work if turn % 2 else at_work[::-1]:
            name, trainer, state = contestant
            began = {clock: seconds() for clock, seconds in CLOCKS.items()}
            contestant[2], _ = trainer.train(state, 1, 0, STEPS)
            for clock, seconds in CLOCKS.items():
                durations[name][clock].append(seconds() - began[clock])
    return durations


def varied() -> str:
    """The text of the setting that gives each member a rate of its own."""
    return f"learning_rate={RATES[0]}..{RATES[1]}:log"


def be(network: str, dataset: str, epochs: int, members: int, rate: float) -> None:
    """A run from its start to its end; of rate 0, each member at its own."""
    from ensemble import runs
    from ensemble.config import EnsembleConfig

    how: dict[str, Any] = {"learning_rate": rate} if rate else {"vary": varied()}
    config = EnsembleConfig(dataset, network=network, members=members, epochs=epochs, **how)
    run = runs.execute_run(runs.create_run(config).id)
    if run.state != "finished":
        raise SystemExit(f"{run.state}: {run.message}")


def of_runs(args: argparse.Namespace, rates: list[float], members: int) -> dict[str, float]:
    """Seconds that these runs take one after the other, by clock, with nothing compiled before."""

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    words = ("-m", "benchmarks.training.varied", "--be", args.network, args.dataset)
    began = {"wall": time.perf_counter(), "cpu": spent()}
    with tempfile.TemporaryDirectory() as cache:
        for rate in rates:
            subprocess.run(
                [sys.executable, *words, str(args.epochs), str(members), str(rate)],
                check=True,
                cwd=common.ROOT,
                env={**os.environ, "JAX_COMPILATION_CACHE_DIR": cache},
            )
    return {"wall": time.perf_counter() - began["wall"], "cpu": spent() - began["cpu"]}


def table(title: str, rows: dict[str, dict[str, float]], wanted: float) -> str:
    """Seconds of each by both clocks, and of the last against the first."""
    lines = [f"{title:<34}{'seconds':>10}{'processor':>11}"]
    lines += [f"{name:<34}{row['wall']:>10.2f}{row['cpu']:>11.2f}" for name, row in rows.items()]
    first, *_, last = rows.values()
    ratios = [last[clock] / first[clock] for clock in ("wall", "cpu")]
    label = f"ratio (wanted: at most {wanted:g})"
    return "\n".join([*lines, f"{label:<34}{ratios[0]:>10.2f}{ratios[1]:>11.2f}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", default="cnn")
    parser.add_argument("--dataset", default="digits", help="of the runs")
    parser.add_argument("--members", type=int, default=MEMBERS)
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="of a run")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="calls of each")
    parser.add_argument("--be", nargs=5, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.be:
        network, dataset, epochs, members, rate = args.be
        be(network, dataset, int(epochs), int(members), float(rate))
        return
    common.isolated_folders()
    count = args.members
    rates = np.geomspace(*RATES, count).tolist()
    alone, together = of_runs(args, rates, 1), of_runs(args, [0.0], count)
    rows = {f"{count} runs of one member": alone, f"one run of {count} members": together}
    print(table(f"{args.dataset}, {args.epochs} epochs", rows, 0.5), flush=True)
    durations = calls(args.network, count, args.rounds)
    medians = {
        f"{count} members, {name}": {clock: statistics.median(each) for clock, each in by_clock.items()}
        for name, by_clock in durations.items()
    }
    print(table(f"a call of {STEPS} steps", medians, 1.1))


if __name__ == "__main__":
    main()
