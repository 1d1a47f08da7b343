"""Which images make up each batch of an epoch."""

import functools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ensemble.config import TrainingConfig
from ensemble.datasets.partition.batch_size import check_batch_size
from ensemble.datasets.partition.folds import count_images_per_member
from ensemble.engine.draws import random_keys
from ensemble.engine.trace_cache import cache_trace


def count_steps_per_epoch(size: int, batch_size: int, held_out: int = 0, folds: int = 0) -> int:
    """Whole batches in `size` images; the remainder is dropped, as the HOWTO does.

    With K folds all members take as many: those of the images that are left without one fold.

    Args:
      size: images to learn from.
      batch_size: B.
      held_out: training images beside them that are kept for validation, for the sentence.
      folds: K; 0 for none.

    Raises:
      ConfigError: a batch larger than what there is.
    """
    check_batch_size(batch_size, size, held_out, folds)
    return count_images_per_member(size, folds) // batch_size


def sample_epoch_batches(
    config: TrainingConfig, epoch: int, size: int, numbers: Sequence[int] | None = None, folds: np.ndarray | None = None
) -> np.ndarray:
    """The images of every batch of an epoch, by number: int32 (M, S, B).

    One permutation for all members, as in the HOWTO, unless the run asks for
    `shuffle_per_member`. With `bootstrap` member m's set is a draw of `size` images with
    replacement (bagging; Breiman 1996), the same in every epoch and shuffled like any other.
    With K folds member m draws, in an order of its own, from the images that are not in fold
    m mod K.

    Args:
      config: the run's settings.
      epoch: from 1.
      size: images to learn from.
      numbers: whose, of members counted from 0; by default of all. M is how many they are.
      folds: (size,), the fold of each image, where the run has some.
    """
    numbers = range(config.members) if numbers is None else numbers
    steps = count_steps_per_epoch(size, config.batch_size, folds=config.folds)
    if config.folds:
        assert folds is not None
        return _sample_fold_batches(config, epoch, steps, np.asarray(numbers, np.int32), folds)
    own = config.shuffle_per_member or config.bootstrap
    # Where all share one order, it is drawn once; whose orders they are is data, so that all
    # groups of a run share one program that draws them.
    draw = _build_order_program(size, config.shuffle_per_member, config.bootstrap)
    drawn = draw(config.seed, epoch, np.asarray(numbers if own else [0], np.int32))
    order = np.asarray(drawn)[:, : steps * config.batch_size]
    order = order.reshape(-1, steps, config.batch_size)
    return np.broadcast_to(order, (len(numbers), *order.shape[1:]))


def _sample_fold_batches(
    config: TrainingConfig, epoch: int, steps: int, numbers: np.ndarray, folds: np.ndarray
) -> np.ndarray:
    """`sample_epoch_batches` of members that leave folds out.

    Members of larger folds than others have fewer images for as many steps: where groups stay
    together, some of theirs come a second time.
    """
    batches = np.empty((len(numbers), steps, config.batch_size), np.int32)
    others = [np.flatnonzero(folds != fold).astype(np.int32) for fold in range(config.folds)]
    for size in sorted({len(seen) for seen in others}):
        places = np.flatnonzero([len(others[number % config.folds]) == size for number in numbers])
        if not len(places):
            continue
        draw = _build_order_program(size, True, config.bootstrap)
        drawn = np.asarray(draw(config.seed, epoch, numbers[places]))
        for place, order in zip(places, drawn, strict=True):
            seen = others[numbers[place] % config.folds]
            batches[place] = np.resize(seen[order], batches.shape[1:])
    return batches


@functools.cache
def _build_order_program(size: int, own_order: bool, bootstrap: bool) -> Callable[[int, int, np.ndarray], Array]:
    """From seed, epoch and numbers an order of all images for each, or one for all: (M or 1, N)."""

    def sample_order(seed: Array, epoch: Array, numbers: Array) -> Array:
        key = random_keys.derive_epoch_key(seed, epoch)
        own = random_keys.fold_in_members(key, numbers) if own_order else key[None]
        order = jax.vmap(functools.partial(jax.random.permutation, x=size))(own).astype(jnp.int32)
        if bootstrap:
            base = jax.random.fold_in(jax.random.key(seed), random_keys.BOOTSTRAP)
            resample = jax.vmap(lambda key: jax.random.randint(key, (size,), 0, size, jnp.int32))
            drawn = resample(random_keys.fold_in_members(base, numbers))
            whole = jnp.broadcast_to(order, (len(numbers), size))
            order = jnp.take_along_axis(drawn, whole, axis=1)
        return order

    return jax.jit(cache_trace("draw", sample_order, size, own_order, bootstrap))
