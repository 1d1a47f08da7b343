"""Images a little changed, as another camera, another hand and another light would give them.

As `digit_variation.py` does it for digits: what sets a threshold has to be like what it will be
asked. An image is turned, enlarged, moved, lit, given more or less contrast and blurred at random,
each by little; what comes in at the edges is mirrored. After A. Krizhevsky, I. Sutskever and G.
Hinton, "ImageNet classification with deep convolutional neural networks", NeurIPS 2012, section
4.1.
"""

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]

_MAX_TURN_DEGREES, _MAX_ZOOM, _MAX_MOVE_SHARE = (8.0, 0.1, 0.05)  # degrees; shares of the size, of the side
_MAX_LIGHT_SHARE, _MAX_CONTRAST_CHANGE = 0.1, 0.2  # shares of full scale, of the contrast
_MAX_BLUR_SIGMA = 0.6  # σ at most, in pixels of an image of 28
SIDE = 28


def vary_images(images: Pixels, seed: int = 0) -> Pixels:
    """Each image changed a little, uint8 (N, H, W, channels); the first are the same for every N.

    Args:
      images: uint8 (N, H, W, channels).
      seed: of the draws.
    """
    draws = np.random.default_rng(seed)
    return np.array([_vary_image(image, draws) for image in images], np.uint8).reshape(images.shape)


def _vary_image(image: Pixels, draws: np.random.Generator) -> Pixels:
    from scipy import ndimage

    high, wide, channels = image.shape
    turn, zoom = (
        np.deg2rad(draws.uniform(-_MAX_TURN_DEGREES, _MAX_TURN_DEGREES)),
        np.exp(draws.uniform(-_MAX_ZOOM, _MAX_ZOOM)),
    )
    matrix = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]) / zoom
    middle = np.array([high - 1, wide - 1]) / 2
    move = draws.uniform(-_MAX_MOVE_SHARE, _MAX_MOVE_SHARE, 2) * (high, wide)
    light, contrast = (
        draws.uniform(-_MAX_LIGHT_SHARE, _MAX_LIGHT_SHARE),
        np.exp(draws.uniform(-_MAX_CONTRAST_CHANGE, _MAX_CONTRAST_CHANGE)),
    )
    sigma = draws.uniform(0, _MAX_BLUR_SIGMA) * min(high, wide) / SIDE
    x = ndimage.gaussian_filter(image.astype(np.float32), (sigma, sigma, 0))
    moved = np.stack(
        [
            ndimage.affine_transform(x[..., c], matrix, middle - matrix @ (middle + move), order=1, mode="mirror")
            for c in range(channels)
        ],
        axis=-1,
    )
    mean = moved.mean(axis=(0, 1))
    lit = mean + contrast * (moved - mean)
    # Bare ground, such as black around a piece of clothing, stays what it is.
    lit = np.where((moved > 0) & (moved < 255), lit + 255 * light, moved)
    return np.rint(lit.clip(0, 255)).astype(np.uint8)
