"""How a network's sums are done, and the images that they begin with."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array


class Arithmetic(NamedTuple):
    """How a network's sums are done; nothing in here changes what they are sums of.

    Attributes:
      execution: "tower", "grouped", "patches", "scan", "stepwise"; see forms/member_programs.py. ""
        is what suits the platform. Only the HOWTO's network differs by it.
      precision: of the factors in products, "float32" or "bfloat16"; sums are float32. In a
        tower's convolutions also "bfloat16_winograd" and "rounded"; see cpu_products.py.
      dense: of a tower's dense layers, where that is another.
    """

    execution: str = ""
    precision: str = "float32"
    dense: str = ""

    @property
    def dtype(self) -> Any:
        """What Flax's stock layers take as `dtype` in this precision."""
        return jnp.float32 if self.precision == "float32" else jnp.bfloat16


DEFAULT_ARITHMETIC = Arithmetic()


def scale_to_unit(images: Array) -> Array:
    """uint8 in [0, 255] to float32 in [0, 1], as the HOWTO scales them."""
    return images.astype(jnp.float32) / 255.0
