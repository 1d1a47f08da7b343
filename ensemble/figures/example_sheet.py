"""A sheet of examples: for each class its name and a strip of its images, as one piece of HTML.

The names are text, for a picture has letters of few scripts, and so the sheet takes the page's
colours and as many columns as there is room for.
"""

import base64
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ensemble.figures.class_counts import shorten_class_name
from ensemble.figures.thumbnails import encode_picture_png

Pixels = NDArray[np.uint8]

_EXAMPLE_SIZE, GAP = 56, 4  # pixels of an example's longer side on the page, and between two
_MAX_SENT_SIZE = 2 * _EXAMPLE_SIZE  # pixels of an image that is sent: a screen may have two for each of the page's
_GRID_STYLE = "display:grid;grid-template-columns:repeat(auto-fill,minmax(%dpx,1fr));gap:14px 18px"
_NAME_STYLE = "font-size:0.875rem;overflow-wrap:anywhere;margin-bottom:4px"
_PICTURE_STYLE = "max-width:100%%;height:auto;width:%dpx;image-rendering:%s"


def render_example_sheet(examples: Sequence[Pixels], names: Sequence[str]) -> str:
    """The examples as HTML.

    Args:
      examples: for each class (E, H, W, 1 or 3), E of any length; its images.
    """
    most = max(map(len, examples), default=0)
    cells = "".join(
        _render_class_examples(images, name) for images, name in zip(examples, names, strict=True) if len(images)
    )
    return f'<div style="{_GRID_STYLE % (most * (_EXAMPLE_SIZE + GAP))}">{cells}</div>'


def _render_class_examples(images: Pixels, name: str) -> str:
    """One class: its name, and its images side by side under it."""
    escaped_name = escape_html_letters(shorten_class_name(name))
    few = max(images.shape[1:3]) <= _EXAMPLE_SIZE
    style = _PICTURE_STYLE % (compute_strip_width(images), "pixelated" if few else "auto")
    strip = f'<img style="{style}" src="{encode_example_strip(images)}" alt="Examples of {escaped_name}">'
    return f'<div><div style="{_NAME_STYLE}">{escaped_name}</div>{strip}</div>'


def escape_html_letters(text: str) -> str:
    """Text within HTML, letter by letter: of signs only their numbers, so that none is markup."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return "".join(letter if letter.isalnum() or letter == " " else f"&#{ord(letter)};" for letter in plain)


def compute_strip_width(images: Pixels) -> int:
    scale = _EXAMPLE_SIZE / max(images.shape[1:3])
    return max(1, round(len(images) * images.shape[2] * scale + (len(images) - 1) * GAP))


def encode_example_strip(images: Pixels) -> str:
    """Images (E, H, W, 1 or 3) side by side, as a data URI; what lies between lets through."""
    pictures = [Image.fromarray(image[..., 0] if image.shape[-1] == 1 else image) for image in images]
    longer = max(images.shape[1:3])
    scale = min(1.0, _MAX_SENT_SIZE / longer)
    size = max(1, round(images.shape[2] * scale)), max(1, round(images.shape[1] * scale))
    # As many of its pixels as the gap takes on the page.
    gap = max(1, round(GAP * max(size) / _EXAMPLE_SIZE))
    whole = Image.new("RGBA", (len(pictures) * (size[0] + gap) - gap, size[1]), (0, 0, 0, 0))
    for number, picture in enumerate(pictures):
        thumbnail = picture if scale == 1.0 else picture.resize(size, Image.Resampling.LANCZOS)
        whole.paste(thumbnail.convert("RGBA"), (number * (size[0] + gap), 0))
    return "data:image/png;base64," + base64.b64encode(encode_picture_png(whole)).decode()
