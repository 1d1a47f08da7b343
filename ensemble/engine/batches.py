"""Which images make up each batch of an epoch."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ensemble.config import EnsembleConfig
from ensemble.engine import keys
from ensemble.errors import ConfigError


def steps_per_epoch(size: int, batch_size: int) -> int:
    """Whole batches in `size` images; the remainder is dropped, as the HOWTO does."""
    if size < batch_size:
        raise ConfigError(
            f"batch_size is {batch_size:,}, but there are only {size:,} training images: "
            f"choose at most {size:,}."
        )
    return size // batch_size


def epoch_order(config: EnsembleConfig, epoch: int, size: int) -> np.ndarray:
    """The images of every batch of an epoch, by number: int32 (M, S, B).

    One permutation for all members, as in the HOWTO, unless the run asks for
    `shuffle_per_member`. With `bootstrap` member m's set is a draw of `size` images with
    replacement (bagging; Breiman 1996), made once for the run and shuffled like any other.
    """
    steps = steps_per_epoch(size, config.batch_size)
    key = keys.epoch_key(config.seed, epoch)
    own = keys.own_keys(key, config.members)
    order = _permutations(own if config.shuffle_per_member else key[None], size)
    if config.bootstrap:
        order = np.take_along_axis(
            _resamples(config.seed, config.members, size),
            np.broadcast_to(order, (config.members, size)),
            axis=1,
        )
    order = order[:, : steps * config.batch_size].reshape(-1, steps, config.batch_size)
    return np.broadcast_to(order, (config.members, *order.shape[1:]))


def _permutations(batch_of_keys: Array, size: int) -> np.ndarray:
    permute = jax.vmap(functools.partial(jax.random.permutation, x=size))
    return np.asarray(permute(batch_of_keys)).astype(np.int32)


@functools.cache
def _resamples(seed: int, members: int, size: int) -> np.ndarray:
    base = jax.random.fold_in(jax.random.key(seed), keys.BOOTSTRAP)
    draw = jax.vmap(lambda key: jax.random.randint(key, (size,), 0, size, jnp.int32))
    return np.asarray(draw(keys.own_keys(base, members)))
