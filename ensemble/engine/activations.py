"""What members make of a few images, and by what: logits, and the features they come from."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jax import Array
from numpy.typing import NDArray

from ensemble.engine.networks.arithmetic import scale_to_unit
from ensemble.engine.networks.network import Network
from ensemble.engine.predict import map_over_members
from ensemble.errors import RunError

# Images are padded to batches of these sizes, one compiled program each, so that little is left to
# compile after the first pictures. More images than the largest size take several calls.
_PADDED_BATCH_SIZES = (1, 8, 32, 128)
NOT_FINITE_MESSAGE = "The members give no finite numbers for an image: choose another epoch, or another run."


class Activations(NamedTuple):
    """Of M members and N images.

    Attributes:
      logits: float32 (M, N, C); their softmax over C are the members' probabilities.
      features: float32 (M, N, F), all that the last layer sees of an image: of the HOWTO's
        network the dense layer of 256 after its relu.
    """

    logits: NDArray[np.float32]
    features: NDArray[np.float32]

    @property
    def probabilities(self) -> NDArray[np.float32]:
        """Each member's probabilities, (M, N, C)."""
        raised = np.exp(self.logits - self.logits.max(axis=-1, keepdims=True))
        return raised / raised.sum(axis=-1, keepdims=True)


def compute_activations(
    network: Network, params: Any, images: NDArray[np.uint8], sizes: tuple[int, ...] = _PADDED_BATCH_SIZES
) -> Activations:
    """All members on all images, in one dispatch for as many as the largest size.

    Args:
      network: what the members are.
      params: their parameters, leaves (M, …), best on the device already: sent again
        with every call they would take longer than the arithmetic.
      images: uint8 (N, H, W, channels).
      sizes: of the batches that images are padded to, rising.

    Raises:
      RunError: a logit is not a number.
    """
    starts = range(0, max(len(images), 1), sizes[-1])
    parts = [_compute_padded_batch(network, params, images[at : at + sizes[-1]], sizes) for at in starts]
    activations = Activations(*(np.concatenate(part, axis=1) for part in zip(*parts, strict=True)))
    # Of members that came from elsewhere nobody knows what they make of an image.
    if not np.isfinite(activations.logits).all():
        raise RunError(NOT_FINITE_MESSAGE)
    return activations


def _compute_padded_batch(
    network: Network, params: Any, images: NDArray[np.uint8], sizes: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    room = next(size for size in sizes if size >= len(images))
    padded = np.zeros((room, *images.shape[1:]), np.uint8)
    padded[: len(images)] = images
    logits, features = _build_activations_program(network)(params, padded)
    return np.asarray(logits)[:, : len(images)], np.asarray(features)[:, : len(images)]


@functools.lru_cache(maxsize=64)
def _build_activations_program(network: Network) -> Callable[..., Any]:
    """A program (params, images) -> logits (M, N, C) and features (M, N, F)."""

    def compute_member_activations(params: Any, images: Array) -> tuple[Array, Array]:
        return network.compute_features(params, scale_to_unit(images))

    return map_over_members("activations", network, compute_member_activations)
