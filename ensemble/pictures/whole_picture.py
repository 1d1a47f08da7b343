"""A picture as one image for networks that have learnt pictures: cut, shrunk, its colours kept."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ensemble.pictures.files.picture import Picture
from ensemble.pictures.ink.extraction import PictureOptions, compute_crop_box
from ensemble.pictures.stages import MAX_STAGE_SIDE, PreparationStage, shrink_image

Pixels = NDArray[np.uint8]
_Box = tuple[int, int, int, int]
ImageShape = tuple[int, int, int]

MAX_DARK_RIM, MIN_LIGHT_RIM = 48, 207  # of 255: a rim darker or lighter than this is a ground
_MAX_RIM_SPREAD = 40  # levels that half of a ground's pixels are apart at most


@dataclass(frozen=True)
class NetworkInputFormat:
    """What a dataset's images are like.

    Attributes:
      shape: (H, W, channels).
      background: what grey ones stand on: "dark", "light", or "" where it is neither, or they have
        colours.
    """

    shape: ImageShape
    background: str = ""

    @classmethod
    def from_images(cls, images: Pixels) -> "NetworkInputFormat":
        """From some images of a dataset, uint8 (N, H, W, channels)."""
        high, wide, channels = images.shape[1:]
        ground = _classify_background(images[..., 0]) if channels == 1 and len(images) else ""
        return cls((high, wide, channels), ground)


@dataclass(frozen=True)
class PictureCrop:
    """What was done to a picture.

    Attributes:
      box: left, top, right, bottom of what was taken, in the working picture's pixels.
      inverted: whether dark and light were exchanged.
      unchanged: whether the picture had the networks' form already.
      image: uint8 (H, W, channels), what came of it.
      background: what the dataset's images stand on, as `NetworkInputFormat` has it.
    """

    box: _Box
    inverted: bool
    unchanged: bool
    image: Pixels
    background: str = ""


def crop_picture(picture: Picture, choices: PictureOptions, form: NetworkInputFormat) -> PictureCrop:
    """Of the picture, or of the part of it that was chosen, the one image that the networks get.

    Unless `choices.fit` is "whole", the largest piece in the proportions of the networks' images is
    taken out of the middle; else all of it is, and drawn together where its proportions are others.

    Args:
      picture: from `open_picture`.
      choices: what a person overrules.
      form: of the dataset that the networks have learnt.
    """
    pixels, (high, wide, _) = picture.pixels, form.shape
    left, top, right, bottom = compute_crop_box(pixels.shape[:2], choices.crop)
    if choices.fit == "crop":
        left, top, right, bottom = _compute_center_crop((left, top, right, bottom), wide / high)
    part = pixels[top:bottom, left:right]
    whole = part.shape == pixels.shape
    ready = whole and choices.ink == "auto" and part.shape[:2] == (high, wide)
    image, inverted = (resize_pixels(part, form.shape), not ready and _is_inversion_needed(part, choices.ink, form))
    return PictureCrop((left, top, right, bottom), inverted, ready, 255 - image if inverted else image, form.background)


def _compute_center_crop(box: _Box, proportion: float) -> _Box:
    left, top, right, bottom = box
    wide = min(right - left, max(1, round((bottom - top) * proportion)))
    high = min(bottom - top, max(1, round((right - left) / proportion)))
    left, top = left + (right - left - wide) // 2, top + (bottom - top - high) // 2
    return left, top, left + wide, top + high


def _is_inversion_needed(part: Pixels, ink: str, form: NetworkInputFormat) -> bool:
    """Whether dark and light are to be exchanged, so that it stands on the ground it should.

    Args:
      part: uint8 (h, w, 3).
      ink: "dark" or "light", what a person says the thing shown is against its ground; "auto" goes
        by the picture's rim.
      form: of the dataset; where its images have no one ground, nothing is exchanged.
    """
    if not form.background:
        return False
    if ink == "auto":
        background = _classify_background(np.asarray(Image.fromarray(np.ascontiguousarray(part)).convert("L"))[None])
        return bool(background) and background != form.background
    return ink == form.background  # something dark stands on light, and the other way round


def _classify_background(greys: NDArray[np.uint8]) -> str:
    """What images (N, h, w) stand on by their rims: "dark", "light", or "" for neither."""
    rims = np.concatenate([greys[:, 0], greys[:, -1], greys[:, :, 0], greys[:, :, -1]], axis=1)
    low, half, high = np.quantile(rims, (0.25, 0.5, 0.75))
    if high - low > _MAX_RIM_SPREAD:
        return ""
    return "dark" if half <= MAX_DARK_RIM else "light" if half >= MIN_LIGHT_RIM else ""


def resize_pixels(pixels: Pixels, shape: ImageShape) -> Pixels:
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


def build_whole_stages(picture: Picture, cut: PictureCrop) -> tuple[PreparationStage, ...]:
    width, height = picture.size
    first = PreparationStage("original", "Picture", shrink_image(picture.pixels), f"{width} × {height} pixels.")
    high, wide, channels = cut.image.shape
    pixels = cut.image if channels == 3 else cut.image[..., 0]
    times = max(1, min(8, MAX_STAGE_SIDE // max(high, wide)))
    large = pixels.repeat(times, axis=0).repeat(times, axis=1)
    size = f"{wide} × {high}"
    if cut.unchanged:
        return first, PreparationStage("image", "Image", large, f"Already {size}: left unchanged.")
    left, top, right, bottom = cut.box
    part = picture.pixels[top:bottom, left:right]
    whole = part.shape == picture.pixels.shape
    across, down = round((right - left) * picture.scale), round((bottom - top) * picture.scale)
    extent = "The whole picture." if whole else f"{across} × {down} pixels of the picture."
    caption = f"{size}, {'in colour' if channels == 3 else 'grey'}"
    caption += ", dark and light swapped." if cut.inverted else "."
    return (
        first,
        PreparationStage("part", "Part", shrink_image(part), extent),
        PreparationStage("image", "Image", large, caption),
    )
