"""Images on the devices against images that are streamed: python -m benchmarks.speed.streaming

Epochs of the HOWTO's network, M = 4, batch 128, on MNIST (on drawn images of its size where it has
not been fetched), with all images on the devices, and with those of the next steps alone, read from
a memory map: they take turns, and the median ratio of seconds counts. Losses have to be the same.
"""

import os
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from ensemble.config import EnsembleConfig
from ensemble.machine.jax_settings import prepare_jax
from ensemble.machine.resident_images import RESIDENT_VARIABLE

IMAGES, TURNS = 12_800, 5


def main() -> None:
    """Measure and print."""
    prepare_jax()
    from ensemble import datasets
    from ensemble.engine import Trainer

    digits = datasets.load_dataset("digits")
    draw = np.random.default_rng(0)
    if datasets.is_dataset_prepared("mnist"):
        mnist = datasets.load_dataset("mnist")
        images, labels = mnist.train_images[:IMAGES], mnist.train_labels[:IMAGES]
    else:
        images = draw.integers(0, 256, (IMAGES, 28, 28, 1), np.uint8)
        labels = draw.integers(0, 10, IMAGES).astype(np.int32)
    config, trainers = EnsembleConfig(members=4, epochs=TURNS + 1), {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "images.npy"
        np.save(file, images)
        for way, gigabytes in (("resident", ""), ("streamed", "0.000001")):
            os.environ[RESIDENT_VARIABLE] = gigabytes
            mapped = np.asarray(np.load(file, mmap_mode="r"))
            trainer = Trainer(config, replace(digits, train_images=mapped, train_labels=labels))
            trainers[way] = trainer, trainer.start()
        seconds: dict[str, list[float]] = {way: [] for way in trainers}
        losses: dict[str, np.ndarray] = {}
        for epoch in range(1, TURNS + 2):
            for way in list(trainers)[:: 1 if epoch % 2 else -1]:
                trainer, state = trainers[way]
                begun = time.perf_counter()
                state, metrics = trainer.train(state, epoch, 0, trainer.steps_per_epoch)
                if epoch > 1:  # The first warms up.
                    seconds[way].append(time.perf_counter() - begun)
                trainers[way], losses[way] = (trainer, state), metrics.loss
            assert np.array_equal(losses["resident"], losses["streamed"])
    pairs = zip(seconds["resident"], seconds["streamed"], strict=True)
    rates = [resident / streamed for resident, streamed in pairs]
    print(
        f"Streamed images train at {statistics.median(rates):.2f} of the rate "
        f"({min(rates):.2f} to {max(rates):.2f} over {TURNS} epochs of {IMAGES:,} images); "
        "losses are the same to the bit."
    )


if __name__ == "__main__":
    main()
