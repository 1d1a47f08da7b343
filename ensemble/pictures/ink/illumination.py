"""Light and colour: the grey in which this ink stands out most, and the light on the paper evened.

Ink differs from paper in some channels more than in others (red ink hardly in red). The mix is
Fisher's: mean difference over the noise ("The use of multiple measurements in taxonomic
problems", 1936), kept to weights that are not negative, because a JPEG's colours are blurred and
differences of channels show little else. The paper under the ink is what a morphological closing
leaves (Serra, "Image analysis and mathematical morphology", 1982): strokes narrower than its
square are filled, while the edge of a shadow stays where it is and so divides out.
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Grey = NDArray[np.float32]
_LUMINANCE = (0.299, 0.587, 0.114)
THRESHOLD = 0.42  # of the core of a stroke: what has more contrast is ink
MIN_INK_CONTRAST = 0.045  # contrast below which nothing is ink: one grey in twenty
CONTRAST_FLOOR = 0.12  # of full white: keeps the ratio of two blacks from being noise


def compute_channel_weights(small: NDArray[np.uint8]) -> tuple[float, float, float]:
    """Weights of red, green and blue, of sum 1, that set this picture's ink off from its paper.

    Args:
      small: uint8 (h, w, 3), a reduced copy.
    """
    from scipy import ndimage

    # By channel: NumPy is slow over an axis of three.
    red, green, blue = (small[..., c].astype(np.float32) for c in range(3))
    high, low = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
    if (high - low).max(initial=0) < 8:
        return _LUMINANCE
    size = max(3, max(small.shape[:2]) // 6)
    each = [(c - ndimage.uniform_filter(c, size)).ravel() for c in (red, green, blue)]
    away = np.maximum(np.maximum(np.abs(each[0]), np.abs(each[1])), np.abs(each[2]))
    apart = np.stack(each, axis=1)
    ink = away >= max(np.quantile(away, 0.97), 1.0)
    # Ink is on one side of the paper in the channel that tells most of it.
    sign = np.sign(apart[ink][np.arange(ink.sum()), np.abs(apart[ink]).argmax(axis=1)])
    difference = (apart[ink] * sign[:, None]).mean(axis=0).clip(0)
    if not difference.any():
        return _LUMINANCE
    quiet = apart[away <= np.quantile(away, 0.6)]
    noise = quiet.var(axis=0) + 4.0
    weights = difference / noise
    weights = 0.85 * weights / weights.sum() + 0.15 * np.array(_LUMINANCE)
    red_share, green_share, blue_share = (weights / weights.sum()).tolist()
    return red_share, green_share, blue_share


def mix_to_gray(image: Image.Image, weights: tuple[float, float, float]) -> Image.Image:
    """The picture (mode RGB) in one channel of 8 bits, mixed by weights of sum 1."""
    return image.convert("L", (*weights, 0.0))


def create_analysis_copy(image: Image.Image, side: int) -> Image.Image:
    """A copy about `side` pixels long that paper and polarity can be found on.

    Very small pictures are enlarged: squares that strokes fit into need pixels to be told apart.
    """
    longest = max(image.size)
    if longest >= side // 3:
        return image.reduce(max(1 + (longest > side // 2), -(-longest // side)))
    factor = -(-side // (3 * longest))
    return image.resize((image.width * factor, image.height * factor), Image.Resampling.BICUBIC)


def estimate_paper(small: Grey, side: int, light: bool) -> Grey:
    """The grey of the paper everywhere, also under ink narrower than `side` pixels.

    Args:
      small: (h, w) in 0..1.
      side: of the square that closes (opens, for light ink) strokes.
      light: whether ink is lighter than paper.
    """
    from scipy import ndimage

    if light:
        return 1 - estimate_paper(1 - small, side, light=False)
    widest = ndimage.maximum_filter(small, side, mode="nearest")
    closed = ndimage.minimum_filter(widest, side, mode="nearest")
    # One pixel narrower on the bright side of an edge: enlarged, it must not shine into a shadow.
    return ndimage.minimum_filter(closed, 3, mode="nearest")


def compute_paper_contrast(grey: Grey, ground: Grey, light: bool) -> Grey:
    """How far each pixel is from its paper: 0 paper, 1 as black as ink gets; for light ink open.

    Dividing takes away light that falls on ink and paper alike (Gatos, Pratikakis and Perantonis,
    "Adaptive degraded document image binarization", 2006).
    """
    if light:
        return ((grey - ground) / (ground + CONTRAST_FLOOR)).astype(np.float32)
    return ((ground - grey) / (ground + CONTRAST_FLOOR)).astype(np.float32)


def enlarge_to_shape(small: Grey, shape: tuple[int, int]) -> Grey:
    """A reduced copy in 0..1 at its full size (H, W) again, in steps of 1/255."""
    if small.shape == shape:
        return small
    levels = Image.fromarray(np.rint(255 * small).astype(np.uint8))
    large = levels.resize(shape[::-1], Image.Resampling.BILINEAR)
    return np.asarray(large) * np.float32(1 / 255)


def estimate_core_contrast(away: NDArray[np.float32], least: float) -> tuple[float, float]:
    """Contrast of a clear stroke's core with the paper, and the paper's own level.

    It is a mean in which high contrast counts more, so that a little ink on much uneven paper
    is told from it, and a speck that is darker than the ink does not outweigh it. 0.0 where
    nothing has more contrast than `least`.
    """
    step = max(1, max(away.shape) // 400)
    sample = away[::step, ::step]
    paper = float(np.median(sample[::2, ::2]))
    apart, core = sample - paper, 0.0
    for _ in range(4):
        far = apart[apart > max(least, 0.5 * core)].astype(np.float64)
        if not far.size:
            return 0.0, paper
        cubes = far * far * far
        core = float((cubes * far).sum() / cubes.sum())
    return core, paper
