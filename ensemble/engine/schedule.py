"""The learning rate of every step."""

import numpy as np
from numpy.typing import ArrayLike

from ensemble.config import EnsembleConfig


def learning_rates(
    config: EnsembleConfig,
    steps_per_epoch: int,
    full: ArrayLike | None = None,
    epoch: int | None = None,
) -> np.ndarray:
    """The rate of each step of a run, float32 (epochs · steps_per_epoch,).

    Constant, or half a cosine from the full rate to zero (SGDR without restarts;
    Loshchilov and Hutter 2017); a warm-up first rises in a straight line from zero
    (Goyal et al. 2017).

    Args:
      config: the run's settings.
      steps_per_epoch: S.
      full: the full rate of each member, (M,), in place of the settings' one: then one row a
        member, which is what a run with this rate alone has, to the bit.
      epoch: the rates of this epoch alone, from 1: S in place of all.
    """
    total = config.epochs * steps_per_epoch
    warmup = round(config.warmup_epochs * steps_per_epoch)
    step = np.arange(total)
    share = np.ones(total)
    if config.schedule == "cosine":
        share *= 0.5 * (1 + np.cos(np.pi * (step - warmup) / max(total - warmup, 1)))
    if epoch is not None:
        of_epoch = slice((epoch - 1) * steps_per_epoch, epoch * steps_per_epoch)
        step, share = step[of_epoch], share[of_epoch]
    highest = np.asarray(config.learning_rate if full is None else full, np.float64)[..., None]
    rising = highest * (step + 1) / (warmup + 1)
    return np.where(step < warmup, rising, highest * share).astype(np.float32)
