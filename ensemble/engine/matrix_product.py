"""The machine's speed at float32 matrix products: an upper bound for training's."""

import time
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

_PRODUCTS_PER_CALL = 4


class MatrixProduct:
    """Products of square float32 matrices, on all of some devices at once.

    Each device has its own matrices. A call is a chain of 4 products, so that what a call itself
    costs does not count.

    Args:
      devices: JAX's, each of which works.
      size: rows and columns.
    """

    def __init__(self, devices: Sequence[Any], size: int) -> None:
        def multiply_chain(a: Any, b: Any) -> Any:
            for _ in range(_PRODUCTS_PER_CALL):
                b = a @ b
            return b

        # Divided so that a product is as large as its factors are: no infinities, no denormals.
        random = np.random.default_rng(0).normal(size=(size, size)) / np.sqrt(size)
        many = np.broadcast_to(random.astype(np.float32), (len(devices), size, size))
        self._multiply = jax.pmap(multiply_chain, devices=devices)
        self._a = jax.block_until_ready(jax.pmap(lambda x: x, devices=devices)(many))
        self._flop = 2.0 * size**3 * _PRODUCTS_PER_CALL * len(devices)
        self.multiply()

    def multiply(self) -> float:
        """Do one call; returns how many floating-point operations it took."""
        self._multiply(self._a, self._a).block_until_ready()
        return self._flop

    def measure_flop_rate(self, seconds: float = 0.3) -> float:
        """Floating-point operations per second, measured over at least so many seconds."""
        did, began = 0.0, time.perf_counter()
        while (took := time.perf_counter() - began) < seconds:
            did += self.multiply()
        return did / took
