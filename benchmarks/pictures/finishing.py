"""What becomes of a picture at last: cut at its digits, scanned, or taken of a screen."""

from collections.abc import Callable

import numpy as np
from PIL import Image
from scipy import ndimage

from benchmarks.pictures.pens import clouds

Box = tuple[int, int, int, int]
Finished = tuple[np.ndarray, tuple[Box, ...]]
LONGEST = (8, 12, 16, 20, 28, 40, 64, 96, 128)  # pixels of a tight crop


def cropped(pixels: np.ndarray, boxes: tuple[Box, ...], edges: np.ndarray) -> Finished:
    """The part between edges (left, top, right, bottom), and where the digits are in it."""
    high, wide = pixels.shape[:2]
    left, top, right, bottom = np.rint(edges).astype(int).clip(0, [wide, high, wide, high])
    inside = tuple(
        (max(a - left, 0), max(b - top, 0), min(c, right) - left, min(d, bottom) - top) for a, b, c, d in boxes
    )
    return pixels[top:bottom, left:right], inside


def around(boxes: tuple[Box, ...]) -> np.ndarray:
    """Left, top, right, bottom of all boxes together."""
    every = np.array(boxes)
    return np.concatenate([every[:, :2].min(axis=0), every[:, 2:].max(axis=0)]).astype(float)


def at_frame(inside: tuple[float, float]) -> Callable[..., Finished]:
    """A digit at one or two sides of the frame, `inside` of its length beyond it."""

    def finish(pixels: np.ndarray, boxes: tuple[Box, ...], draws: np.random.Generator) -> Finished:
        box = around(boxes)
        long = max(box[2] - box[0], box[3] - box[1])
        room = draws.uniform(0.15, 0.9, 4) * long
        for side in draws.permutation(4)[: draws.integers(1, 3)]:
            room[side] = -draws.uniform(*inside) * long
        return cropped(pixels, boxes, box + room * [-1, -1, 1, 1])

    return finish


def tight(pixels: np.ndarray, boxes: tuple[Box, ...], draws: np.random.Generator) -> Finished:
    """Cut at the ink and brought to 8 to 128 pixels; black on white, or white on black."""
    cut, _ = cropped(pixels, boxes, around(boxes))
    dark = np.argwhere(cut.mean(axis=2) < 128)
    (top, left), (bottom, right) = dark.min(axis=0), dark.max(axis=0) + 1
    cut = cut[top:bottom, left:right]
    scale = LONGEST[draws.integers(len(LONGEST))] / max(cut.shape[:2])
    size = [max(3, round(side * scale)) for side in cut.shape[1::-1]]
    small = Image.fromarray(cut.clip(0, 255).astype(np.uint8)).resize(size, Image.Resampling.BOX)
    flat = np.asarray(small, np.float32)
    flat = 255 - flat if draws.random() < 0.5 else flat
    return flat, ((0, 0, size[0], size[1]),)


def scan(pixels: np.ndarray, boxes: tuple[Box, ...], draws: np.random.Generator) -> Finished:
    """A flat-bed scan: dust, the back of the sheet faintly seen, the lid's shadow at one side."""
    shape = pixels.shape[:2]
    back = clouds(draws, shape, 9) * (np.arange(shape[0])[:, None] % 40 < 14)
    pixels = pixels - 5 * ndimage.gaussian_filter(back.clip(0, 2), 1)[..., None]
    rows, columns = (draws.integers(side - 2, size=12) for side in shape)
    pixels[rows, columns] = pixels[rows + 1, columns] = 90
    deep = draws.uniform(0.01, 0.03) * shape[1]
    shade = 1 - 0.6 * np.exp(-np.arange(shape[1]) / deep)
    return pixels * (shade if draws.random() < 0.5 else shade[::-1])[None, :, None], boxes


def cut_out(pixels: np.ndarray, boxes: tuple[Box, ...], draws: np.random.Generator) -> Finished:
    """A piece of a scan with no margin and specks all over; every other one in black and white."""
    box = around(boxes)
    margin = draws.uniform(0.0, 0.03, 4) * (box[3] - box[1])
    cut, inside = cropped(pixels, boxes, box + margin * [-1, -1, 1, 1])
    many = round(draws.uniform(0.002, 0.008) * cut.shape[0] * cut.shape[1])
    specks = np.zeros(cut.shape[:2], np.float32)
    specks[draws.integers(cut.shape[0], size=many), draws.integers(cut.shape[1], size=many)] = 1
    specks = ndimage.maximum_filter(specks, int(draws.integers(1, 4)))
    cut = cut * (1 - 0.75 * specks[..., None])
    if draws.random() < 0.5:
        middle = (np.percentile(cut, 2) + np.percentile(cut, 80)) / 2
        cut = np.where(cut.mean(axis=2, keepdims=True) > middle, 255.0, 0.0).repeat(3, axis=2)
    return cut, inside


def moire(pixels: np.ndarray, boxes: tuple[Box, ...], draws: np.random.Generator) -> Finished:
    """The pixels of a screen beside those of the camera: fringes, of other colours each."""
    rows, columns = np.mgrid[: pixels.shape[0], : pixels.shape[1]].astype(np.float32)
    angle, strength = np.deg2rad(draws.uniform(-3, 3)), draws.uniform(0.08, 0.2)
    bent = 3e-5 * (columns - pixels.shape[1] * draws.uniform(0.3, 0.7)) ** 2
    fringes = []
    for colour in range(3):
        pitch = draws.uniform(0.97, 0.99) + 0.004 * colour
        across = (columns * np.cos(angle) + rows * np.sin(angle) + bent) * pitch
        down = (rows * np.cos(angle) - columns * np.sin(angle)) * (pitch - 0.008)
        fringes.append(np.cos(2 * np.pi * across) * 0.7 + np.cos(2 * np.pi * down) * 0.3)
    return pixels * (1 - strength + strength * np.stack(fringes, axis=2)), boxes


FINISHES: dict[str, Callable[..., Finished]] = {
    "frame": at_frame((0.0, 0.005)),
    "cut off": at_frame((0.03, 0.08)),
    "tight": tight,
    "scan": scan,
    "cut out": cut_out,
    "moiré": moire,
}
