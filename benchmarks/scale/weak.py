"""Weak scaling: one group on one core against two groups, each with a core of its own.

Each group is a process that trains its members as a task does. In a round the first trains alone,
then the second, then both at once; the efficiency is what they do together over the sum of what
each did alone. By the clock it is fair where nothing else has the two cores. By processor seconds
it says what remains when others have them too: how much sharing caches and memory costs.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any

from benchmarks import common

MEMBERS, NETWORK, DATASET = 2, "cnn", "digits"
ROUNDS, SECONDS = 7, 4.0


def group(number: int) -> None:
    """Be a group: warm up, then train for so many seconds for every line of standard input."""
    from ensemble.machine.jax_settings import prepare_jax

    prepare_jax()
    from ensemble import datasets
    from ensemble.config import EnsembleConfig
    from ensemble.engine import Trainer

    config = EnsembleConfig(DATASET, network=NETWORK, members=2 * MEMBERS, groups=2, devices=1)
    numbers = range(number * MEMBERS, (number + 1) * MEMBERS)
    trainer = Trainer(config, datasets.load_dataset(DATASET), numbers=numbers)
    state, step = trainer.start(), 0
    print("ready", flush=True)
    for line in sys.stdin:
        did, wall, own = 0, time.perf_counter(), time.process_time()
        while time.perf_counter() - wall < float(line):
            state, _ = trainer.train(state, 1, step % trainer.steps_per_epoch, 1)
            did, step = did + MEMBERS * config.batch_size, step + 1
        print(
            json.dumps({"wall": did / (time.perf_counter() - wall), "cpu": did / (time.process_time() - own)}),
            flush=True,
        )


def measured(rounds: int, seconds: float) -> dict[str, Any]:
    """Efficiencies by both clocks: their median and their range over the rounds."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise SystemExit("Weak scaling from one core to two wants two cores.")
    children = [started(number, cores[number]) for number in (0, 1)]
    if [child.stdout.readline().strip() for child in children] != ["ready"] * 2:
        raise SystemExit("A group did not start.")

    def turn(some: list[Any]) -> list[dict[str, float]]:
        for child in some:
            child.stdin.write(f"{seconds}\n")
        return [json.loads(child.stdout.readline()) for child in some]

    turn(children)  # to be warm
    efficiencies: dict[str, list[float]] = {"wall": [], "cpu": []}
    rates, loads = [], []
    for _ in range(rounds):
        alone = [turn([child])[0] for child in children]
        both = turn(children)
        for clock, every in efficiencies.items():
            every.append(
                sum(group_rates[clock] for group_rates in both) / sum(group_rates[clock] for group_rates in alone)
            )
        rates.append(alone[0]["cpu"])
        loads.append(os.getloadavg()[0])
        print(
            json.dumps({clock: round(every[-1], 3) for clock, every in efficiencies.items()}),
            file=sys.stderr,
            flush=True,
        )
    for child in children:
        child.stdin.close()
        child.wait()
    return {
        "members_of_a_group": MEMBERS,
        "network": NETWORK,
        "rounds": rounds,
        "seconds": seconds,
        "load": round(max(loads), 1),
        "img_member_per_cpu_s": round(statistics.median(rates)),
        **{
            clock: {
                "median": round(statistics.median(every), 3),
                "least": round(min(every), 3),
                "most": round(max(every), 3),
            }
            for clock, every in efficiencies.items()
        },
    }


def said(figures: dict[str, Any]) -> str:
    """The efficiencies in a sentence."""
    wall, own = figures["wall"], figures["cpu"]
    return (
        f"Weak scaling from one core to two: {wall['median']:.2f} by the clock "
        f"({wall['least']:.2f}–{wall['most']:.2f}), {own['median']:.2f} by processor seconds "
        f"({own['least']:.2f}–{own['most']:.2f}), with {figures['load']:.0f} processes at work."
    )


def started(number: int, core: int) -> Any:
    """A group's process, kept to a core."""
    command = [sys.executable, "-m", "benchmarks.scale.weak", str(number)]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        bufsize=1,
        cwd=common.ROOT,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )


if __name__ == "__main__":
    group(int(sys.argv[1]))
