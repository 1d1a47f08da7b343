"""Ink is found on any paper in any light, and none where there is none."""

from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image, ImageDraw
from scipy import ndimage

from ensemble.errors import ImageError
from ensemble.pictures.ink import illumination, polarity
from ensemble.pictures.ink.extraction import Ink, PictureOptions, _compute_tile_quantiles, find_ink

SHAPE = (360, 300)
Pixels = np.ndarray
BLUE, WHITE = (40, 60, 150), (238, 238, 232)


def digit(shape: tuple[int, int] = SHAPE, width: float = 8.0) -> Pixels:
    """How much a pen covers (H, W) in 0..1: a 4, half as high as the picture."""
    sheet = Image.new("L", (4 * shape[1], 4 * shape[0]))
    draw = ImageDraw.Draw(sheet)
    tall, left, top = 2 * shape[0], 1.4 * shape[1], shape[0]
    for stroke in (((0.5, 0), (0, 0.62), (0.8, 0.62)), ((0.62, 0.3), (0.6, 1))):
        points = [(left + x * tall, top + y * tall) for x, y in stroke]
        draw.line(points, fill=255, width=round(4 * width), joint="curve")
    return np.asarray(sheet.reduce(4), np.float32) / 255


def written(cover: Pixels, ink: tuple[int, ...] = BLUE, paper: tuple[int, ...] = WHITE) -> Pixels:
    return np.array(paper) + cover[..., None] * (np.array(ink, np.float32) - np.array(paper))


def taken(picture: Pixels, noise: float = 3.0, blur: float = 0.7) -> Pixels:
    """What a camera makes of it, uint8."""
    seen = ndimage.gaussian_filter(picture.astype(np.float32), (blur, blur, 0))
    seen += np.random.default_rng(5).normal(0, noise, seen.shape)
    return seen.clip(0, 255).astype(np.uint8)


def agreement(ink: Ink, truth: Pixels) -> tuple[float, float]:
    """Share of the strokes' middle lines found; share of the ink found that is near a stroke."""
    inside = ndimage.distance_transform_edt(truth)
    middle = inside > 0.6 * inside.max()
    near = ndimage.binary_dilation(truth, iterations=2)
    return float(ink.mask[middle].mean()), float(near[ink.mask].mean()) if ink.mask.any() else 0.0


def across(angle: float = 0.4) -> Pixels:
    rows, columns = np.mgrid[0 : SHAPE[0], 0 : SHAPE[1]] / SHAPE[0] - 0.4
    return np.asarray(rows * np.sin(angle) + columns * np.cos(angle), np.float32)


def gradient(picture: Pixels) -> Pixels:
    return picture * (0.65 + 0.7 * across())[..., None].clip(0.25, 1)


def hard_shadow(picture: Pixels) -> Pixels:
    return picture * (1 - 0.5 / (1 + np.exp(-across(0.2) / 0.006)))[..., None]


def soft_shadow(picture: Pixels) -> Pixels:
    return picture * (1 - 0.5 / (1 + np.exp(-across() / 0.05)))[..., None]


def specks(picture: Pixels) -> Pixels:
    draws = np.random.default_rng(2)
    for row, column in draws.integers(3, 290, size=(40, 2)):
        picture[row : row + 3, column : column + 3] *= 0.3
    return picture


def table(picture: Pixels) -> Pixels:
    picture[:, :30] = (96, 64, 40)
    picture[:24] = (96, 64, 40)
    return picture


def finger(picture: Pixels) -> Pixels:
    rows, columns = np.mgrid[0 : SHAPE[0], 0 : SHAPE[1]]
    picture[(rows - 350) ** 2 + (columns - 5) ** 2 < 55**2] = (150, 95, 75)
    return picture


PALE, DARK = (150, 170, 215), (80, 105, 180)  # a line as DARK would be taken for a stroke


def rulings(tilt: float, squared: bool = False, colour: tuple[int, ...] = PALE) -> Callable[[Pixels], Pixels]:
    """Lines of a printed paper at a tilt in degrees, put under the ink already there."""

    def rule(picture: Pixels) -> Pixels:
        rows, columns = np.mgrid[0 : SHAPE[0], 0 : SHAPE[1]]
        lean = np.tan(np.deg2rad(tilt))
        lines = np.abs((rows + lean * columns) % 45 - 20) < 1
        if squared:
            lines |= np.abs((columns - lean * rows) % 45 - 20) < 1
        return np.where(lines[..., None], np.minimum(picture, colour), picture)

    return rule


@pytest.mark.parametrize(
    ("spoil", "colours", "noise"),
    [
        (gradient, (BLUE, WHITE), 3),
        (hard_shadow, (BLUE, WHITE), 3),
        (soft_shadow, (BLUE, WHITE), 3),
        (gradient, ((165, 165, 165), WHITE), 3),  # a hard pencil
        (gradient, ((205, 45, 50), WHITE), 3),
        (gradient, ((240, 160, 60), WHITE), 3),
        (gradient, ((40, 120, 70), (186, 148, 104)), 3),
        (gradient, ((225, 225, 215), (45, 70, 58)), 5),  # chalk
        (gradient, (BLUE, WHITE), 12),
        (specks, (BLUE, WHITE), 3),
        (table, (BLUE, WHITE), 3),
        (finger, (BLUE, WHITE), 3),
        (rulings(0), (BLUE, WHITE), 3),
        (rulings(3), (BLUE, WHITE), 3),
        (rulings(0, squared=True), (BLUE, WHITE), 3),
        (rulings(3, squared=True), (BLUE, WHITE), 3),
        (rulings(2, squared=True), ((110, 110, 112), WHITE), 3),
        (rulings(3, colour=DARK), (BLUE, WHITE), 3),
        (rulings(0, squared=True, colour=DARK), (BLUE, WHITE), 3),
        # Pencil as pale as the lines goes with them, and is mended where it crossed them.
        (rulings(3, colour=DARK), ((110, 110, 112), WHITE), 3),
    ],
)
def test_finds_the_strokes_and_nothing_else(
    spoil: Callable[[Pixels], Pixels], colours: tuple[tuple[int, ...], ...], noise: float
) -> None:
    cover = digit()
    ink = find_ink(taken(spoil(written(cover, *colours)), noise))
    found, right = agreement(ink, cover > 0.5)
    assert found > 0.95
    assert right > 0.95
    assert ink.light is (sum(colours[0]) > sum(colours[1]))
    assert ink.stroke == pytest.approx(8, abs=2.5)
    assert np.median(ink.even[ndimage.binary_erosion(cover > 0.9, iterations=2)]) > 0.8
    assert np.median(ink.even[cover == 0]) < 0.1


@pytest.mark.parametrize("width", [1.5, 4, 12, 40])
def test_finds_thin_and_thick_pens(width: float) -> None:
    cover = digit(width=width)
    found, right = agreement(find_ink(taken(gradient(written(cover)))), cover > 0.5)
    assert found > 0.9
    assert right > 0.93


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("side", [10, 28, 60, 280])
def test_finds_a_flat_drawing_of_any_size(side: int, invert: bool) -> None:
    cover = digit((side, side), width=side / 9)
    drawn = (255 * (cover if invert else 1 - cover)).astype(np.uint8)
    ink = find_ink(np.repeat(drawn[..., None], 3, axis=2))
    union = ((cover > 0.5) | ink.mask).sum()
    assert ((cover > 0.5) & ink.mask).sum() / union > 0.75
    assert ink.light is invert


@pytest.mark.parametrize("noise", [0, 2, 6, 10])
@pytest.mark.parametrize("light", [np.copy, gradient, soft_shadow])
def test_a_blank_sheet_has_no_ink(light: Callable[[Pixels], Pixels], noise: float) -> None:
    blank = taken(light(written(np.zeros(SHAPE, np.float32))), noise)
    assert not find_ink(blank).mask.any()


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (8, 8), (40, 3)])
@pytest.mark.parametrize("grey", [0, 128, 255])
def test_one_grey_has_no_ink(shape: tuple[int, int], grey: int) -> None:
    ink = find_ink(np.full((*shape, 3), grey, np.uint8))
    assert ink.mask.shape == ink.even.shape == ink.grey.shape == shape
    assert not ink.mask.any()
    assert ink.stroke == 0


def test_a_higher_threshold_never_finds_more() -> None:
    picture = taken(gradient(written(digit())), 4, blur=2)
    counts = [find_ink(picture, PictureOptions(threshold=t)).mask.sum() for t in (-1, -0.5, 0, 0.5, 1)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[2] > counts[-1] > 0


def test_a_person_says_which_side_is_ink() -> None:
    picture = taken(written(digit(width=30)))
    dark, light = (find_ink(picture, PictureOptions(ink=ink)) for ink in ("dark", "light"))
    assert (dark.light, light.light) == (False, True)
    assert dark.mask[digit(width=30) > 0.9].mean() > 0.95
    assert light.mask[digit(width=30) > 0.9].mean() < 0.05


def test_a_crop_looks_at_nothing_else() -> None:
    picture = taken(written(digit()))
    ink = find_ink(picture, PictureOptions(crop=(0.5, 0.25, 1, 0.75)))
    assert ink.offset == (150, 90)
    assert ink.mask.shape == (180, 150)
    assert (ink.mask == find_ink(picture[90:270, 150:]).mask).all()


@pytest.mark.parametrize(
    "wrong", [{"ink": "blue"}, {"threshold": 1.5}, {"crop": (0.5, 0, 0.5, 1)}, {"crop": (0, 0, 2, 1)}]
)
def test_choices_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ImageError):
        PictureOptions(**wrong)


@pytest.mark.parametrize(
    ("within", "reaches", "is_outline"),
    [(30, False, True), (70, False, True), (140, False, False), (30, True, False)],
    ids=["a broad stroke", "a paler middle", "a pen in a shadow", "a table around a sheet"],
)
def test_an_outline_is_told_from_ink(within: int, reaches: bool, is_outline: bool) -> None:
    wide = np.zeros((120, 90), bool)
    wide[(slice(0, 40) if reaches else slice(40, 80)), : 90 if reaches else 60] = True
    rim = wide & ~ndimage.binary_erosion(wide, border_value=1)
    small = np.where(rim, 45, np.where(wide, within, 230)).astype(np.float32) / 255
    narrow = polarity.PolarityCandidate(False, 9, small, rim, 3.0)
    shown = polarity.PolarityCandidate(False, 31, small, wide, 2.0)
    border = polarity.collect_border_pixels(wide).mean()
    assert (border > polarity.MOST_BORDER) == reaches
    assert polarity.is_ink_outline(small, np.ones_like(small), narrow, shown) == is_outline


def test_grainy_pencil_stays_in_one_piece() -> None:
    cover = digit(width=3)
    grain = ndimage.gaussian_filter(np.random.default_rng(3).normal(size=SHAPE), 3)
    pale = cover * (0.55 + 4.5 * grain).clip(0.24, 1)
    ink = find_ink(taken(written(pale, ink=(120, 120, 122)), noise=1.0))
    assert ndimage.label(ink.mask, np.ones((3, 3)))[1] <= 2


@pytest.mark.parametrize(
    ("longest", "copied"),
    [(10, 110), (105, 210), (106, 106), (160, 160), (161, 81), (320, 160), (321, 161), (640, 320), (641, 214)],
)
def test_small_pictures_are_enlarged_and_large_ones_reduced_for_the_search_for_paper(longest: int, copied: int) -> None:
    assert illumination.create_analysis_copy(Image.new("L", (longest, 8)), 320).width == copied


@pytest.mark.parametrize(("share", "value"), [(0.16, 92), (0.5, 288)])
def test_each_tile_of_paper_has_its_own_quantile(share: float, value: float) -> None:
    tile = np.arange(24 * 24, dtype=np.float32).reshape(24, 24)
    values = np.block([[tile, tile + 1000, tile + 2000], [tile + 3000, tile + 4000, tile + 5000]])
    found = _compute_tile_quantiles(values, share)
    np.testing.assert_allclose(
        found, [[value, value + 1000, value + 2000], [value + 3000, value + 4000, value + 5000]], atol=4
    )
