"""Which numbers of a picture are black and white: one rule for a dataset, and for one picture.

Files and arrays do not say it: 12 bits lie in 16, digits run from 0 to 16, fractions from 0 to 1.
The largest number decides, of a dataset that of all its pictures together, so that a dark one among
them stays dark.
"""

from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image

from ensemble.files.image_levels import BIT_DEPTH_MAXIMA, BYTE_LEVELS, MAX_LEVEL, OVERSHOOT, LevelRange, Levels
from ensemble.pictures.files.transparency import has_transparency

_DEEP_MODES = ("I", "F")  # Pillow's, and all that begin with "I;"


@dataclass(frozen=True)
class PictureLevels:
    """What the pictures of a dataset have in common, for whoever brings another of its kind.

    Attributes:
      shallow: of pictures of 8 bits.
      deep: of whole numbers of more bits; None where the dataset has none of them.
      fraction: of fractions, likewise.
      ground: what stands behind transparent pictures: "black", "mixed" (black where nothing would
        be seen on white), "white"; "" where there are none.
    """

    shallow: Levels = BYTE_LEVELS
    deep: Levels | None = None
    fraction: Levels | None = None
    ground: str = ""


STANDARD_LEVELS = PictureLevels()


def is_deep_image(image: Image.Image) -> bool:
    """Whether a picture has one channel of more than 8 bits, or of fractions."""
    return image.mode in _DEEP_MODES or image.mode.startswith("I;")


def expand_small_levels(image: Image.Image, levels: PictureLevels) -> Image.Image:
    """A picture whose numbers can be seen: where those of 8 bits are scaled, of L or RGB."""
    as_it_is = levels.shallow == BYTE_LEVELS or is_deep_image(image) or image.mode in ("L", "RGB")
    return image if as_it_is or has_transparency(image) else image.convert("RGB")


def select_image_levels(
    image: Image.Image, levels: PictureLevels, find_range: Callable[[Image.Image], LevelRange]
) -> Levels | None:
    """The levels of one picture; None where it is as it is.

    Those of its dataset where its numbers lie within them; else, of a deep picture, its own.

    Args:
      image: of any mode of Pillow's.
      levels: of its dataset; `STANDARD_LEVELS` where there is none.
      find_range: the range of a picture's numbers.
    """
    if not is_deep_image(image):
        if levels.shallow == BYTE_LEVELS or image.mode not in ("L", "RGB"):
            return None
        return levels.shallow if find_range(image).high <= levels.shallow[1] else None
    given = levels.fraction if image.mode == "F" else levels.deep
    found = find_range(image)
    if given and given[0] <= found.low and found.high <= given[1] * OVERSHOOT:
        return given
    return _choose_own_levels(found, is_fraction=image.mode == "F")


def _choose_own_levels(found: LevelRange, *, is_fraction: bool) -> Levels:
    """The levels of a deep picture by itself, of which no other is known.

    White is the top of the smallest depth that holds the picture: cameras and scanners keep 10,
    12 or 14 bits in 16. Fractions run to 1, to 255, or, where they leave both, as far as they run.
    """
    if found.high < found.low:
        return 0.0, 0.0
    if found.low < 0 or found.high > MAX_LEVEL:
        return found.low, found.high
    if is_fraction and found.high <= 1:
        return 0.0, 1.0
    return 0.0, float(next(top for top in BIT_DEPTH_MAXIMA if found.high <= top))
