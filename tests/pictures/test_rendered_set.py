"""The rendered test set is the same every time, keeps held kinds from whoever tunes, and is fair.

What a picture shows is told by its pixels alone: no reader has a part in it.
"""

import io
import json

import numpy as np
import pytest
from PIL import Image, ImageFont
from scipy import ndimage

from benchmarks.pictures import finishing, non_digits, pens, photos, pixels, printing
from benchmarks.pictures.non_digits import objects, writing
from benchmarks.pictures.styles import STYLES
from ensemble import datasets


@pytest.fixture
def fonts(tmp_path, monkeypatch):
    """For fonts of Debian's that are not here the letters of Pillow's own stand in."""
    own = tmp_path / "own.ttf"
    own.write_bytes(ImageFont.load_default(20).font_bytes)
    there, missing = printing.font_file, set(printing.missing())
    monkeypatch.setattr(printing, "font_file", lambda name: own if name in missing else there(name))
    if printing.ICONS in missing:
        monkeypatch.setattr(writing, "ICONS", tuple(map(ord, writing.LETTERS)))
    printing.glyph.cache_clear()
    yield
    printing.glyph.cache_clear()


@pytest.fixture(scope="module")
def digits():
    return photos.Digits(("digits",))


def flat(made) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(made.content)).convert("L"), np.float32)


def test_styles_and_kinds_are_held_and_what_nobody_can_tell_is_counted_apart() -> None:
    held = {name for name, style in STYLES.items() if style.held}
    assert (len(STYLES), len(held)) == (60, 7)
    assert (len(non_digits.KINDS), len(non_digits.HELD)) == (17, 7)
    assert set(non_digits.KINDS) >= non_digits.HELD | non_digits.LOOK_ALIKES
    assert not non_digits.HELD & non_digits.LOOK_ALIKES
    assert not set(writing.LIKE_DIGITS) & set(writing.LETTERS)
    # A style's place is in the seed of its pictures: those that were first have to stay there.
    assert list(STYLES)[:2] + list(STYLES)[42:45] == ["plain", "ballpoint", "photo of a screen", "scan", "hairline"]


def test_held_kinds_are_made_for_the_test_set_alone(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(photos, "STYLES", {})
    monkeypatch.setattr(non_digits, "KINDS", {})
    with pytest.raises(SystemExit, match="Held kinds are for the test set alone"):
        photos.everything(tmp_path, 3, held=True)
    assert photos.everything(tmp_path, 3) == []
    assert json.loads((tmp_path / "photos.json").read_text()) == []


def test_a_seed_takes_training_digits_and_the_test_set_takes_test_digits() -> None:
    known = datasets.load_dataset("digits")
    test, training = (
        {image.tobytes() for image in np.asarray(images)} for images in (known.test_images, known.train_images)
    )
    for seed, where in ((0, test), (5, training)):
        taken = photos.Digits(("digits",), seed=seed)
        assert all(taken.pixels(0)[0].tobytes() in where for _ in range(20))


@pytest.mark.long_cases
@pytest.mark.usefixtures("fonts")
@pytest.mark.parametrize("name", ["letters", "icons", "drawings", "shapes"])
def test_a_picture_is_the_same_every_time_and_another_for_another_seed(name) -> None:
    place = list(non_digits.KINDS).index(name)
    one, again, other = (
        non_digits.KINDS[name](photos.draws_of([1000 + place, 3], seed), 3 + 17 * seed).content for seed in (0, 0, 1)
    )
    assert one == again
    assert one != other


@pytest.mark.long_cases
@pytest.mark.usefixtures("fonts")
@pytest.mark.parametrize("name", ["broken strokes", "low light", "tight crop", "printed"])
def test_a_style_of_digits_is_the_same_every_time(name) -> None:
    one, again = (photos.render(name, 2, photos.Digits(("digits",))) for _ in range(2))
    assert one == again
    assert len(one.lines[0]) == len(one.boxes) == 1


def test_nothing_written_is_a_figure_or_a_letter_that_is_a_digit_to_the_eye() -> None:
    every = "".join((writing.LETTERS, *writing.WORDS, writing.TEXT, writing.SIGNS, writing.SCRIPTS))
    assert not [one for one in every if one.isnumeric()]
    assert not set(writing.LETTERS) & set("CcDGOoQIiJjlfrtTZzSsbBgpPqyY")


@pytest.mark.usefixtures("fonts")
def test_a_character_that_a_font_does_not_have_is_said_and_not_drawn_as_a_box() -> None:
    assert printing.glyph("A", printing.SYMBOLS).max() == 1
    with pytest.raises(SystemExit, match=r"has no U\+10FFFD"):
        printing.glyph("\U0010fffd", printing.SYMBOLS)


def test_a_font_that_is_missing_is_named_with_its_package(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(printing, "FOLDERS", (tmp_path,))
    printing.font_file.cache_clear()
    with pytest.raises(SystemExit, match=r"Symbola_hint\.ttf.*fonts-symbola"):
        printing.font_file(printing.SYMBOLS)
    printing.font_file.cache_clear()
    assert printing.ICONS in printing.missing()


def test_digits_at_the_frame_touch_it_and_those_that_leave_it_lose_a_part() -> None:
    seen, box = np.zeros((200, 300, 3)), (100, 60, 160, 140)
    for name, most in (("frame", 0.5), ("cut off", 7)):
        for number in range(8):
            draws = np.random.default_rng(number)
            cut, ((left, top, right, bottom),) = finishing.FINISHES[name](seen, (box,), draws)
            margins = left, top, cut.shape[1] - right, cut.shape[0] - bottom
            assert min(margins) == 0
            lost = 60 * 80 - (right - left) * (bottom - top)
            assert (lost == 0) if name == "frame" else (0 < lost <= (60 + 80) * most)


def test_two_digits_of_28_pixels_stand_apart(digits) -> None:
    for number in range(6):
        made = pixels.picture([digits.pixels(0)[0] for _ in range(2)], np.random.default_rng(number))
        (a, b), shown = made.boxes, flat(made)
        assert shown.shape == (28, 28)
        ink = shown if np.median(shown) < 128 else 255 - shown
        assert a[2] < b[0]
        assert ink[:, a[2] : b[0]].max() == 0 < min(ink[:, : a[2]].max(), ink[:, b[0] :].max())


def test_a_crossed_seven_has_a_bar_on_both_sides_of_its_stem() -> None:
    seven = np.zeros((90, 80), bool)
    seven[15, 20:60] = seven[15:75, 59] = True
    away = (ndimage.distance_transform_edt(~seven) / 60).astype(np.float32)
    new = np.argwhere((pens.crossed(away) < 0.01) & (away > 0.05))
    assert (new[:, 1].min(), new[:, 1].max()) == pytest.approx((59 - 10, 59 + 10), abs=2)
    assert 15 + 25 < new[:, 0].mean() < 15 + 40


def test_a_rendered_ball_is_round_and_lit_from_one_side() -> None:
    way = np.array([[[0.0, 0.0, 1.0], [0.9, 0.0, 1.0]]])
    way /= np.linalg.norm(way, axis=-1, keepdims=True)
    start = np.broadcast_to([0.0, 1.0, -3.0], way.shape)
    gone, _ = objects.march([(0, np.array([0.0, 1.0, 0.0]), 0.5)], start, way, 9.0)
    assert gone[0, 0] == pytest.approx(2.5, abs=0.01)  # 3 to the middle, less the radius
    assert gone[0, 1] == pytest.approx(9.0)
