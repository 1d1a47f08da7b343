"""Training speed against the HOWTO's own loop, side by side: python -m benchmarks.training

Two processes take turns, a slice of a few seconds each, so that whatever else the machine
does falls on both. M = 4, batch 128, float32, MNIST's first images. Prints medians and
their ratio.
"""

import os
import statistics
import subprocess
import sys
import time

from benchmarks import common

MEMBERS, BATCH, ROUNDS, STEPS = 4, 128, 9, 24


def howto_slices() -> None:
    """The HOWTO's loop: one device a member, a step a call, batches gathered on the host."""
    # Without a larger pool its pmean starves and XLA ends the process (see engine/howto.py).
    os.environ.update(JAX_NUM_CPU_DEVICES=str(MEMBERS), NPROC="16")
    import jax
    import numpy as np

    from ensemble import data
    from ensemble.engine import howto

    digits = data.load("mnist")
    images = np.float32(digits.train_images[: BATCH * STEPS]) / 255.0
    labels = digits.train_labels[: BATCH * STEPS]
    create, apply, update = howto.train_step_on_devices()
    state = create(jax.random.split(jax.random.key(0), MEMBERS), 0.1, 0.9)
    key = jax.random.key(1)

    def run() -> None:
        nonlocal state
        state, _, _ = howto.train_epoch_on_devices(state, apply, update, images, labels, BATCH, key)
        jax.block_until_ready(state.params)

    answer(run)


def engine_slices() -> None:
    """This project's engine, as its worker sets it up."""
    from ensemble.runs.environment import prepare_jax

    prepare_jax()
    from ensemble import data
    from ensemble.config import EnsembleConfig
    from ensemble.engine import Trainer

    config = EnsembleConfig(dataset="mnist", members=MEMBERS, batch_size=BATCH)
    trainer = Trainer(config, data.load("mnist"))
    state = trainer.start()

    def run() -> None:
        nonlocal state
        state, _ = trainer.train(state, 1, 0, STEPS)

    answer(run)


def answer(run) -> None:
    """Warm up; then for every line on stdin one slice, and its speed on stdout."""
    run()
    for _ in sys.stdin:
        began = time.perf_counter()
        run()
        print(STEPS * BATCH * MEMBERS / (time.perf_counter() - began), flush=True)


def main() -> None:
    common.isolated_folders()
    children = {}
    for name in ("howto", "engine"):
        children[name] = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.training", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            cwd=common.ROOT,
        )
    speeds: dict[str, list[float]] = {name: [] for name in children}
    for _ in range(ROUNDS + 1):
        for name, child in children.items():
            child.stdin.write("go\n")
            speeds[name].append(float(child.stdout.readline()))
    for child in children.values():
        child.stdin.close()
        child.wait()
    kept = {name: speeds[name][1:] for name in speeds}  # The first slice still warms up.
    medians = {name: statistics.median(values) for name, values in kept.items()}
    ratios = [ours / theirs for ours, theirs in zip(kept["engine"], kept["howto"], strict=True)]
    common.keep(
        "training",
        {
            "members": MEMBERS,
            "batch_size": BATCH,
            "img_member_per_s": {name: round(value) for name, value in medians.items()},
            "slices": {name: [round(value) for value in kept[name]] for name in kept},
            "ratio_of_medians": round(medians["engine"] / medians["howto"], 2),
            "median_of_ratios": round(statistics.median(ratios), 2),
        },
    )


if __name__ == "__main__":
    if sys.argv[1:] in (["howto"], ["engine"]):
        howto_slices() if sys.argv[1] == "howto" else engine_slices()
    else:
        main()
