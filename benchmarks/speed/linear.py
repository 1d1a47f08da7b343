"""Seconds per epoch against the number of members: python -m benchmarks.speed.linear

M = 4, 8, 16, 32, 64 on the CPU, whole epochs of `digits`, batch 128, float32, test set included,
cut into calls as a run's are. They take turns, 5 times; the seconds of a member are set beside
those with 4.
"""

import argparse
import statistics
import sys
import time

from benchmarks import common

MEMBERS, ROUNDS, AGAINST = (4, 8, 16, 32, 64), 5, 4
WITHIN = 0.05
# Members that are trained in a turn, at least: few members take several epochs, so that every
# look at the clock is a long one.
LONG = 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    common.isolated_folders()
    from ensemble import datasets
    from ensemble.config import EnsembleConfig
    from ensemble.machine.jax_settings import prepare_jax

    prepare_jax()
    from ensemble.engine import CallPacer, MemberState, Trainer

    digits = datasets.load_dataset("digits")
    trainers = {count: Trainer(EnsembleConfig(members=count), digits) for count in MEMBERS}
    states = {count: trainer.start() for count, trainer in trainers.items()}
    paces = {count: CallPacer() for count in MEMBERS}

    def epoch(count: int) -> float:
        """Seconds for every step and the test set."""
        trainer, began = trainers[count], time.perf_counter()
        start, pace = 0, paces[count]
        while left := trainer.steps_per_epoch - start:
            state: MemberState = states.pop(count)
            called, steps = time.perf_counter(), pace.choose_units(left)
            states[count], _ = trainer.train(state, 1, start, steps)
            pace.record_duration(steps, time.perf_counter() - called)
            start += steps
        trainer.evaluate(states[count])
        return time.perf_counter() - began

    for count in MEMBERS:
        epoch(count)  # Compiles evaluation, and finds the pace.
    seconds: dict[int, list[float]] = {count: [] for count in MEMBERS}
    for number in range(rounds):
        for count in MEMBERS:
            again = max(1, LONG // count)
            seconds[count].append(sum(epoch(count) for _ in range(again)) / again)
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    ratios = {
        count: statistics.median(
            (here / count) / (there / AGAINST) for here, there in zip(seconds[count], seconds[AGAINST], strict=True)
        )
        for count in MEMBERS
    }
    common.keep(
        "linear",
        {
            "seconds_per_epoch": {n: round(statistics.median(s), 3) for n, s in seconds.items()},
            "seconds_per_member_against_4": {n: round(r, 3) for n, r in ratios.items()},
            "within_5_percent": all(r - 1 <= WITHIN for r in ratios.values()),
            "rounds": {n: [round(value, 3) for value in s] for n, s in seconds.items()},
        },
    )


if __name__ == "__main__":
    main()
