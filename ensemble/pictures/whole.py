"""A picture as one image for networks that have learnt pictures: cut, shrunk, its colours kept."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.uint8]
ImageShape = tuple[int, int, int]


def resized(pixels: Pixels, shape: ImageShape) -> Pixels:
    """An image uint8 (h, w, channels) at the size and with the channels of `shape`.

    What is shrunk is averaged, what is enlarged is interpolated; grey is the luma of ITU-R BT.601,
    and of more than three channels the first three count.

    Args:
      pixels: uint8 (h, w, channels); as it is where it has that shape already.
      shape: (H, W, channels), of 1 or 3 channels.
    """
    if pixels.shape == shape:
        return np.ascontiguousarray(pixels)
    high, wide, channels = shape
    grey = pixels.shape[2] < 3
    image = Image.fromarray(np.ascontiguousarray(pixels[..., 0] if grey else pixels[..., :3]))
    image = image.convert("L" if channels == 1 else "RGB")
    if image.size != (wide, high):
        image = image.resize((wide, high), Image.Resampling.BICUBIC, reducing_gap=3.0)
    return np.asarray(image).reshape(shape)
