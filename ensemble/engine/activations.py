"""What members make of a few images, and by what: logits, and the features they come from."""

from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array
from numpy.typing import NDArray

from ensemble.engine.networks.cnn import CNN, to_unit
from ensemble.engine.trace_cache import cached

FEATURES = 256
# Images go through in rooms of these sizes: one program each, and hardly one is left to compile
# after the first pictures. More than the largest go in several calls.
ROOMS = (1, 8, 32, 128)


class Activations(NamedTuple):
    """Of M members and N images.

    Attributes:
      logits: float32 (M, N, C); their softmax over C are the members' probabilities.
      features: float32 (M, N, 256), the dense layer of 256 after its relu: all that the last
        layer sees of an image.
    """

    logits: NDArray[np.float32]
    features: NDArray[np.float32]

    @property
    def probabilities(self) -> NDArray[np.float32]:
        """Each member's probabilities, (M, N, C)."""
        raised = np.exp(self.logits - self.logits.max(axis=-1, keepdims=True))
        return raised / raised.sum(axis=-1, keepdims=True)


def activations(params: Any, images: NDArray[np.uint8]) -> Activations:
    """All members on all images, in one dispatch for up to 128 images.

    Args:
      params: the members' parameters, leaves (M, …), best on the device already: sent anew
        with every call they would take longer than the arithmetic.
      images: uint8 (N, 28, 28, 1).
    """
    starts = range(0, max(len(images), 1), ROOMS[-1])
    parts = [_in_a_room(params, images[at : at + ROOMS[-1]]) for at in starts]
    return Activations(*(np.concatenate(part, axis=1) for part in zip(*parts, strict=True)))


def _in_a_room(params: Any, images: NDArray[np.uint8]) -> tuple[np.ndarray, np.ndarray]:
    room = next(size for size in ROOMS if size >= len(images))
    padded = np.zeros((room, *images.shape[1:]), np.uint8)
    padded[: len(images)] = images
    logits, features = _compiled(params, padded)
    return np.asarray(logits)[:, : len(images)], np.asarray(features)[:, : len(images)]


def _members(params: Any, images: Array) -> tuple[Array, Array]:
    """(M, N, C) and (M, N, 256); the members one by one, each with the caches to itself."""

    def one(params: Any) -> tuple[Array, Array]:
        logits, seen = CNN().apply(
            {"params": params}, unit, capture_intermediates=lambda layer, _: layer.name == "Dense_0"
        )
        return logits, jax.nn.relu(seen["intermediates"]["Dense_0"]["__call__"][0])

    unit = to_unit(images)
    return jax.lax.map(one, params)


_compiled = jax.jit(cached("activations", _members))
