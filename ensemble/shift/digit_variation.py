"""Digits a little changed, as the pen, the paper and the camera of another person change them.

What sets a threshold has to be like what it will be asked: a digit of MNIST's test set comes from
the same desks as those of training, a digit in a photograph does not. So a digit is enlarged,
turned, slanted, stretched, waved and blurred at random, its edge is found anew, and it is brought
to MNIST's form as every picture is (pictures/segmentation/mnist_form.py). After Simard, Steinkraus
and Platt (2003, "Best practices for convolutional neural networks"), who distort digits likewise.
"""

import numpy as np
from numpy.typing import NDArray

from ensemble.pictures.segmentation.mnist_form import convert_to_mnist

Pixels = NDArray[np.uint8]

SIDE, _ENLARGED_SIDE = 28, 84
MAX_TURN_DEGREES, _MAX_SLANT, _MAX_STRETCH = 12.0, 0.2, 0.15  # degrees; x per y; share of the height
_MAX_WAVE_AMPLITUDE = 2.0  # amplitude at most, in pixels of the enlarged digit
_BLUR_SIGMA_RANGE = 0.4, 2.4  # σ, likewise
_EDGE_LEVEL_RANGE = (0.3, 0.6)  # where between ground and ink the edge is found: thicker or thinner strokes


def vary_digits(images: Pixels, seed: int = 0) -> Pixels:
    """Each image changed a little, uint8 (N, 28, 28, 1); the first are the same for every N.

    Args:
      images: uint8 (N, 28, 28, 1), 0 ground and 255 ink.
      seed: of the draws.
    """
    draws = np.random.default_rng(seed)
    return np.array([_vary_digit(image, draws) for image in images], np.uint8).reshape(images.shape)


def _vary_digit(image: Pixels, draws: np.random.Generator) -> Pixels:
    from scipy import ndimage

    turn = np.deg2rad(draws.uniform(-MAX_TURN_DEGREES, MAX_TURN_DEGREES))
    slant, stretch = (draws.uniform(-_MAX_SLANT, _MAX_SLANT), np.exp(draws.uniform(-_MAX_STRETCH, _MAX_STRETCH)))
    matrix = np.array([[np.cos(turn), np.sin(turn)], [slant - np.sin(turn), np.cos(turn)]])
    matrix[0] *= stretch
    rows, columns = np.mgrid[:_ENLARGED_SIDE, :_ENLARGED_SIDE] - (_ENLARGED_SIDE - 1) / 2
    waves = draws.uniform(0, _MAX_WAVE_AMPLITUDE, 2)
    waved = [
        line + wave * np.sin(2 * np.pi * across / _ENLARGED_SIDE + draws.uniform(0, 2 * np.pi))
        for line, across, wave in ((rows, columns, waves[0]), (columns, rows, waves[1]))
    ]
    where = np.tensordot(matrix, waved, 1) * SIDE / _ENLARGED_SIDE + (SIDE - 1) / 2
    grey = image[:, :, 0].astype(np.float32) / 255
    large = ndimage.map_coordinates(grey, where, order=1, output=np.float32)
    blurred = ndimage.gaussian_filter(large, draws.uniform(*_BLUR_SIGMA_RANGE))
    # As sharp as the scan of a pen: a few pixels from ground to ink.
    ink = (blurred - draws.uniform(*_EDGE_LEVEL_RANGE)) * 4 + 0.5
    return convert_to_mnist(np.rint(255 * ink.clip(0, 1)).astype(np.uint8))
