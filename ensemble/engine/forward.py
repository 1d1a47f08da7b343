"""All members on many images: the test set again and again, a little different each time."""

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np
from jax import Array

from ensemble.engine.forms.loops import log_probabilities
from ensemble.engine.forms.programs import usual_form
from ensemble.engine.forms.stepwise import BLOCK, ask_program
from ensemble.engine.layout import Layout
from ensemble.engine.networks.arithmetic import USUAL
from ensemble.engine.networks.compiler_options import compiler_options
from ensemble.engine.networks.network import Network
from ensemble.engine.pace import Pace
from ensemble.engine.trace_cache import cached

# Small blocks stay in a core's caches; a GPU needs many images to be busy.
BLOCK_ON_CPU, BLOCK_ELSEWHERE = 64, 1000


@functools.lru_cache(maxsize=64)
def program(layout: Layout, network: Network) -> Callable[..., Any]:
    """A member's pass over a share of the images, on these devices; made once a process."""
    share = functools.partial(log_probabilities, network)
    return layout.pmap(
        cached("forward", share, network),
        donate_argnums=0,
        compiler_options=compiler_options(network),
    )


class Forward:
    """Every member's probabilities of up to `room` images, on all devices at once.

    The images are spread over the devices and the members follow one another, so that every
    device works however few members there are, and holds the images and one member: memory
    does not grow with M. One program serves any number of images up to `room`.

    Args:
      network: what the members are.
      params: their parameters, NumPy leaves (M, …).
      room: the most images that a call brings.
      devices: what to work on; by default all of this process.
    """

    def __init__(
        self,
        network: Network,
        params: Any,
        room: int,
        devices: Sequence[jax.Device] | None = None,
    ) -> None:
        devices = devices or jax.local_devices()
        self._network, self._devices, self._room = network, devices, room
        block = BLOCK_ON_CPU if jax.default_backend() == "cpu" else BLOCK_ELSEWHERE
        self._shape = len(devices), max(1, -(-room // (block * len(devices)))), block
        self._layout = Layout.over(len(devices), devices)
        self._program = program(self._layout, network)
        self._params, self._pace = params, Pace()
        self.members = len(jax.tree.leaves(params)[0])

    def __call__(
        self, images: np.ndarray, interrupted: Callable[[float], bool] = lambda done: False
    ) -> np.ndarray | None:
        """Every member's probabilities, float32 (M, N, C).

        Args:
          images: uint8 (N, H, W, channels), N at most `room`.
          interrupted: asked about once a second, and after each member, with the share of the
            work that is done; None is returned as soon as it says yes.
        """
        result = np.empty((self.members, len(images), self._network.classes), np.float32)
        in_calls = usual_form(self._network) == "stepwise"
        one_member = (self._calls if in_calls else self._loop)(images)
        for m in range(self.members):
            params = jax.tree.map(lambda leaf, m=m: leaf[m], self._params)
            for done in one_member(params, result[m]):
                if interrupted((m + done) / self.members):
                    return None
        return result

    def _loop(self, images: np.ndarray) -> Callable[[Any, np.ndarray], Iterator[float]]:
        """One member's probabilities by a loop on every device; it tells how far it has come."""
        share, counts, blocks = self._laid_out(images)

        def one_member(params: Any, result: np.ndarray) -> Iterator[float]:
            params, classes = self._layout.replicate(params), self._network.classes
            found, done = self._layout.put(np.zeros((*self._shape, classes), np.float32)), 0
            while done < share:
                began, count = time.perf_counter(), self._pace.next(share - done)
                here = self._layout.put(np.clip(counts - done, 0, count).astype(np.int32))
                first = self._layout.replicate(np.int32(done))
                found = jax.block_until_ready(self._program(found, params, first, here, blocks))
                self._pace.took(count, time.perf_counter() - began)
                done += count
                if done < share:
                    yield done / share
            log_p = np.asarray(found)[:, :share].reshape(-1, classes)[: len(images)]
            np.exp(log_p, out=result)
            yield 1.0

        return one_member

    def _calls(self, images: np.ndarray) -> Callable[[Any, np.ndarray], Iterator[float]]:
        """The same a block a call, for networks that are slow in loops here."""
        size = max(1, min(BLOCK, self._room))
        rounds = -(-len(images) // (size * len(self._devices)))
        padded = np.zeros((rounds * len(self._devices) * size, *images.shape[1:]), np.uint8)
        padded[: len(images)] = images
        blocks = padded.reshape(rounds, len(self._devices), size, *images.shape[1:])
        ask = ask_program(self._layout, self._network, USUAL)

        def one_member(params: Any, result: np.ndarray) -> Iterator[float]:
            placed, done, classes = self._layout.replicate(params), 0, self._network.classes
            while done < rounds:
                began, count = time.perf_counter(), self._pace.next(rounds - done)
                here = range(done, done + count)
                found = [ask(placed, self._layout.put(blocks[n])) for n in here]
                for n, log_p in zip(here, found, strict=True):
                    place = result[n * size * len(self._devices) :][: size * len(self._devices)]
                    np.exp(np.asarray(log_p).reshape(-1, classes)[: len(place)], out=place)
                self._pace.took(count, time.perf_counter() - began)
                done += count
                yield done / rounds

        return one_member

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
