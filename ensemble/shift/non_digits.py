"""Non-digits: what else a person may show, in the form that a digit from a picture would have.

Letters and signs are glyphs of the typeface that comes with Pillow; figures, runes and scribbles
are drawn as hands draw them; patches are what ink would be in the two photographs that come with
scikit-learn. All are turned, leant and waved a little and given a pen's width; then they
are brought to MNIST's form, as every picture is (pictures/segmentation/mnist_form.py).

Left out is what is written like a digit, or as a digit is by some: C c O o D Q (0), I i l J j r f t
{ } (1), Z z (2), S s (5), b G (6), T ? (7), B & $ (8), g q p P (9), and A h y Y, which quickly
written are a 4; of photographs' patches those that are a mere bar (1).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from ensemble.pictures.segmentation.mnist_form import convert_to_mnist
from ensemble.shift.shapes import SHAPES, Draws, Strokes

Pixels = NDArray[np.uint8]

LETTERS = "EFHKLMNRUVWXadekmnuvwx"
SIGNS = "@#%+=*<>~±"
MAX_BAR_SPREAD_RATIO = 0.12  # the least share of a patch's spread that lies across its main direction
_SHEET_SIDE = 96  # of the sheet that one is drawn on, in pixels


@dataclass(frozen=True)
class _NonDigitKind:
    """A kind of non-digit.

    Attributes:
      key: its name in files and addresses.
      title: what people call it.
      draw: makes the cover of one, float32 (h, w) in 0..1, from random draws.
    """

    key: str
    title: str
    draw: Callable[[Draws], NDArray[np.float32]]


def draw_non_digits(kind: str, count: int, seed: int = 0) -> Pixels:
    """Non-digits of one kind, uint8 (count, 28, 28, 1); the first are the same for every count.

    Args:
      kind: a key of `NON_DIGIT_KINDS`.
      count: how many.
      seed: of the draw.
    """
    draws = np.random.default_rng([seed, *kind.encode()])
    covers = (NON_DIGIT_KINDS[kind].draw(draws) for _ in range(count))
    images = [convert_to_mnist(np.rint(255 * cover.clip(0, 1)).astype(np.uint8)) for cover in covers]
    return np.array(images, np.uint8).reshape(count, 28, 28, 1)


def _draw_letter(draws: Draws) -> NDArray[np.float32]:
    return _draw_glyph(str(draws.choice(list(LETTERS))), draws)


def _draw_sign(draws: Draws) -> NDArray[np.float32]:
    return _draw_glyph(str(draws.choice(list(SIGNS))), draws)


def _draw_glyph(character: str, draws: Draws) -> NDArray[np.float32]:
    sheet = Image.new("L", (_SHEET_SIDE, _SHEET_SIDE))
    font = ImageFont.load_default(_SHEET_SIDE * 0.7)
    ImageDraw.Draw(sheet).text((_SHEET_SIDE / 2, _SHEET_SIDE / 2), character, 255, font, anchor="mm")
    return _distort_cover(np.asarray(sheet, np.float32) / np.float32(255), draws)


def _distort_cover(cover: NDArray[np.float32], draws: Draws) -> NDArray[np.float32]:
    """Turned by up to 15°, leant, stretched and bent, as two hands never write the same."""
    from scipy import ndimage

    turn, lean = np.deg2rad(draws.uniform(-15, 15)), draws.uniform(-0.25, 0.25)
    stretch = draws.uniform(0.8, 1.25)
    matrix = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn) + lean, np.cos(turn) * stretch]])
    rows, columns = np.mgrid[:_SHEET_SIDE, :_SHEET_SIDE] - (_SHEET_SIDE - 1) / 2
    bend = [
        _SHEET_SIDE * draws.uniform(0, 0.03) * np.sin((2 * a + b) * np.pi / _SHEET_SIDE + draws.uniform(0, 6))
        for a, b in ((rows, columns), (columns, rows))
    ]
    where = np.tensordot(matrix, [rows, columns], 1) + bend + (_SHEET_SIDE - 1) / 2
    return np.asarray(ndimage.map_coordinates(cover, where, order=1))


def _draw_scribble(draws: Draws) -> NDArray[np.float32]:
    strokes = [
        _interpolate_stroke(draws.uniform(0, 1, (draws.integers(6, 12), 2))) for _ in range(draws.integers(1, 3))
    ]
    return _draw_strokes(strokes, draws)


def _draw_rune(draws: Draws) -> NDArray[np.float32]:
    """Three to five strokes between the corners of a grid: a letter of no alphabet."""
    strokes: Strokes = []
    for _ in range(draws.integers(3, 6)):
        ends = draws.permutation(9)[:2]
        corners = np.stack([ends % 3 / 2, ends // 3 / 2 * 1.3], axis=1)
        middle = corners.mean(axis=0) + draws.normal(0, 0.12, 2)
        strokes.append(_interpolate_stroke(np.stack([corners[0], middle, corners[1]])))
    return _draw_strokes(strokes, draws)


def _draw_shape(draws: Draws) -> NDArray[np.float32]:
    """A simple figure: arrow, heart, star, cross, zigzag, house and others."""
    return _draw_strokes(SHAPES[draws.integers(len(SHAPES))](draws), draws)


def _select_photograph_patch(draws: Draws) -> NDArray[np.float32]:
    pieces = load_photograph_pieces()
    return pieces[draws.integers(len(pieces))]


@cache
def load_photograph_pieces() -> list[NDArray[np.float32]]:
    """What is darker than its surroundings in scikit-learn's two photographs, piece by piece.

    Each is a cover, float32 (h, w); pieces of 12 to 120 pixels that are no bars.
    """
    from scipy import ndimage
    from sklearn.datasets import load_sample_image

    pieces = []
    for name in ("china.jpg", "flower.jpg"):
        grey = load_sample_image(name).mean(axis=2, dtype=np.float32) / 255
        for dark in (grey, 1 - grey):
            ink = ndimage.gaussian_filter(dark, 12) - ndimage.gaussian_filter(dark, 1) > 0.06
            marks, _ = ndimage.label(ink, np.ones((3, 3)))
            for number, place in enumerate(ndimage.find_objects(marks), 1):
                piece = marks[place] == number
                if 12 <= max(piece.shape) <= 120 and not _is_bar_shaped(piece):
                    pieces.append(piece.astype(np.float32))
    return pieces


def _is_bar_shaped(piece: NDArray[np.bool_]) -> bool:
    """Whether ink is long and thin, in whichever direction: a one to anybody."""
    across, along = np.linalg.eigvalsh(np.cov(np.nonzero(piece)))
    return bool(across < MAX_BAR_SPREAD_RATIO * along)


def _interpolate_stroke(points: NDArray[np.floating]) -> NDArray[np.floating]:
    """(60, 2): along a smooth curve, a cubic spline, through the points (K, 2)."""
    return _compute_spline_weights(len(points)) @ points


@cache
def _compute_spline_weights(count: int) -> NDArray[np.floating]:
    """(60, K): the weights of K points in a spline through them; to fit each anew takes 1 ms."""
    from scipy.interpolate import CubicSpline

    return np.asarray(CubicSpline(np.arange(count), np.eye(count))(np.linspace(0, count - 1, 60)))


def _draw_strokes(strokes: Strokes, draws: Draws) -> NDArray[np.float32]:
    """Strokes of points (x, y), drawn with a round pen of some width, then waved."""
    points = np.concatenate(strokes)
    low, size = points.min(axis=0), np.ptp(points, axis=0).max()
    sheet = Image.new("L", (_SHEET_SIDE, _SHEET_SIDE))
    pen, wide = ImageDraw.Draw(sheet), int(draws.integers(5, 11))
    for stroke in strokes:
        on_sheet = (stroke - low) / size * _SHEET_SIDE * 0.6 + _SHEET_SIDE * 0.2
        pen.line([tuple(point) for point in on_sheet], 255, wide, joint="curve")
        for x, y in on_sheet[[0, -1]]:
            pen.ellipse((x - wide / 2, y - wide / 2, x + wide / 2, y + wide / 2), 255)
    return _distort_cover(np.asarray(sheet, np.float32) / np.float32(255), draws)


NON_DIGIT_KINDS = {
    kind.key: kind
    for kind in (
        _NonDigitKind("letters", "Letters", _draw_letter),
        _NonDigitKind("signs", "Signs", _draw_sign),
        _NonDigitKind("figures", "Figures", _draw_shape),
        _NonDigitKind("runes", "Strokes like letters", _draw_rune),
        _NonDigitKind("scribbles", "Scribbles", _draw_scribble),
        _NonDigitKind("patches", "Patches of photographs", _select_photograph_patch),
    )
}
