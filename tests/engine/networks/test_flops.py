"""What a convolution takes is counted as if its patches were written out."""

import jax
import jax.numpy as jnp

from ensemble.engine.networks import flops


def test_operations_and_patches_of_a_convolution_are_those_of_its_outputs() -> None:
    def convolve(images: jax.Array, kernel: jax.Array) -> jax.Array:
        return jax.lax.conv_general_dilated(images, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    jaxpr = jax.make_jaxpr(convolve)(jnp.zeros((1, 5, 6, 3)), jnp.zeros((3, 3, 3, 4))).jaxpr
    assert flops.count_outputs(jaxpr) == 5 * 6 * 4
    assert flops.count_patch_numbers(jaxpr) == 5 * 6 * 27
    assert flops.count_flops(jaxpr) == 2 * (5 * 6 * 27) * 4
