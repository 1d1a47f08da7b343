"""Pictures to marks, from the bytes' pixels to what the networks get, and the stages between."""

import numpy as np
import pytest
from PIL import Image

from ensemble import datasets
from ensemble.pictures.files.picture import Picture
from ensemble.pictures.ink.extraction import Ink, PictureOptions
from ensemble.pictures.preparation import prepare_picture
from ensemble.pictures.stages import MAX_STAGE_SIDE, describe_ink


def picture_of(grey, scale=1.0):
    pixels = np.repeat(np.asarray(grey, np.uint8)[:, :, None], 3, axis=2)
    height, width = pixels.shape[:2]
    return Picture(pixels, scale, (round(width * scale), round(height * scale)), "PNG")


@pytest.fixture(scope="module")
def digits():
    return datasets.load_dataset("digits").test_images[:12, :, :, 0]


@pytest.fixture(scope="module")
def photo(digits):
    """Two lines of three digits each, grey on paper whose light falls off; truth with it."""
    sheet = np.zeros((320, 450), np.float32)
    for k, digit in enumerate(digits[:6]):
        large = np.asarray(Image.fromarray(digit).resize((100, 100), Image.Resampling.BICUBIC))
        line, place = divmod(k, 3)
        sheet[30 + 140 * line : 130 + 140 * line, 40 + 130 * place : 140 + 130 * place] = large
    light = np.linspace(230, 150, 450)[None, :] + np.linspace(10, -20, 320)[:, None]
    return picture_of(light * (1 - 0.75 * sheet / 255), scale=4.0)


def test_a_picture_in_the_networks_form_is_taken_to_the_bit(digits):
    for digit in digits:
        prepared = prepare_picture(picture_of(digit))
        (mark,) = prepared.marks
        assert (mark.image[..., 0] == digit).all()
        assert mark.box == (0, 0, 28, 28)
        assert prepared.light
        assert [stage.name for stage in prepared.stages] == ["original", "marks"]


def test_other_small_pictures_are_not(digits):
    framed = digits[0].copy()
    framed[0] = 255
    assert not (prepare_picture(picture_of(framed)).marks[0].image[..., 0] == framed).all()
    turned = prepare_picture(picture_of(255 - digits[0]))
    assert not turned.light
    chosen = prepare_picture(picture_of(digits[0]), PictureOptions(ink="light"))
    assert chosen.ink is not None


def test_a_photo_becomes_its_digits_in_order(photo, digits):
    prepared = prepare_picture(photo)
    assert [mark.line for mark in prepared.marks] == [0, 0, 0, 1, 1, 1]
    for k, (mark, digit) in enumerate(zip(prepared.marks, digits, strict=False)):
        made = mark.image[..., 0].astype(float)
        assert np.corrcoef(made.ravel(), digit.ravel())[0, 1] > 0.85
        line, place = divmod(k, 3)
        left, top, right, bottom = mark.box
        assert 160 + 520 * place < left < right < 560 + 520 * place
        assert 120 + 560 * line < top < bottom < 520 + 560 * line
    assert not prepared.light


@pytest.mark.parametrize("ink", ["light", "dark"])
def test_two_digits_in_28_by_28_pixels_are_two(ink, digits):
    small = [np.asarray(Image.fromarray(one[4:24, 4:24]).resize((12, 18))) for one in digits[:2]]
    sheet = np.zeros((28, 28), np.uint8)
    sheet[5:23, 1:13], sheet[6:24, 15:27] = small
    prepared = prepare_picture(picture_of(sheet if ink == "light" else 255 - sheet))
    (one, other) = prepared.marks
    assert one.box[2] <= 14 <= other.box[0]
    for mark, own in zip(prepared.marks, small, strict=True):
        alone = prepare_picture(picture_of(255 - np.pad(own, 8))).marks[0]
        made, wanted = (each.image.astype(float).ravel() for each in (mark, alone))
        assert np.corrcoef(made, wanted)[0, 1] > 0.9
    if ink == "light":
        assert prepared.stages[-1].description.startswith("2 marks on 1 line")


def test_one_digit_whose_stroke_is_broken_is_taken_as_it_is():
    sheet = np.zeros((28, 28), np.uint8)
    sheet[5:24, 8:12] = sheet[4:8, 14:20] = 255  # a five's bar stands apart and is low
    (mark,) = prepare_picture(picture_of(sheet)).marks
    np.testing.assert_array_equal(mark.image[..., 0], sheet)


@pytest.mark.parametrize(("side", "looked_at"), [(48, 1.0), (120, 2.0)])
def test_a_large_picture_is_looked_at_by_halves_unless_its_digits_are_small(side, looked_at, digits):
    sheet = np.zeros((300, 1400), np.float32)
    for k, digit in enumerate(digits[:4]):
        large = np.asarray(Image.fromarray(digit).resize((side, side), Image.Resampling.BICUBIC))
        sheet[80 : 80 + side, 100 + 320 * k : 100 + 320 * k + side] = large
    prepared = prepare_picture(picture_of(235 - 0.8 * sheet))
    assert len(prepared.marks) == 4
    assert prepared.picture.scale == looked_at


def test_a_crop_leaves_the_boxes_where_they_are(photo):
    whole = prepare_picture(photo).marks[4].box
    (mark,) = prepare_picture(photo, PictureOptions(crop=(0.36, 0.5, 0.65, 1.0))).marks
    assert mark.box == pytest.approx(whole, abs=6)


def test_stages_say_what_was_done_and_are_small(photo):
    prepared = prepare_picture(photo)
    stages = {stage.name: stage for stage in prepared.stages}
    assert list(stages) == ["original", "grey", "even", "ink", "marks"]
    for stage in prepared.stages:
        assert stage.image.dtype == np.uint8
        assert max(stage.image.shape[:2]) <= MAX_STAGE_SIDE
        assert stage.description.endswith(".")
    assert "1800 × 1280" in stages["original"].description
    assert "6 marks on 2 lines" in stages["marks"].description
    # Ink is dark on white in the stages, as on paper: about what the mask has.
    dark = (stages["ink"].image < 128).mean()
    assert dark == pytest.approx(prepared.ink.mask.mean(), rel=0.1)
    assert prepared.stages is prepared.stages  # made once


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (0, "Ink on 25.0 % of the picture; stroke 6 px."),
        (1, "Ink on 25.0 % of the picture; 1 ruled line left out; stroke 6 px."),
        (7, "Ink on 25.0 % of the picture; 7 ruled lines left out; stroke 6 px."),
    ],
)
def test_ruled_lines_that_were_left_out_are_counted(lines, words):
    mask = np.zeros((20, 20), bool)
    mask[:10, :10] = True
    even = mask.astype(np.float32)
    assert describe_ink(Ink(1 - even, even, mask, False, 0.42, 6.0, lines)) == words


def test_a_blank_picture_has_no_marks_and_says_so():
    prepared = prepare_picture(picture_of(np.full((120, 160), 240)))
    assert prepared.marks == ()
    assert prepared.notes == ("No ink was found.",)
    assert prepared.stages[-1].description == "No ink, so no digits."


@pytest.mark.parametrize("grey", [0, 255])
@pytest.mark.parametrize("size", [(1, 1), (1, 300), (28, 28), (400, 3)])
def test_odd_pictures_do_no_harm(size, grey):
    for ink in ("auto", "dark", "light"):
        assert len(prepare_picture(picture_of(np.full(size, grey)), PictureOptions(ink=ink)).marks) <= 1


def test_a_page_full_of_crumbs_is_bounded():
    crumbs = np.random.default_rng(5).random((40, 50)) < 0.3
    page = 255 - 220 * np.kron(crumbs, np.ones((10, 10)))
    assert len(prepare_picture(picture_of(page)).marks) <= 100
