"""Every member against the HOWTO's loop, all of `digits`: python -m benchmarks.equality

Two epochs, batch 128, momentum 0.9, at the HOWTO's rate of 0.1 and at half of it, for
M = 1, 3, 8 on 1, 2 and 8 CPU devices. Prints the largest relative difference of a loss.
"""

import os

from benchmarks import common


def main() -> None:
    os.environ["JAX_NUM_CPU_DEVICES"] = "8"
    import jax
    import numpy as np

    from ensemble import data
    from ensemble.config import EnsembleConfig
    from ensemble.engine import Trainer, howto

    digits = data.load("digits")
    found = {}
    for rate in (0.1, 0.05):
        wanted, _ = howto.train_on_one_device(
            digits.train_images,
            digits.train_labels,
            members=8,
            epochs=2,
            batch_size=128,
            learning_rate=rate,
        )
        for members in (1, 3, 8):
            for devices in (1, 2, 8):
                config = EnsembleConfig(members=members, epochs=2, learning_rate=rate)
                trainer = Trainer(config, digits, jax.devices()[:devices])
                state, losses = trainer.start(), []
                for epoch in (1, 2):
                    state, figures = trainer.train(state, epoch, 0, trainer.steps_per_epoch)
                    losses.append(figures.loss.T)
                off = np.abs(np.stack(losses) / wanted[:, :, :members] - 1).max()
                found[f"rate {rate}, M = {members}, D = {devices}"] = float(f"{off:.1e}")
    common.keep("equality", {"largest_relative_difference_of_a_loss": found})


if __name__ == "__main__":
    main()
