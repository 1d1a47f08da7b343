"""Polarity: whether ink is darker or lighter than paper, and how wide strokes may be.

Every answer is tried on a small copy: ink found with it should have sharp edges (shadows have
none), should cover less than the paper and should touch the border less.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemble.pictures.ink import illumination as lights

Grey = NDArray[np.float32]
_MOST_DARK = 0.7  # of what lies near sharp edges: real pictures have below 0.64 or above 0.75
_MIN_RIM_CONTRAST = 0.15  # of the core's contrast, a pixel: the rim of a shadow or gradient is softer
_MIN_PAPER_SHARE, _MAX_PAPER_GRAIN = (0.6, 12)  # share of a drawing that is bare paper; greys that a camera adds to it
_MIN_EDGE_RATIO = 0.7  # of the edges of ink: those of shadows have up to 0.55, of filled strokes from 0.95
_SAME_INK_DISTANCE = 0.25  # of the way to paper: what is nearer to ink than this is ink, too
MOST_BORDER = 0.35  # of the picture's rim: what covers more is the table, not a large digit
_SQUARE_SHARES = (1 / 20, 1 / 9, 1 / 4, 1 / 2.2)  # of the longest side: squares that the strokes fit into
_MIN_SHAPE_SCORE = 0.3  # of a look's score: noise on a blank sheet in uneven light has half of it
_FILLED_SQUARE_SHARES = (1 / 1.4, 1.0, 2.0)  # the same for a filled shape, in whose middle the others fit, too


class PolarityCandidate(NamedTuple):
    """One way to look at a picture, and what it shows on the small copy."""

    light: bool
    side: int
    paper: Grey
    mask: NDArray[np.bool_]
    score: float
    stroke: float = 0.0  # typical width, in pixels of the copy


def choose_polarity(small: Grey, ink: str, enlarged: float = 1.0) -> PolarityCandidate:
    """The way of looking that shows the clearest ink.

    Args:
      small: (h, w) in 0..1.
      ink: "auto", "dark" or "light".
      enlarged: how many times larger than the picture the copy is: edges are as much softer.
    """
    from scipy import ndimage

    edges = np.hypot(ndimage.sobel(small, 0), ndimage.sobel(small, 1)) / 8
    edges = ndimage.maximum_filter(edges / (ndimage.maximum_filter(small, 3) + lights.CONTRAST_FLOOR), 3)
    if ink == "auto":
        # Half the pixels a side tell the same in a quarter of the time.
        step = 2 if max(small.shape) > 160 else 1
        light = _compute_dark_side_share(small[::step, ::step], edges[::step, ::step]) > _MOST_DARK
    else:
        light = ink == "light"
    looks = [
        _evaluate_polarity(small, edges, light, share, _MIN_RIM_CONTRAST / max(1.0, enlarged))
        for share in _SQUARE_SHARES
    ]
    best = max(range(len(looks)), key=lambda number: looks[number].score)
    while best + 1 < len(looks) and is_ink_outline(small, edges, looks[best], looks[best + 1]):
        best += 1
    # Where strokes cross they are wider than along their way, and must fit in there too.
    while (stroke := _estimate_typical_stroke(looks[best].mask)) * 2.6 > looks[best].side:
        if best + 1 == len(looks):
            break
        best += 1
    look = looks[best]
    if _is_filled_shape(small, look, looks[-1].paper):
        # Those beyond are asked about such shapes alone: in uneven light they show shadows.
        for share in _FILLED_SQUARE_SHARES:
            wider = _evaluate_polarity(small, edges, light, share, _MIN_RIM_CONTRAST / max(1.0, enlarged))
            if is_ink_outline(small, edges, look, wider):
                look, stroke = wider, _estimate_typical_stroke(wider.mask)
    return look._replace(stroke=stroke)


def find_drawing_polarity(toned: NDArray[np.uint8], ink: str) -> PolarityCandidate | None:
    """The look of a picture that no camera has taken: on one even colour, to the bit.

    Args:
      toned: uint8 (H, W).
      ink: "auto", "dark" or "light".

    Returns:
      None where the paper has grain, or shades.
    """
    counts = np.bincount(toned.ravel(), minlength=256)
    paper = int(counts.argmax())
    near = counts[max(paper - _MAX_PAPER_GRAIN, 0) : paper + _MAX_PAPER_GRAIN + 1].sum() - counts[paper]
    if counts[paper] < _MIN_PAPER_SHARE * toned.size or near > 0.01 * toned.size:
        return None
    lighter, darker = (counts[paper + _MAX_PAPER_GRAIN + 1 :].sum(), counts[: max(paper - _MAX_PAPER_GRAIN, 0)].sum())
    light = bool(lighter > darker) if ink == "auto" else ink == "light"
    other = darker if light else lighter
    if ink == "auto" and other > 0.1 * max(lighter, darker):
        return None
    ground = np.full((1, 1), paper / 255, np.float32)
    return PolarityCandidate(light, 0, ground, np.zeros((1, 1), bool), 1.0)


def _is_filled_shape(small: Grey, candidate: PolarityCandidate, ground: Grey) -> bool:
    """Whether somewhere the widest square's own paper is as dark as ink: it fits into a shape.

    What is left there is the shape without the square. Tables and shadows look the same here:
    `is_ink_outline` tells them apart, but for what noise on bare paper makes of them.
    """
    if candidate.score < _MIN_SHAPE_SCORE or candidate.mask.all():
        return False
    ink, paper = (np.median(small[candidate.mask]), np.median(small[~candidate.mask]))
    return bool((np.abs(ground - ink) < _SAME_INK_DISTANCE * abs(paper - ink)).any())


def is_ink_outline(small: Grey, edges: Grey, narrow: PolarityCandidate, wide: PolarityCandidate) -> bool:
    """Whether the ink that one look shows is but the outline of what a wider square shows.

    Strokes broader than the square have paper's place in their own middle, which is about as
    dark as their rim; the shadow that a pen writes in is lighter than its ink, or as dark as a
    pencil's but soft where it ends, and a dark table around a sheet runs along the border.
    """
    from scipy import ndimage

    more = wide.mask & ~narrow.mask
    if wide.score <= 0 or not narrow.mask.any() or more.sum() < 0.5 * narrow.mask.sum():
        return False
    if collect_border_pixels(more).mean() > MOST_BORDER or wide.mask.all():
        return False
    new = _find_ink_rim(wide.mask) & ~ndimage.binary_dilation(narrow.mask, np.ones((5, 5)))
    if new.any() and edges[new].mean() < _MIN_EDGE_RATIO * edges[_find_ink_rim(narrow.mask)].mean():
        return False
    ink, within = np.median(small[narrow.mask]), np.median(small[more])
    paper = np.median(small[~wide.mask])
    return bool(abs(within - ink) < _SAME_INK_DISTANCE * abs(paper - ink))


def _find_ink_rim(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    from scipy import ndimage

    return mask & ~ndimage.binary_erosion(mask, border_value=1)


def collect_border_pixels(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.concatenate([mask[0], mask[-1], mask[:, 0], mask[:, -1]])


def _estimate_typical_stroke(mask: NDArray[np.bool_]) -> float:
    from scipy import ndimage

    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not rows.size:
        return 0.0
    # Ink alone, with a rim of paper where it does not end with the picture.
    top, left = max(rows[0] - 1, 0), max(columns[0] - 1, 0)
    cut = mask[top : rows[-1] + 2, left : columns[-1] + 2]
    inside = ndimage.distance_transform_edt(cut)
    ridge = (inside == ndimage.maximum_filter(inside, 3)) & cut
    return float(2 * np.median(inside[ridge]))


def _compute_dark_side_share(small: Grey, edges: Grey) -> float:
    """How much of what lies near sharp edges is on their dark side, 0..1; ink is the lesser part.

    Sides are told by the middle between the darkest and the lightest grey around (Bernsen,
    "Dynamic thresholding of grey-level images", 1986), in large squares: those
    smaller than a stroke see both sides alike.
    """
    from scipy import ndimage

    sharp = edges > 0.5 * np.quantile(edges, 0.995)
    shares = []
    for share in _SQUARE_SHARES[2:]:
        side = max(3, round(share * max(small.shape)) | 1)
        near = ndimage.maximum_filter(sharp, side)
        low, high = ndimage.minimum_filter(small, side), ndimage.maximum_filter(small, side)
        shares.append(float((small < (low + high) / 2)[near].mean()) if near.any() else 0.5)
    return float(np.mean(shares))


def _evaluate_polarity(
    small: Grey, edges: Grey, light: bool, share: float, soft: float = _MIN_RIM_CONTRAST
) -> PolarityCandidate:
    side = max(3, round(share * max(small.shape)) | 1)
    ground = lights.estimate_paper(small, side, light)
    away = lights.compute_paper_contrast(small, ground, light)
    core, level = lights.estimate_core_contrast(away, lights.MIN_INK_CONTRAST)
    mask = away > level + lights.THRESHOLD * core if core else np.zeros(away.shape, bool)
    if not mask.any():
        return PolarityCandidate(light, side, ground, mask, 0.0)
    outline = _find_ink_rim(mask)
    if light:
        core /= 1 + core  # of the lighter side, as edges are and as for dark ink
    if edges[outline].mean() < soft * core:
        return PolarityCandidate(light, side, ground, mask, -1.0)
    strength = edges[outline].sum() / np.sqrt(max(1, outline.sum()))
    covered = mask.mean()
    border = collect_border_pixels(mask).mean()
    return PolarityCandidate(
        light, side, ground, mask, float(np.sqrt(core) * strength * (1 - covered) ** 2 * (1 - border))
    )
