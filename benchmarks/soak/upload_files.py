"""Files that people might hand in: pictures of every kind, whole, damaged and made up."""

import io
import random
from collections.abc import Callable

import numpy as np
from PIL import Image

from benchmarks.pictures.pens import SIZE
from tests.pictures.picture_files import blank_png, damaged, encoded, jpeg_claiming, page, turned

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "HEIF")
MODES = ("L", "RGB", "RGBA", "P", "1", "LA", "I;16")
# Pixels of the largest made-up picture, which as a file takes next to nothing.
MOST_WIDE, MOST_HIGH = 8_000, 14_200

Draw = random.Random
