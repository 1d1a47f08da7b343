"""Transparent pictures on a ground: white, or black where the drawing is in light ink."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_TRANSPARENT_MODES = ("RGBA", "LA", "PA", "La", "RGBa")
BLACK, WHITE, MIXED = "black", "white", "mixed"  # grounds; of the last each picture has its own
_MIN_LIGHT_SHARE = 0.9  # of transparent pictures in light ink, for all to be put on black
_MAX_INK_SHARE = 0.6  # of a picture: what covers more of it is a page
_LIGHT_LEVEL = 160  # what is lighter than this is light ink
_BLANK_LEVEL = 223  # on white nothing is seen of what is lighter than this in each channel


def has_transparency(image: Image.Image) -> bool:
    """Whether a picture says that parts of it may be clear."""
    return image.mode in _TRANSPARENT_MODES or "transparency" in image.info


def flatten_transparency(image: Image.Image, ground: str = "") -> tuple[Image.Image, bool]:
    """RGB on a ground, and whether that is black.

    Args:
      image: "RGBA" is put on the ground, any other mode stays as it is.
      ground: that of its dataset, as `PictureLevels` has it: "" and "white" are by the picture
        itself, black if it is a light drawing.
    """
    if image.mode != "RGBA":
        return image, False
    black = True if ground == BLACK else _is_blank_on_white(image) if ground == MIXED else _is_light_drawing(image)
    return put_on_ground(image, black=black), black


def put_on_ground(image: Image.Image, *, black: bool) -> Image.Image:
    """An "RGBA" picture as "RGB" on white, or on black."""
    color = (0, 0, 0, 255) if black else (255, 255, 255, 255)
    return Image.alpha_composite(Image.new("RGBA", image.size, color), image).convert("RGB")


def _is_light_drawing(image: Image.Image) -> bool:
    """Whether what is painted on a transparent picture is light all over, as chalk is.

    A light page that covers most of the picture is a page, not ink.
    """
    painted = _find_painted_pixels(image)
    few = painted.size < _MAX_INK_SHARE * image.width * image.height
    return few and _is_light_paint(painted)


def _find_painted_pixels(image: Image.Image) -> NDArray[np.uint8]:
    """The grey levels (P,) of what is more opaque than clear in an "RGBA" picture."""
    grey = np.asarray(image.convert("RGB").convert("L"))
    return grey[np.asarray(image.getchannel("A")) > 127]


def _is_light_paint(painted: NDArray[np.uint8]) -> bool:
    """Whether grey levels (P,) are light but for a few."""
    return bool(painted.size and np.quantile(painted, 0.001) > _LIGHT_LEVEL)


def _is_blank_on_white(image: Image.Image) -> bool:
    alpha = np.asarray(image.getchannel("A"))
    if not (alpha > 127).any() or (alpha > 127).all():
        return False
    return bool(np.asarray(put_on_ground(image, black=False)).min() > _BLANK_LEVEL)


class GroundScan:
    """Looks at the transparent pictures of a dataset, to choose the one ground of all.

    Attributes:
      seen: how many had a clear part.
      light: how many of them are painted in light colours alone.
      drawings: how many of those are ink, by how little of the picture they cover.
    """

    def __init__(self) -> None:
        self.seen = self.light = self.drawings = 0

    def add(self, image: Image.Image) -> None:
        """Looks at a picture of any mode."""
        clear = image.convert("RGBA")
        if image.width and clear.getchannel("A").getextrema()[0] < 128:  # type: ignore[operator]
            self.seen += 1
            self.light += _is_light_paint(_find_painted_pixels(clear))
            self.drawings += _is_light_drawing(clear)

    def join(self, other: "GroundScan") -> None:
        """Takes in what another has seen."""
        self.seen += other.seen
        self.light += other.light
        self.drawings += other.drawings

    @property
    def ground(self) -> str:
        """As `PictureLevels` has it."""
        if not self.seen:
            return ""
        if not self.light:
            return WHITE
        is_ink = 2 * self.drawings > self.light >= _MIN_LIGHT_SHARE * self.seen
        return BLACK if is_ink else MIXED

    def describe_ground(self) -> list[str]:
        """What is said of the ground, unless it is white."""
        if self.ground == BLACK:
            return ["Transparent pictures are in light ink: they are put on black."]
        if self.ground == MIXED:
            return [
                f"Of {self.seen:,} transparent pictures that were looked at, {self.light:,} are in light colours: "
                "a picture of which nothing would be seen on white is put on black, the others on white."
            ]
        return []
