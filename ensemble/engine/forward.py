"""All members on many images: the test set again and again, a little different each time."""

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import Array

from ensemble.engine.layout import Layout
from ensemble.engine.pace import Pace
from ensemble.engine.step import NETWORK, log_probabilities
from ensemble.engine.trace_cache import cached

# Small blocks stay in a core's caches; a GPU needs many images to be busy.
BLOCK_ON_CPU, BLOCK_ELSEWHERE = 64, 1000


@functools.cache
def program(layout: Layout) -> Callable[..., Any]:
    """A member's pass over a share of the images, on these devices; made once a process."""
    return layout.pmap(cached("forward", log_probabilities), donate_argnums=0)


class Forward:
    """Every member's probabilities of up to `room` images, on all devices at once.

    The images are spread over the devices and the members follow one another, so that every
    device works however few members there are, and holds the images and one member: memory
    does not grow with M. One program serves any number of images up to `room`.

    Args:
      params: the members' parameters, NumPy leaves (M, …).
      room: the most images that a call brings.
      devices: what to work on; by default all of this process.
    """

    def __init__(self, params: Any, room: int, devices: Sequence[jax.Device] | None = None) -> None:
        devices = devices or jax.local_devices()
        block = BLOCK_ON_CPU if jax.default_backend() == "cpu" else BLOCK_ELSEWHERE
        self._shape = len(devices), max(1, -(-room // (block * len(devices)))), block
        self._layout = Layout.over(len(devices), devices)
        self._program = program(self._layout)
        self._params, self._pace = params, Pace()
        self.members = len(jax.tree.leaves(params)[0])

    def __call__(
        self, images: np.ndarray, interrupted: Callable[[float], bool] = lambda done: False
    ) -> np.ndarray | None:
        """Every member's probabilities, float32 (M, N, 10).

        Args:
          images: uint8 (N, 28, 28, 1), N at most `room`.
          interrupted: asked about once a second, and after each member, with the share of the
            work that is done; None is returned as soon as it says yes.
        """
        share, counts, blocks = self._laid_out(images)
        result = np.empty((self.members, len(images), NETWORK.classes), np.float32)
        for m in range(self.members):
            params = self._layout.replicate(jax.tree.map(lambda leaf, m=m: leaf[m], self._params))
            found, done = self._layout.put(np.zeros((*self._shape, NETWORK.classes), np.float32)), 0
            while done < share:
                began, count = time.perf_counter(), self._pace.next(share - done)
                here = self._layout.put(np.clip(counts - done, 0, count).astype(np.int32))
                first = self._layout.replicate(np.int32(done))
                found = jax.block_until_ready(self._program(found, params, here, blocks, first))
                self._pace.took(count, time.perf_counter() - began)
                done += count
                if interrupted((m + done / share) / self.members):
                    return None
            log_p = np.asarray(found)[:, :share].reshape(-1, NETWORK.classes)[: len(images)]
            result[m] = np.exp(log_p)
        return result

    def _laid_out(self, images: np.ndarray) -> tuple[int, np.ndarray, Array]:
        """The most blocks of a device, each device's, and the images as (D, blocks, E, …)."""
        devices, rows, block = self._shape
        used = -(-len(images) // block)
        share = -(-used // devices)
        padded = np.zeros((devices, rows, block, *images.shape[1:]), np.uint8)
        flat = np.zeros((devices * share * block, *images.shape[1:]), np.uint8)
        flat[: len(images)] = images
        padded[:, :share] = flat.reshape(devices, share, block, *images.shape[1:])
        counts = np.clip(used - share * np.arange(devices), 0, share)
        return share, counts, self._layout.put(padded)
