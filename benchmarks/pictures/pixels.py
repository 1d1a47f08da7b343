"""Pictures of 28×28 pixels, as datasets have them: one digit, or two side by side."""

import io
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.pictures.rendering import Photo

SIDE = 28


def small(image: np.ndarray, height: int, widest: int) -> np.ndarray:
    """A picture's ink cut out and made so high, and no wider than `widest`."""
    rows, columns = np.nonzero(image > 30)
    cut = image[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    scale = min(height / cut.shape[0], widest / cut.shape[1])
    size = [max(2, round(side * scale)) for side in cut.shape[1::-1]]
    return np.asarray(Image.fromarray(cut).resize(size, Image.Resampling.BOX))


def picture(line: list[np.ndarray], draws: Any) -> Photo:
    """A PNG of 28×28 pixels with one or two digits, each uint8 (28, 28) with bright ink.

    Light on dark as MNIST is, or, every third time, dark on light.
    """
    flat, boxes = np.zeros((SIDE, SIDE), np.uint8), [(4, 4, 24, 24)]
    if len(line) == 1:
        flat = line[0].astype(np.uint8)
    else:
        tall, gap = int(draws.integers(15, 20)), int(draws.integers(1, 4))
        halves = [small(digit.astype(np.uint8), tall, (SIDE - gap) // 2 - 1) for digit in line]
        left = (SIDE - gap - sum(half.shape[1] for half in halves)) // 2
        boxes = []
        for half in halves:
            high, wide = half.shape
            top = (SIDE - high) // 2 + int(draws.integers(-1, 2))
            flat[top : top + high, left : left + wide] = half
            boxes.append((left, top, left + wide, top + high))
            left += wide + gap
    buffer = io.BytesIO()
    Image.fromarray(255 - flat if draws.random() < 1 / 3 else flat).save(buffer, "PNG")
    return Photo(buffer.getvalue(), ".png", boxes=tuple(boxes))
