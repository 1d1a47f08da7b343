"""All members on many images: the test set again and again, a little different each time."""

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np
from jax import Array

from ensemble.engine.call_pacer import CallPacer
from ensemble.engine.forms.member_loops import compute_log_probabilities
from ensemble.engine.forms.member_programs import choose_execution
from ensemble.engine.forms.stepwise_execution import EVALUATION_CALL_SIZE, build_prediction_program
from ensemble.engine.layout import Layout
from ensemble.engine.networks.arithmetic import DEFAULT_ARITHMETIC
from ensemble.engine.networks.compiler_options import choose_compiler_options
from ensemble.engine.networks.network import Network
from ensemble.engine.trace_cache import cache_trace

# Small blocks stay in a core's caches; a GPU needs many images to be busy.
_CPU_BLOCK_SIZE, _ACCELERATOR_BLOCK_SIZE = 64, 1000


@functools.lru_cache(maxsize=64)
def _build_forward_program(layout: Layout, network: Network) -> Callable[..., Any]:
    """A member's pass over a share of the images, on these devices; made once a process."""
    share = functools.partial(compute_log_probabilities, network)
    return layout.pmap(
        cache_trace("forward", share, network), donate_argnums=0, compiler_options=choose_compiler_options(network)
    )


class ForwardPass:
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

    def __init__(self, network: Network, params: Any, room: int, devices: Sequence[jax.Device] | None = None) -> None:
        devices = devices or jax.local_devices()
        self._network, self._devices, self._room = network, devices, room
        block = _CPU_BLOCK_SIZE if jax.default_backend() == "cpu" else _ACCELERATOR_BLOCK_SIZE
        self._shape = len(devices), max(1, -(-room // (block * len(devices)))), block
        self._layout = Layout.over_devices(len(devices), devices)
        self._program = _build_forward_program(self._layout, network)
        self._params, self._pace = params, CallPacer()
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
        in_calls = choose_execution(self._network) == "stepwise"
        one_member = (self._prepare_calls if in_calls else self._prepare_loop)(images)
        for m in range(self.members):
            params = jax.tree.map(lambda leaf, m=m: leaf[m], self._params)
            for done in one_member(params, result[m]):
                if interrupted((m + done) / self.members):
                    return None
        return result

    def _prepare_loop(self, images: np.ndarray) -> Callable[[Any, np.ndarray], Iterator[float]]:
        """One member's probabilities by a loop on every device; it tells how far it has come."""
        share, counts, blocks = self._split_over_devices(images)

        def predict_member(params: Any, result: np.ndarray) -> Iterator[float]:
            params, classes = self._layout.replicate(params), self._network.classes
            log_probabilities, done = (self._layout.put_shards(np.zeros((*self._shape, classes), np.float32)), 0)
            while done < share:
                began, count = time.perf_counter(), self._pace.choose_units(share - done)
                here = self._layout.put_shards(np.clip(counts - done, 0, count).astype(np.int32))
                first = self._layout.replicate(np.int32(done))
                log_probabilities = jax.block_until_ready(self._program(log_probabilities, params, first, here, blocks))
                self._pace.record_duration(count, time.perf_counter() - began)
                done += count
                if done < share:
                    yield done / share
            log_p = np.asarray(log_probabilities)[:, :share].reshape(-1, classes)[: len(images)]
            np.exp(log_p, out=result)
            yield 1.0

        return predict_member

    def _prepare_calls(self, images: np.ndarray) -> Callable[[Any, np.ndarray], Iterator[float]]:
        """The same a block a call, for networks that are slow in loops here."""
        size = max(1, min(EVALUATION_CALL_SIZE, self._room))
        rounds = -(-len(images) // (size * len(self._devices)))
        padded = np.zeros((rounds * len(self._devices) * size, *images.shape[1:]), np.uint8)
        padded[: len(images)] = images
        blocks = padded.reshape(rounds, len(self._devices), size, *images.shape[1:])
        ask = build_prediction_program(self._layout, self._network, DEFAULT_ARITHMETIC)

        def predict_member(params: Any, result: np.ndarray) -> Iterator[float]:
            placed, done, classes = self._layout.replicate(params), 0, self._network.classes
            while done < rounds:
                began, count = time.perf_counter(), self._pace.choose_units(rounds - done)
                here = range(done, done + count)
                outputs = [ask(placed, self._layout.put_shards(blocks[n])) for n in here]
                for n, log_p in zip(here, outputs, strict=True):
                    place = result[n * size * len(self._devices) :][: size * len(self._devices)]
                    np.exp(np.asarray(log_p).reshape(-1, classes)[: len(place)], out=place)
                self._pace.record_duration(count, time.perf_counter() - began)
                done += count
                yield done / rounds

        return predict_member

    def _split_over_devices(self, images: np.ndarray) -> tuple[int, np.ndarray, Array]:
        """The most blocks of a device, each device's, and the images as (D, blocks, E, …)."""
        devices, rows, block = self._shape
        used = -(-len(images) // block)
        share = -(-used // devices)
        padded = np.zeros((devices, rows, block, *images.shape[1:]), np.uint8)
        flat = np.zeros((devices * share * block, *images.shape[1:]), np.uint8)
        flat[: len(images)] = images
        padded[:, :share] = flat.reshape(devices, share, block, *images.shape[1:])
        counts = np.clip(used - share * np.arange(devices), 0, share)
        return share, counts, self._layout.put_shards(padded)
