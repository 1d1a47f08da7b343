"""Small colour pictures of four fruits, drawn by a seed, as a person has them: folders of PNGs.

Each fruit has a colour and a shape of its own, both with so much spread that small ensembles get
most of them right and not all: members differ.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

CLASSES = ("apple", "banana", "lime", "plum")
COLOURS = np.array([[200, 60, 50], [220, 190, 60], [110, 180, 60], [110, 60, 140]])
WIDE = np.array([1.0, 0.55, 0.85, 1.15])  # height over width, of the fruit
SIDE = 16

# A network of one's own, as a person has it in a file: a Linen module with batch statistics and
# dropout.
MODULE = """
from flax import linen as nn


class Small(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, x, train: bool):
        for width in (8, 16):
            x = nn.Conv(width, (3, 3), use_bias=False)(x)
            x = nn.relu(nn.BatchNorm(use_running_average=not train, momentum=0.5)(x))
            x = nn.avg_pool(x, (2, 2), (2, 2))
        x = nn.Dropout(0.1, deterministic=not train)(x.reshape(len(x), -1))
        return nn.Dense(self.classes)(x)
"""

Drawn = tuple[NDArray[np.uint8], NDArray[np.int64]]


def drawn(each: int, seed: int) -> Drawn:
    """Images (N, 16, 16, 3), `each` of every class, and their class numbers (N,)."""
    rng = np.random.default_rng(seed)
    labels = np.arange(len(CLASSES)).repeat(each)
    rows, columns = np.mgrid[:SIDE, :SIDE]
    images = np.empty((len(labels), SIDE, SIDE, 3), np.uint8)
    for image, label in zip(images, labels, strict=True):
        (top, left), size = rng.uniform(6, 10, 2), rng.uniform(3.5, 6)
        shape = WIDE[label] * rng.uniform(0.85, 1.15)
        inside = ((rows - top) / shape) ** 2 + ((columns - left) * shape) ** 2 < size**2
        light = rng.uniform(0.5, 1.2)
        fruit = COLOURS[label] + rng.normal(0, 38, 3)
        ground = rng.uniform(40, 220, 3)
        exact = np.where(inside[..., None], fruit * light, ground) + rng.normal(0, 18, image.shape)
        image[:] = exact.clip(0, 255)
    return images, labels


def write(folder: Path, train: int = 60, test: int = 30) -> Path:
    """A folder of folders, `train/apple/000.png` and so on; so many of each class."""
    for split, each, seed in (("train", train, 0), ("test", test, 1)):
        images, labels = drawn(each, seed)
        for number, (image, label) in enumerate(zip(images, labels, strict=True)):
            path = folder / split / CLASSES[label] / f"{number % each:03}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(path)
    return folder
