"""The learning rate of every step."""

import numpy as np

from ensemble.config import EnsembleConfig


def learning_rates(config: EnsembleConfig, steps_per_epoch: int) -> np.ndarray:
    """The rate of each step of a run, float32 (epochs · steps_per_epoch,).

    Constant, or half a cosine from the full rate to zero (SGDR without restarts;
    Loshchilov and Hutter 2017); a warm-up first rises in a straight line from zero
    (Goyal et al. 2017).
    """
    total = config.epochs * steps_per_epoch
    warmup = round(config.warmup_epochs * steps_per_epoch)
    step = np.arange(total)
    rate = np.full(total, config.learning_rate)
    if config.schedule == "cosine":
        rate *= 0.5 * (1 + np.cos(np.pi * (step - warmup) / max(total - warmup, 1)))
    rate[:warmup] = config.learning_rate * (step[:warmup] + 1) / (warmup + 1)
    return rate.astype(np.float32)
