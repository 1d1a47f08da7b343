"""Random shifts, rotations and mirroring of a batch, drawn anew for every member and step."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.ndimage import map_coordinates
from jax.typing import ArrayLike

FLIP = 1  # tells this draw from the others of a batch


class Augmentation(NamedTuple):
    """What may be done to an image; each decides what is compiled.

    Attributes:
      moved: whether images are shifted and turned.
      flipped: whether they are mirrored, left for right.
    """

    moved: bool = False
    flipped: bool = False


PLAIN, MOVED = Augmentation(), Augmentation(moved=True)


def augment(
    key: Array,
    images: Array,
    shift_pixels: ArrayLike,
    rotation_degrees: ArrayLike,
    augmentation: Augmentation = MOVED,
) -> Array:
    """Each image mirrored or not, turned about its centre and shifted, all drawn uniformly.

    Args:
      key: one key for the batch.
      images: (B, H, W, channels), float.
      shift_pixels: largest shift along each axis, in whole pixels; the draw is whole too.
      rotation_degrees: largest turn in either direction.
      augmentation: which of these to do.

    Returns:
      (B, H, W, channels): bilinear samples, zero outside the image.
    """
    if augmentation.flipped:
        half = jax.random.bernoulli(jax.random.fold_in(key, FLIP), shape=(len(images), 1, 1, 1))
        images = jnp.where(half, images[:, :, ::-1], images)
    if not augmentation.moved:
        return images
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
    if image.shape[-1] == 1:
        return map_coordinates(image[..., 0], source, order=1, mode="constant")[..., None]
    return jax.vmap(lambda plane: map_coordinates(plane, source, order=1, mode="constant"), -1, -1)(
        image
    )
