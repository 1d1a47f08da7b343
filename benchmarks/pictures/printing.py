"""Printed characters: glyphs of the fonts that Debian packages bring, as a pen can set them.

The fonts are those of the packages in PACKAGES and of fonts-urw-base35; where one is missing,
`font_file` says so in a sentence.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

FOLDERS = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".fonts")
PACKAGES = {
    "DejaVu": "fonts-dejavu",
    "Liberation": "fonts-liberation",
    "Lato": "fonts-lato",
    "RobotoSlab": "fonts-roboto-slab",
    "Roboto": "fonts-roboto",
    "fontawesome": "fonts-font-awesome",
    "Symbola": "fonts-symbola",
    "DSEG": "fonts-dseg",
    "GNUTypewriter": "fonts-gnutypewriter",
    "ComicNeue": "fonts-comic-neue",
    "Leckerli": "fonts-leckerli-one",
    "Inconsolata": "fonts-inconsolata",
    "Cantarell": "fonts-cantarell",
    "Jura": "fonts-jura",
    "3270": "fonts-3270",
    "lobster": "fonts-lobster",
    "FreeSerif": "fonts-freefont-ttf",
}
OTHERS = "fonts-urw-base35"
TEXT_FONTS = (
    "DejaVuSans.ttf",
    "LiberationSerif-Regular.ttf",
    "Roboto-Regular.ttf",
    "C059-Italic.otf",
    "Lato-Regular.ttf",
    "DejaVuSerif.ttf",
    "LiberationSans-Regular.ttf",
    "P052-Roman.otf",
    "URWGothic-Book.otf",
    "DejaVuSansMono.ttf",
    "Z003-MediumItalic.otf",
)
MORE_FONTS = (
    "Lato-Hairline.ttf",
    "Lato-Black.ttf",
    "Roboto-Thin.ttf",
    "Roboto-Black.ttf",
    "RobotoCondensed-Light.ttf",
    "NimbusMonoPS-Regular.otf",
    "C059-Bold.otf",
    "URWBookman-Light.otf",
    "URWBookman-DemiItalic.otf",
    "NimbusSansNarrow-Bold.otf",
    "P052-BoldItalic.otf",
    "DejaVuSans-ExtraLight.ttf",
    "DejaVuSansMono-Bold.ttf",
    "DejaVuSerifCondensed-Bold.ttf",
    "LiberationMono-Regular.ttf",
    "LiberationSerif-BoldItalic.ttf",
    "LiberationSansNarrow-Regular.ttf",
    "URWGothic-Demi.otf",
    "RobotoSlab-Thin.otf",
    "RobotoSlab-Bold.otf",
)
OTHER_FONTS = (
    "GNUTypewriter.ttf",
    "ComicNeue-Regular.otf",
    "LeckerliOne-Regular.ttf",
    "Inconsolata.otf",
    "Cantarell-Thin.otf",
    "Cantarell-ExtraBold.otf",
    "Jura-Light.otf",
    "3270-Regular.ttf",
    "lobster.otf",
    "FreeSerifBoldItalic.ttf",
)
SEGMENTS = (
    "DSEG7Classic-Regular.ttf",
    "DSEG7Modern-Italic.ttf",
    "DSEG7Classic-Bold.ttf",
    "DSEG7Modern-Light.ttf",
    "DSEG7Classic-LightItalic.ttf",
)
ICONS, SYMBOLS, SCRIPTS = "fontawesome-webfont.ttf", "Symbola_hint.ttf", "DejaVuSans.ttf"
HIGH = 200  # pixels of a glyph before it is set
NO_CHARACTER = "\uffff"  # in every font what stands for a character that it does not have


@cache
def font_file(name: str) -> Path:
    """Where a font lies on this machine.

    Raises:
      SystemExit: it is not there; says which package has it.
    """
    for folder in FOLDERS:
        for path in sorted(folder.rglob(name)):
            return path
    package = next((package for start, package in PACKAGES.items() if start in name), OTHERS)
    raise SystemExit(
        f"These pictures need the font {name}, which is not on this machine: "
        f"install the package {package} (Debian: apt-get install {package})."
    )


def missing() -> list[str]:
    """The fonts that are not on this machine."""
    wanted = {*TEXT_FONTS, *MORE_FONTS, *OTHER_FONTS, *SEGMENTS, ICONS, SYMBOLS, SCRIPTS}
    return sorted(name for name in wanted if not any(any(folder.rglob(name)) for folder in FOLDERS))


@cache
def glyph(characters: str, font: str) -> np.ndarray:
    """Characters of a font as a cover (h, w) float32 in 0..1, about `HIGH` pixels high.

    Raises:
      SystemExit: the font is not there, or draws one character as what it has none of.
    """
    cover = _cover(characters, font)
    if len(characters) == 1 and np.array_equal(cover, _cover(NO_CHARACTER, font)):
        raise SystemExit(
            f"The font {font} has no U+{ord(characters):04X}: install the one that its package "
            "brings, or leave the character out."
        )
    return cover


def _cover(characters: str, font: str) -> np.ndarray:
    drawn = ImageFont.truetype(font_file(font), HIGH)
    left, top, right, bottom = drawn.getbbox(characters)
    image = Image.new("L", (round(right - left) + 4, round(bottom - top) + 4))
    ImageDraw.Draw(image).text((2 - left, 2 - top), characters, fill=255, font=drawn)
    box = image.getbbox() or (0, 0, 1, 1)
    return np.asarray(image.crop(box), np.float32) / 255


def outline_distance(characters: str, font: str, face: str = "plain") -> np.ndarray:
    """Distance to a glyph's ink in heights of it, as pens.middle_distance gives a digit's line.

    A pen of hardly any width that follows it prints the glyph.

    Args:
      characters: what is printed.
      font: the name of a font's file.
      face: a name of FACES.
    """
    from scipy import ndimage

    cover = glyph(characters, font)
    height = cover.shape[0]
    ink = FACES[face](np.pad(cover, height // 4) >= 0.5)
    return (ndimage.distance_transform_edt(~ink) / height).astype(np.float32)


def outlined(ink: np.ndarray) -> np.ndarray:
    """The outline alone of ink, bool (h, w), as letters of shop signs have it."""
    from scipy import ndimage

    wide = max(1, len(ink) // 70)
    return ndimage.binary_dilation(ink, iterations=wide) & ~ndimage.binary_erosion(ink, iterations=wide)


def stencilled(ink: np.ndarray) -> np.ndarray:
    """Ink, bool (h, w), with two bridges across it, as a stencil that hangs together leaves."""
    cut, inked = ink.copy(), np.flatnonzero(ink.any(axis=0))
    middle, wide = round(float(inked.mean())), max(2, len(ink) // 36)
    cut[:, middle - wide : middle + wide] = False
    return cut if cut.sum() > 0.5 * ink.sum() else ink


FACES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "plain": lambda ink: ink,
    "outlined": outlined,
    "stencil": stencilled,
}


def paragraph(text: str, font: str, size: int, shape: tuple[int, int]) -> np.ndarray:
    """Lines of text as a cover (h, w) in 0..1, broken where a line is full."""
    drawn = ImageFont.truetype(font_file(font), size)
    height, width = shape
    lines: list[str] = []
    for word in text.split():
        if lines and drawn.getlength(f"{lines[-1]} {word}") < 0.86 * width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    image = Image.new("L", (width, height))
    ImageDraw.Draw(image).text((0.07 * width, 0.05 * height), "\n".join(lines), 255, drawn, spacing=round(0.45 * size))
    return np.asarray(image, np.float32) / 255
