"""Multi-class logistic regression: its loss and gradient, with the data read once.

The objective is JAXopt's `multiclass_logreg` (Blondel et al. 2022, "Efficient and Modular
Implicit Differentiation"): the mean softmax cross-entropy of `X @ W`, no intercept.

A plain `X @ W` and `X.T @ residual` read the data twice, and with ten classes both spend most
of their time copying it into the matrix library's own order. Here the samples are cut into
blocks that stay near a core, in its caches, each kept features first, (features, samples): then
both products of a block are of the form that needs no transposing (`W.T @ x` and `x @ r`), and
the softmax between them runs along contiguous samples.
"""

import mmap
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

# What a block weighs on a CPU: near to a core when the second product reads it; or, for a device
# that is all cores at once, work enough to share.
_BLOCK_BYTES, _SHARED_BLOCK_BYTES = 512 * 1024, 4 * 1024 * 1024
_FLOATS_PER_REGISTER = 16  # float32 in a vector register: samples of a block, and columns of a product

_CACHE_LINE_BYTES = 64  # bytes of a cache line

PADDING_LABEL = -1  # the label of what only fills up a block


class BlockedSamples(NamedTuple):
    """Samples in blocks, as one device holds them.

    Attributes:
      x: float32 (K, F, B): K blocks of B samples of F features.
      labels: int32 (K, B); `PADDING_LABEL` where a block is filled up: such a sample weighs
        nothing.
    """

    x: Array
    labels: Array


def choose_block_size(samples: int, features: int, on_cpu: bool, shared: bool = False) -> int:
    """How many samples make a block: a cache full on a CPU, all of them elsewhere."""
    whole = max(-(-samples // _FLOATS_PER_REGISTER) * _FLOATS_PER_REGISTER, _FLOATS_PER_REGISTER)
    room = _SHARED_BLOCK_BYTES if shared else _BLOCK_BYTES
    fitting = room // (4 * features) // _FLOATS_PER_REGISTER * _FLOATS_PER_REGISTER
    return min(whole, max(fitting, _FLOATS_PER_REGISTER)) if on_cpu else whole


def count_blocks(samples: int, block: int, shards: int) -> int:
    """How many blocks each device has: K, at least 1."""
    most = -(-samples // shards)
    return max(-(-most // block), 1)


def cut_into_shards(
    x: NDArray[np.float32], labels: NDArray[np.int32], block: int, shards: int
) -> list[tuple[NDArray[np.float32], NDArray[np.int32]]]:
    """Samples cut for devices, in order and evenly: `shards` pairs (K, F, B) and (K, B).

    Args:
      x: float32 (N, F); may be a memory map: it is read once, and what was read is let go.
      labels: int32 (N,), from 0.
      block: B.
      shards: D; any number, also more than there are samples.
    """
    count, features = x.shape
    bounds = [part * count // shards for part in range(shards + 1)]
    blocks = count_blocks(count, block, shards)
    cut = []
    for first, last in pairwise(bounds):
        shard = _allocate_aligned_zeros(blocks, features, block)
        named = np.full((blocks, block), PADDING_LABEL, np.int32)
        for k, start in enumerate(range(first, last, block)):
            end = min(start + block, last)
            shard[k, :, : end - start] = x[start:end].T
            named[k, : end - start] = labels[start:end]
            _release_pages(x)
        cut.append((shard, named))
    return cut


def _release_pages(x: NDArray[np.float32]) -> None:
    """Give a memory map's pages back: the samples would be in memory twice."""
    if isinstance(x.base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        x.base.madvise(mmap.MADV_DONTNEED)


def _allocate_aligned_zeros(*shape: int) -> NDArray[np.float32]:
    """Zeros that begin on a cache line: a CPU device takes such an array over without a copy."""
    size = 4 * int(np.prod(shape))
    room = np.zeros(size + _CACHE_LINE_BYTES, np.uint8)
    start = -room.ctypes.data % _CACHE_LINE_BYTES
    return room[start : start + size].view(np.float32).reshape(shape)


def build_logistic_objective(
    samples: BlockedSamples, count: int, l2: float, axis: str | None = None
) -> Callable[[Array], Array]:
    """The loss to be minimised, a function of the weights (F, C): nats per sample.

    Loss and gradient are summed over the devices together, in one collective, and by hand: JAX
    would differentiate a `psum` into one that multiplies by the number of devices, and a line
    search that differentiates it once more would let the devices drift apart. The derivative
    stated here is the gradient that was summed already, so there is no `psum` to differentiate.

    Args:
      samples: this device's.
      count: N, of all devices.
      l2: adds l2 / 2 · |W|².
      axis: the name of the devices' axis under `pmap`, or None for one device.
    """

    def sum_over_devices(total: Array) -> Array:
        return jax.lax.psum(total, axis) if axis else total

    def compute_penalty(weights: Array) -> Array:
        return 0.5 * l2 * jnp.vdot(weights, weights)

    def compute_value_and_gradient(weights: Array) -> tuple[Array, Array]:
        value, gradient = _sum_loss_and_gradient(weights, samples)
        mean = sum_over_devices(jnp.append(gradient.ravel(), value)) / count
        return mean[-1] + compute_penalty(weights), mean[:-1].reshape(weights.shape) + l2 * weights

    @jax.custom_jvp
    def compute_loss(weights: Array) -> Array:
        return compute_value_and_gradient(weights)[0]

    @compute_loss.defjvp
    def differentiate_loss(weights: tuple[Array], change: tuple[Array]) -> tuple[Array, Array]:
        value, gradient = compute_value_and_gradient(*weights)
        return value, jnp.vdot(gradient, *change)

    return compute_loss


def _sum_loss_and_gradient(weights: Array, samples: BlockedSamples) -> tuple[Array, Array]:
    """The samples' losses summed, in nats, and the gradient of that by the weights (F, C)."""
    features, classes = weights.shape
    unused = -classes % _FLOATS_PER_REGISTER  # A product with whole registers of columns takes less time.

    def add_block(total: tuple[Array, Array], block: BlockedSamples) -> tuple[tuple[Array, Array], None]:
        loss, residual = _compute_softmax_loss(weights.T @ block.x, block.labels)
        gradient = block.x @ jnp.pad(residual, ((0, unused), (0, 0))).T
        return (total[0] + loss, total[1] + gradient), None

    nothing = jnp.zeros(()), jnp.zeros((features, classes + unused))
    loss, gradient = jax.lax.scan(add_block, nothing, samples)[0]
    return loss, gradient[:, :classes]


def _compute_softmax_loss(logits: Array, labels: Array) -> tuple[Array, Array]:
    """Cross-entropy summed over a block, and its gradient by the logits.

    Args:
      logits: (C, B).
      labels: (B,); where it is `PADDING_LABEL`, neither loss nor gradient.
    """
    top = logits.max(axis=0)
    powers = jnp.exp(logits - top)
    total = powers.sum(axis=0)
    one_hot = labels == jnp.arange(logits.shape[0])[:, None]
    counted = labels != PADDING_LABEL
    own = jnp.where(one_hot, logits, 0.0).sum(axis=0)
    loss = jnp.where(counted, jnp.log(total) + top - own, 0.0).sum()
    return loss, jnp.where(counted, powers / total - one_hot, 0.0)
