"""Every member against the HOWTO's loop, all of `digits`: python -m benchmarks.equality

Two epochs, batch 128, momentum 0.9, at the HOWTO's rate of 0.1 and at half of it, for
M = 1, 3, 8 on 1, 2 and 8 CPU devices. Prints the largest relative difference of a loss; and, since
rounding grows from step to step, how far the HOWTO's loop comes from itself when it takes each
batch's images in reversed order, which changes nothing but the rounding of sums.
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
    found, itself = {}, {}

    in_order = howto.epoch_perms

    def howto_losses(rate: float, step: int) -> np.ndarray:
        howto.epoch_perms = lambda *drawn: in_order(*drawn)[:, ::step]
        return howto.train_on_one_device(
            digits.train_images,
            digits.train_labels,
            members=8,
            epochs=2,
            batch_size=128,
            learning_rate=rate,
        )[0]

    for rate in (0.1, 0.05):
        wanted = howto_losses(rate, 1)
        off = np.abs(howto_losses(rate, -1) / wanted - 1)
        for members in (1, 3, 8):
            itself[f"rate {rate}, M = {members}"] = float(f"{off[:, :, :members].max():.1e}")
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
    kept = {"largest_relative_difference_of_a_loss": found, "of_the_howto_to_itself": itself}
    common.keep("equality", kept)


if __name__ == "__main__":
    main()
