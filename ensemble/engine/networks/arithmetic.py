"""How a network's sums are done, and the images that they begin with."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array


class Arithmetic(NamedTuple):
    """How a network's sums are done; nothing in here changes what they are sums of.

    Attributes:
      form: "tower", "grouped", "patches", "scan", "stepwise"; see forms/programs.py. "" is what
        suits the platform. Only the HOWTO's network differs by it.
      precision: of the factors in products, "float32" or "bfloat16"; sums are float32. In a
        tower's convolutions also "bfloat16_winograd" and "rounded"; see cpu_products.py.
      dense: of a tower's dense layers, where that is another.
    """

    form: str = ""
    precision: str = "float32"
    dense: str = ""

    @property
    def dtype(self) -> Any:
        """What Flax's stock layers take as `dtype` in this precision."""
        return jnp.float32 if self.precision == "float32" else jnp.bfloat16


USUAL = Arithmetic()


def to_unit(images: Array) -> Array:
    """uint8 in [0, 255] to float32 in [0, 1], as the HOWTO scales them."""
    return images.astype(jnp.float32) / 255.0
