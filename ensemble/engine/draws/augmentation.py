"""Random changes to a batch of images, drawn again for every member and step."""

from typing import NamedTuple, Self

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.scipy.ndimage import map_coordinates
from jax.typing import ArrayLike

from ensemble.config import EnsembleConfig
from ensemble.engine.draws.photo_effects import apply_photo_effects
from ensemble.engine.draws.warp import sample_warp

_FLIP, WARP, _PHOTOGRAPH = 1, 2, 3  # tell these draws from the others of a batch


class Augmentation(NamedTuple):
    """What may be done to an image; each decides what is compiled.

    Attributes:
      moved: whether images are shifted and turned.
      flipped: whether they are mirrored, left for right.
      warped: whether they are slanted and bent.
      photographed: whether pen, paper and camera change them; see photo_effects.py.
    """

    moved: bool = False
    flipped: bool = False
    warped: bool = False
    photographed: bool = False

    @classmethod
    def from_config(cls, config: EnsembleConfig) -> Self:
        """What a run's settings ask for."""
        moved = config.shift_pixels > 0 or config.rotation_degrees > 0
        return cls(moved, config.flip, config.has_warping, config.photo_effects > 0)


NO_AUGMENTATION, SHIFT_AND_ROTATE = Augmentation(), Augmentation(moved=True)


def augment_images(
    key: Array,
    images: Array,
    shift_pixels: ArrayLike,
    rotation_degrees: ArrayLike,
    augmentation: Augmentation = SHIFT_AND_ROTATE,
    slant_degrees: ArrayLike = 0.0,
    elastic_pixels: ArrayLike = 0.0,
    photo_effects: ArrayLike = 0.0,
) -> Array:
    """Each image mirrored or not, bent, slanted, turned about its centre, shifted, photographed.

    All is drawn uniformly, from keys such that no draw depends on what else is done.

    Args:
      key: one key for the batch.
      images: (B, H, W, channels), float; in [0, 1] where photographed.
      shift_pixels: largest shift along each axis, in whole pixels; the draw is whole too.
      rotation_degrees: largest turn in either direction.
      augmentation: which of these to do.
      slant_degrees: largest slant; see `sample_warp`.
      elastic_pixels: how far they are bent; see `sample_warp`.
      photo_effects: how much of what photographs do; see `apply_photo_effects`.

    Returns:
      (B, H, W, channels): bilinear samples, zero outside the image.
    """
    if augmentation.flipped:
        half = jax.random.bernoulli(jax.random.fold_in(key, _FLIP), shape=(len(images), 1, 1, 1))
        images = jnp.where(half, images[:, :, ::-1], images)
    if augmentation.moved or augmentation.warped:
        places = _sample_shifts_and_rotations(key, len(images), shift_pixels, rotation_degrees)
        if augmentation.warped:
            count, *size = images.shape[:3]
            own = jax.random.fold_in(key, WARP)
            places += sample_warp(own, count, size, slant_degrees, elastic_pixels)
        # Behind a barrier: else XLA on a CPU draws, takes sines and scales the image again at
        # each pixel and each of its four neighbours.
        images = jax.vmap(_resample_image)(*lax.optimization_barrier((images, *places)))
    if augmentation.photographed:
        images = lax.optimization_barrier(images)
        images = apply_photo_effects(jax.random.fold_in(key, _PHOTOGRAPH), images, photo_effects)
    return images


def _sample_shifts_and_rotations(
    key: Array, count: int, shift_pixels: ArrayLike, rotation_degrees: ArrayLike
) -> tuple[Array, ...]:
    """Whole pixels (B, 2), cosines and sines (B,), of each image from a key of its own."""
    reach = jnp.asarray(shift_pixels)

    def sample_shift_and_angle(key: Array) -> tuple[Array, Array]:
        shift_key, turn_key = jax.random.split(key)
        shift = jax.random.randint(shift_key, (2,), -reach, reach + 1)
        return shift, jnp.deg2rad(rotation_degrees) * jax.random.uniform(turn_key, minval=-1.0)

    shift, angle = jax.vmap(sample_shift_and_angle)(jax.random.split(key, count))
    return shift, jnp.cos(angle), jnp.sin(angle)


def _resample_image(
    image: Array, shift: Array, cos: Array, sin: Array, lean: ArrayLike | None = None, field: Array | None = None
) -> Array:
    centre = (jnp.array(image.shape[:2]) - 1) / 2
    rows, columns = jnp.meshgrid(*map(jnp.arange, image.shape[:2]), indexing="ij")
    y, x = rows - centre[0] - shift[0], columns - centre[1] - shift[1]
    if lean is not None and field is not None:
        # In one resampling, for a second would blur strokes.
        y, x = y + field[0], x + field[1] + lean * y
    source = [cos * y - sin * x + centre[0], sin * y + cos * x + centre[1]]
    if image.shape[-1] == 1:
        return map_coordinates(image[..., 0], source, order=1, mode="constant")[..., None]
    return jax.vmap(lambda plane: map_coordinates(plane, source, order=1, mode="constant"), -1, -1)(image)
