"""The learning rate of every step."""

import numpy as np
from numpy.typing import ArrayLike

from ensemble.config import TrainingConfig


def compute_learning_rates(
    config: TrainingConfig, steps_per_epoch: int, full: ArrayLike | None = None, epoch: int | None = None
) -> np.ndarray:
    """The rate of each step of a run, float32 (epochs · steps_per_epoch,).

    Constant; or half a cosine from the full rate to zero (SGDR without restarts; Loshchilov
    and Hutter 2017); or cyclic, where step t of a cycle of T steps has half a cosine of its own,
    rate / 2 · (cos(π t / T) + 1), and the next cycle begins at the full rate (Huang et al. 2017,
    equation 2). A warm-up first rises in a straight line from zero (Goyal et al. 2017); what is
    left of the first fall begins where it ends.

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
    elif config.schedule == "cyclic":
        length = config.epochs // config.cycles * steps_per_epoch
        begin = np.where(step < length, warmup, 0)
        falling = (step % length - begin) / np.maximum(length - begin, 1)
        share *= 0.5 * (1 + np.cos(np.pi * falling))
    if epoch is not None:
        of_epoch = slice((epoch - 1) * steps_per_epoch, epoch * steps_per_epoch)
        step, share = step[of_epoch], share[of_epoch]
    highest = np.asarray(config.learning_rate if full is None else full, np.float64)[..., None]
    rising = highest * (step + 1) / (warmup + 1)
    return np.where(step < warmup, rising, highest * share).astype(np.float32)
