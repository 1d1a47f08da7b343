"""What a verdict rests on: each place of an image covered in turn, and what that changes.

Source: M. D. Zeiler and R. Fergus, "Visualizing and understanding convolutional networks",
ECCV 2014, section 4.2. There the cover is grey; here it is ground where a pen wrote, so that to
cover is to take ink away, and the question is one a pen can answer; else the image's mean colour.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import Floats, average_probabilities

Pixels = NDArray[np.uint8]
Box = tuple[int, int, int, int]

_PATCH_STRIDES = {5: 2, 7: 3, 9: 3}  # by the patch's side, both in pixels of an image of 28
_STRIDES_IMAGE_SIDE = 28


@dataclass(frozen=True)
class VerdictFlip:
    """What changes a member's mind.

    Attributes:
      box: left, top, right, bottom of the patch in pixels; right and bottom lie outside.
      label: the class that the member says under it.
    """

    box: Box
    label: int


@dataclass(frozen=True, eq=False)
class Occlusion:
    """What covering an image's places does to M members.

    Attributes:
      member_changes: (M, H, W), by how much the probability of what a member says falls when a
        place is covered: the mean over all patches that cover it and take ink away, in [-1, 1]. So
        bare ground beside a stroke has a change, too; 0 where no such patch reaches.
      ensemble_change: (H, W), the same of the averaged probability of what the ensemble says.
      flips: for each member the smallest patch that changes its mind, of equally small ones
        that which takes most from the probability of what it says; None where no patch does.
      largest_patch_side: the side of the largest patch, in pixels.
    """

    member_changes: NDArray[np.float32]
    ensemble_change: NDArray[np.float32]
    flips: tuple[VerdictFlip | None, ...]
    largest_patch_side: int


def compute_patch_strides(shape: tuple[int, ...]) -> dict[int, int]:
    """Patches of an image (H, W, …), the smallest first: their strides by their sides, in pixels.

    As large a share of the image as those of `_PATCH_STRIDES` are of one of 28.
    """
    share = min(shape[:2]) / _STRIDES_IMAGE_SIDE
    return {max(2, round(side * share)): max(1, round(stride * share)) for side, stride in _PATCH_STRIDES.items()}


def list_patches(image: Pixels) -> list[Box]:
    """All patches that take something away from an image (H, W, channels), the smallest first.

    On a ground of 0 that is ink: a patch on bare ground changes nothing.
    """
    height, width = image.shape[:2]
    return [
        (left, top, left + side, top + side)
        for side, stride in compute_patch_strides(image.shape).items()
        for top in _list_patch_starts(height - side, stride)
        for left in _list_patch_starts(width - side, stride)
        if image[top : top + side, left : left + side].any()
    ]


def cover_patches(image: Pixels, boxes: list[Box], *, ground: bool = True) -> Pixels:
    """The image under each of K patches, uint8 (K, H, W, channels).

    Args:
      image: uint8 (H, W, channels).
      boxes: the patches.
      ground: whether they are of ground, 0; else they are of the image's mean colour.
    """
    images = np.repeat(image[None], len(boxes), axis=0)
    colour = 0 if ground else np.rint(image.mean(axis=(0, 1))).astype(np.uint8)
    for covered_image, (left, top, right, bottom) in zip(images, boxes, strict=True):
        covered_image[top:bottom, left:right] = colour
    return images


def build_occlusion(shape: tuple[int, ...], boxes: list[Box], before: Floats, under: Floats) -> Occlusion:
    """What covering does, from what the members say without and with each patch.

    Args:
      shape: (H, W, …), the image's.
      boxes: the K patches.
      before: (M, C), the members' probabilities of the image as it is.
      under: (M, K, C), of the image under each patch.
    """
    members = np.arange(len(before))
    answers = before.argmax(axis=-1)
    drops = before[members, answers][:, None] - under[members, :, answers]
    ensemble, mean = before.mean(axis=0), average_probabilities(under)
    drop = ensemble.max() - mean[:, ensemble.argmax()]
    return Occlusion(
        np.stack([_average_drops(shape, boxes, member_drops) for member_drops in drops]),
        _average_drops(shape, boxes, drop),
        tuple(_find_smallest_flip(boxes, under[m], answers[m], drops[m]) for m in members),
        max(compute_patch_strides(shape)),
    )


def _list_patch_starts(last: int, stride: int) -> list[int]:
    """Where patches begin, so that the last one ends at the image's edge."""
    return [*range(0, last, stride), last]


def _average_drops(shape: tuple[int, ...], boxes: list[Box], drops: Floats) -> NDArray[np.float32]:
    total, count = np.zeros(shape[:2], np.float64), np.zeros(shape[:2], np.int64)
    for (left, top, right, bottom), drop in zip(boxes, drops, strict=True):
        total[top:bottom, left:right] += drop
        count[top:bottom, left:right] += 1
    return (total / np.maximum(count, 1)).astype(np.float32)


def _find_smallest_flip(boxes: list[Box], under: Floats, answer: int, drops: Floats) -> VerdictFlip | None:
    labels = under.argmax(axis=-1)
    changed = np.flatnonzero(labels != answer)
    if not len(changed):
        return None
    best = min(changed, key=lambda k: (boxes[k][2] - boxes[k][0], -drops[k]))
    return VerdictFlip(boxes[best], int(labels[best]))
