"""What augmentation costs of a training step: python -m benchmarks.training.augmentation

The `cnn` on random images of MNIST's size, as many members as devices, in one process that trains
as a worker does: without augmentation and with each kind of it, calls of a few steps in turns. The
first number is the median over turns of the processor time beside that without; the second the
same of the fastest calls by the clock, which other work cannot have shortened. `--keep` writes
benchmarks/results/augmentation.json.
"""

import argparse
import json
import os
import statistics
import time
from typing import Any

from benchmarks import common
from benchmarks.training.layouts import images_of

STEPS, ROUNDS = 4, 15
MOVED = {"shift_pixels": 2, "rotation_degrees": 10.0}
WARPED = {"slant_degrees": 10.0, "elastic_pixels": 1.0}
KINDS: dict[str, dict[str, Any]] = {
    "none": {},
    "shift": {"shift_pixels": 2},
    "shift and rotation": MOVED,
    "flip": {"flip": True},
    "slant and elastic": WARPED,
    "photo effects": {"photo_effects": 0.5},
    "all but flip": {**MOVED, **WARPED, "photo_effects": 0.5},
}


def measure(rounds: int) -> dict[str, Any]:
    """Of each kind the time of a step beside that without augmentation."""
    os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"
    from ensemble.machine.jax_settings import count_cpu_cores, prepare_jax

    prepare_jax()
    from ensemble.config import EnsembleConfig
    from ensemble.engine import Trainer

    # Own orders, so that the members' figures are averaged in none of them, as with augmentation.
    usual = {"members": count_cpu_cores(), "shuffle_per_member": True}
    every = [Trainer(EnsembleConfig(**usual, **kind), images_of("cnn")) for kind in KINDS.values()]
    states = [trainer.train(trainer.start(), 1, 0, 1)[0] for trainer in every]
    processor: list[list[float]] = [[] for _ in every]
    clock: list[list[float]] = [[] for _ in every]
    for _ in range(rounds):
        for n, trainer in enumerate(every):
            began = time.process_time(), time.perf_counter()
            states[n], _ = trainer.train(states[n], 1, 0, STEPS)
            processor[n].append(time.process_time() - began[0])
            clock[n].append(time.perf_counter() - began[1])
    return {
        "step_ms_without": round(1000 * min(clock[0]) / STEPS, 1),
        "times_as_long": {
            name: [
                round(statistics.median(a / b for a, b in zip(own, processor[0], strict=True)), 3),
                round(min(fastest) / min(clock[0]), 3),
            ]
            for name, own, fastest in zip(KINDS, processor, clock, strict=True)
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns of each kind")
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results")
    args = parser.parse_args()
    figures = measure(args.rounds)
    if args.keep:
        common.keep("augmentation", figures)
    else:
        print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
