"""Random shifts and rotations of a batch, drawn anew for every member and step."""

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.ndimage import map_coordinates
from jax.typing import ArrayLike


def augment(
    key: Array, images: Array, shift_pixels: ArrayLike, rotation_degrees: ArrayLike
) -> Array:
    """Each image turned about its centre and shifted, both drawn uniformly.

    Args:
      key: one key for the batch.
      images: (B, H, W, 1), float.
      shift_pixels: largest shift along each axis, in whole pixels; the draw is whole too.
      rotation_degrees: largest turn in either direction.

    Returns:
      (B, H, W, 1): bilinear samples, zero outside the image.
    """
    keys = jax.random.split(key, images.shape[0])
    return jax.vmap(_augment_one, in_axes=(0, 0, None, None))(
        keys, images, shift_pixels, rotation_degrees
    )


def _augment_one(
    key: Array, image: Array, shift_pixels: ArrayLike, rotation_degrees: ArrayLike
) -> Array:
    shift_key, turn_key = jax.random.split(key)
    reach = jnp.asarray(shift_pixels)
    shift = jax.random.randint(shift_key, (2,), -reach, reach + 1)
    angle = jnp.deg2rad(rotation_degrees) * jax.random.uniform(turn_key, minval=-1.0)
    centre = (jnp.array(image.shape[:2]) - 1) / 2
    rows, columns = jnp.meshgrid(*map(jnp.arange, image.shape[:2]), indexing="ij")
    y, x = rows - centre[0] - shift[0], columns - centre[1] - shift[1]
    source = [
        jnp.cos(angle) * y - jnp.sin(angle) * x + centre[0],
        jnp.sin(angle) * y + jnp.cos(angle) * x + centre[1],
    ]
    return map_coordinates(image[..., 0], source, order=1, mode="constant")[..., None]
