"""Trials side by side in one program, beside the same one after the other.

`python -m benchmarks.sweeps.packed` prints a table and keeps nothing: seconds for 8 trials of 2
members each at a rate of its own. Both ways are a process of their own that begins with nothing
compiled; the first column is from its start to its end, the second all of that again in the same
process, which compiles nothing any more. In processor seconds too, which other work on the machine
disturbs less.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks import common

RATES = (0.001, 0.1)  # none of which diverges


def be(way: str, args: argparse.Namespace) -> None:
    """One of the two ways, twice; its seconds, and those of the processor, as JSON."""
    from ensemble import runs
    from ensemble.config import EnsembleConfig
    from ensemble.runs.training import packed_training

    rates = np.geomspace(*RATES, args.trials).tolist()
    configs = [
        EnsembleConfig(
            args.dataset,
            network=args.network,
            members=args.members,
            epochs=args.epochs,
            batch_size=args.batch_size,
            learning_rate=rate,
            validation=0.1,
        )
        for rate in rates
    ]
    timings = []
    for turn in range(2):
        began = args.began if turn == 0 else time.time()
        used = spent() if turn else 0.0
        run_ids = [runs.create_run(config).id for config in configs]
        if way == "packed":
            deaf, never = [lambda status: None] * len(run_ids), [lambda: False] * len(run_ids)
            size = args.together or len(run_ids)
            ended = [
                run
                for first in range(0, len(run_ids), size)
                for run in packed_training.train_packed_runs(
                    *(column[first : first + size] for column in (run_ids, deaf, never))
                )
            ]
        else:
            ended = [runs.execute_run(run_id, turn=False) for run_id in run_ids]
        if any(run is None or run.state != "finished" for run in ended):
            raise SystemExit([run and run.message for run in ended])
        timings.append([time.time() - began, spent() - used])
    print(json.dumps(timings))


def spent() -> float:
    """Processor seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measured(way: str, words: list[str]) -> list[list[float]]:
    """Seconds and processor seconds of a way, begun with nothing compiled and then warm."""
    with tempfile.TemporaryDirectory() as cache:
        output = subprocess.run(
            [sys.executable, "-m", "benchmarks.sweeps.packed", "--be", way, "--began", str(time.time()), *words],
            check=True,
            cwd=common.ROOT,
            env={**os.environ, "JAX_COMPILATION_CACHE_DIR": cache},
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
    timings: list[list[float]] = json.loads(output.splitlines()[-1])
    return timings


def main(words: list[str] | None = None) -> None:
    words = sys.argv[1:] if words is None else words
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", default="cnn")
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--members", type=int, default=2, help="of a trial")
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--together", type=int, default=0, help="in one program; 0 for all")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--be", choices=("alone", "packed"), help=argparse.SUPPRESS)
    parser.add_argument("--began", type=float, default=0.0, help=argparse.SUPPRESS)
    args = parser.parse_args(words)
    if args.be:
        return be(args.be, args)
    common.isolated_folders()
    alone, together = measured("alone", words), measured("packed", words)
    print(f"{args.network} on {args.dataset}, {args.trials} trials of {args.members} members, {args.epochs} epochs")
    print(f"{'seconds':<26}{'with start':>12}{'processor':>11}{'warm':>9}{'processor':>11}")
    for name, rows in (("one after the other", alone), ("in one program", together)):
        (wall, used), (warm, warm_used) = rows
        print(f"{name:<26}{wall:>12.2f}{used:>11.2f}{warm:>9.2f}{warm_used:>11.2f}")
    ratios = [
        packed_time / other
        for row, rest in zip(together, alone, strict=True)
        for packed_time, other in zip(row, rest, strict=True)
    ]
    print(f"{'ratio':<26}{ratios[0]:>12.2f}{ratios[1]:>11.2f}{ratios[2]:>9.2f}{ratios[3]:>11.2f}")


if __name__ == "__main__":
    main()
