"""Every random draw of a run, from its seed: the HOWTO's key chain, and branches off it.

The HOWTO's chain: `key(seed)`; one `split` for the members' first parameters; then one
`split` for each epoch, whose key shuffles it. What the HOWTO does not draw (own order
per member, bootstrap, augmentation) hangs on keys folded in beside that chain, so that
switching an option on leaves every other draw as it was. Keys come from a member's
number, never from the device that it lives on.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

BOOTSTRAP = 1_000_001
AUGMENTATION = 1_000_002
DROPOUT = 1_000_003
BATCH_PART = 1_000_004
# Round the number of members up to a multiple of this, so that one compiled program serves up to 64 members.
_MEMBERS_AT_A_TIME = 64


def derive_member_keys(seed: int | Array, members: int) -> Array:
    """The keys (M,) that the members' first parameters are drawn from."""
    _, init_key = jax.random.split(jax.random.key(seed))
    return jax.random.split(init_key, members)


def derive_member_key_data(seed: int, members: int) -> NDArray[np.uint32]:
    """`derive_member_keys` as raw data (M, 2)."""
    # With jax_threefry_partitionable off, keys depend on their number.
    room = _round_up(members) if jax.config.values["jax_threefry_partitionable"] else members
    return np.asarray(_derive_member_key_data(seed, room))[:members]


@functools.partial(jax.jit, static_argnums=1)
def _derive_member_key_data(seed: Array, members: int) -> Array:
    return jax.random.key_data(derive_member_keys(seed, members))


def derive_epoch_key(seed: int | Array, epoch: int | Array) -> Array:
    """The key of an epoch, counted from 1."""
    rng, _ = jax.random.split(jax.random.key(seed))
    rng = jax.lax.fori_loop(0, epoch - 1, lambda _, rng: jax.random.split(rng)[0], rng)
    return jax.random.split(rng)[1]


def derive_augmentation_keys(seed: int, epoch: int, members: int) -> NDArray[np.uint32]:
    """A key for each member's shifts, turns and dropout in an epoch, as raw data (M, 2).

    Step s of the epoch folds in s. Dropout folds `DROPOUT` into that, so that a stopped run draws
    the same when it goes on. Where a batch is learnt in parts, part p of step s folds in
    `BATCH_PART` and p after s.
    """
    return np.asarray(_derive_augmentation_keys(seed, epoch, _round_up(members)))[:members]


@functools.partial(jax.jit, static_argnums=2)
def _derive_augmentation_keys(seed: Array, epoch: Array, members: int) -> Array:
    base = jax.random.fold_in(derive_epoch_key(seed, epoch), AUGMENTATION)
    return jax.random.key_data(fold_in_members(base, jnp.arange(members)))


def _round_up(members: int) -> int:
    return -(-members // _MEMBERS_AT_A_TIME) * _MEMBERS_AT_A_TIME


def fold_in_members(key: Array, numbers: Array) -> Array:
    """A key (M,) for each of these members, counted from 0, folded from one that all share."""
    return jax.vmap(lambda member: jax.random.fold_in(key, member))(numbers)
