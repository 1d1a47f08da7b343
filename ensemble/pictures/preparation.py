"""Preparing: a person's picture to marks in MNIST's form, and what it went through on the way."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ensemble.pictures import stages
from ensemble.pictures.files.picture import Picture
from ensemble.pictures.ink.extraction import Ink, PictureOptions, find_ink
from ensemble.pictures.segmentation.adjacent_digits import split_adjacent_digits
from ensemble.pictures.segmentation.marks import Mark, find_marks
from ensemble.pictures.segmentation.mnist_form import MNIST_SIDE, convert_to_mnist
from ensemble.pictures.segmentation.touching_digits import ClassifyDigits
from ensemble.pictures.whole_picture import NetworkInputFormat, PictureCrop, build_whole_stages, crop_picture

AUTOMATIC_OPTIONS = PictureOptions()
# Pixels: pictures longer than this are looked at by halves, unless what is found there is so
# small that a stroke would be lost.
_LARGE_PICTURE_SIDE, _MIN_MARK_SIDE = 1300, 36


@dataclass(frozen=True, eq=False)
class SegmentedPicture:
    """What became of a picture.

    Attributes:
      marks: in reading order.
      light: the ink is lighter than the paper.
      threshold: from which on a pixel is ink, in 0..1 between paper and full ink.
      notes: sentences on what a person might not expect.
      picture: what came in.
      ink: where the ink is; None if the picture was in the networks' form already.
      cut: of a picture that is one image, what was taken of it; None if ink was looked for.
    """

    marks: tuple[Mark, ...]
    light: bool
    threshold: float
    notes: tuple[str, ...]
    picture: Picture
    ink: Ink | None
    cut: PictureCrop | None = None

    @property
    def boxes(self) -> list[tuple[int, int, int, int]]:
        """Left, top, right, bottom of each mark in pixels of the upright original."""
        return [mark.box for mark in self.marks]

    @cached_property
    def stages(self) -> tuple[stages.PreparationStage, ...]:
        """The picture on its way to the marks, small enough for the screen; made when asked."""
        if self.cut:
            return build_whole_stages(self.picture, self.cut)
        return stages.build_mark_stages(self.picture, self.ink, self.marks)


def prepare_picture(
    picture: Picture, choices: PictureOptions = AUTOMATIC_OPTIONS, decide: ClassifyDigits | None = None
) -> SegmentedPicture:
    """Finds the ink of a picture and brings each digit of it to MNIST's form.

    A picture of 28×28 pixels that is in the networks' form already is left unchanged, unless it
    holds several digits side by side.

    Args:
      picture: from `files.picture.open_picture`.
      choices: what a person overrules.
      decide: class probabilities (K, C) of pictures uint8 (K, 28, 28, 1), which decide
        whether a broad piece of ink is one digit or several that touch; without it, only what
        shape makes clear is cut.
    """
    if choices == AUTOMATIC_OPTIONS and (image := _extract_network_input(picture)) is not None:
        several = split_adjacent_digits(image)
        marks = [Mark(box, 0, convert_to_mnist(cut), cut) for box, cut in several]
        whole = Mark((0, 0, MNIST_SIDE, MNIST_SIDE), 0, image[:, :, np.newaxis], image)
        return SegmentedPicture(
            marks=tuple(marks or [whole]), light=True, threshold=0.5, notes=picture.notes, picture=picture, ink=None
        )
    if max(picture.pixels.shape) > _LARGE_PICTURE_SIDE:
        prepared = _find_picture_marks(_halve_picture(picture), choices, decide)
        sides = [max(right - left, low - top) for left, top, right, low in prepared.boxes]
        if sides and min(sides) >= _MIN_MARK_SIDE * prepared.picture.scale:
            return prepared
    return _find_picture_marks(picture, choices, decide)


def prepare_whole_picture(picture: Picture, choices: PictureOptions, form: NetworkInputFormat) -> SegmentedPicture:
    """The picture as one mark: the one image that networks get who know nothing of pens.

    Args:
      picture: from `files.picture.open_picture`.
      choices: what a person overrules.
      form: of the dataset that the networks have learnt.
    """
    cut = crop_picture(picture, choices, form)
    left, top, right, bottom = (round(side * picture.scale) for side in cut.box)
    mark = Mark((left, top, right, bottom), 0, cut.image, cut.image[..., 0])
    return SegmentedPicture((mark,), cut.background == "dark", 0.5, picture.notes, picture, ink=None, cut=cut)


def _find_picture_marks(picture: Picture, choices: PictureOptions, decide: ClassifyDigits | None) -> SegmentedPicture:
    ink = find_ink(picture.pixels, choices)
    marks, notes = find_marks(ink, picture.scale, decide)
    return SegmentedPicture(
        marks=marks, light=ink.light, threshold=ink.threshold, notes=(*picture.notes, *notes), picture=picture, ink=ink
    )


def _halve_picture(picture: Picture) -> Picture:
    """The picture at half its resolution: a quarter of the work."""
    small = np.asarray(Image.fromarray(picture.pixels).reduce(2))
    scale = picture.scale * max(picture.pixels.shape) / max(small.shape)
    return replace(picture, pixels=small, scale=scale)


def _extract_network_input(picture: Picture) -> NDArray[np.uint8] | None:
    """The picture as uint8 (28, 28), if it is grey, of this size, and black all around its ink."""
    pixels = picture.pixels
    if picture.size != (MNIST_SIDE, MNIST_SIDE) or pixels.shape[:2] != (MNIST_SIDE, MNIST_SIDE):
        return None
    grey = pixels[:, :, 0]
    if (pixels != grey[:, :, np.newaxis]).any() or not grey.any() or grey[1:-1, 1:-1].max() < 128:
        return None
    ring = (grey[0], grey[-1], grey[:, 0], grey[:, -1])
    return None if any(side.any() for side in ring) else np.ascontiguousarray(grey)
