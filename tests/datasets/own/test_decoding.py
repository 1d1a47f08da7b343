"""Pictures of every kind to pixels, compared with Pillow's own operations or with arithmetic."""

import numpy as np
import pytest
from PIL import Image, ImageOps

from ensemble import datasets
from ensemble.datasets.own.source import DatasetImageFormat
from ensemble.datasets.own.sources.encoded import parallel_reading, picture_decoding
from ensemble.datasets.own.sources.encoded.parallel_reading import count_pictures_ahead
from ensemble.errors import DataError

GREY, COLOUR = DatasetImageFormat(6, 4, 1, resize=False), DatasetImageFormat(6, 4, 3, resize=False)


@pytest.fixture
def pixels():
    return np.random.default_rng(1).integers(0, 256, (6, 4, 3), np.uint8)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["png", "tiff", "webp"])
def test_a_picture_lies_as_its_camera_says(orientation, kind, pixels, tmp_path):
    image, exif = Image.fromarray(pixels), Image.Exif()
    exif[0x0112] = orientation
    image.save(path := tmp_path / f"one.{kind}", exif=exif, lossless=True)
    upright = np.asarray(ImageOps.exif_transpose(Image.open(path)).convert("RGB"))
    traits = picture_decoding.read_picture_traits(path)
    size, grey = traits.size, traits.grey
    assert (size, grey) == (upright.shape[:2], False)
    assert (picture_decoding.read_picture_pixels(path, DatasetImageFormat(*size, 3, resize=False)) == upright).all()


def test_sixteen_bits_keep_their_upper_eight(tmp_path):
    values = np.random.default_rng(0).integers(0, 2**16, (6, 4), np.uint16)
    Image.fromarray(values).save(path := tmp_path / "deep.png")
    assert picture_decoding.read_picture_traits(path).grey
    assert (picture_decoding.read_picture_pixels(path, GREY)[:, :, 0] == values // 256).all()


def test_what_is_clear_is_put_on_white(pixels, tmp_path):
    alpha = np.array([0, 255, 128, 64] * 6, np.uint8).reshape(6, 4)
    Image.fromarray(np.dstack([pixels, alpha])).save(path := tmp_path / "clear.png")
    share = alpha[:, :, np.newaxis] / 255
    exact = pixels * share + 255 * (1 - share)
    assert np.abs(picture_decoding.read_picture_pixels(path, COLOUR) - exact).max() <= 1


def test_a_palette_becomes_its_colours_and_one_of_greys_is_grey(pixels, tmp_path):
    image = Image.fromarray(pixels).quantize(16)
    image.save(coloured := tmp_path / "palette.png")
    assert (picture_decoding.read_picture_pixels(coloured, COLOUR) == np.asarray(image.convert("RGB"))).all()
    image.putpalette([level for level in range(256) for _ in range(3)])
    image.save(grey := tmp_path / "grey.png")
    assert (picture_decoding.read_picture_traits(coloured).grey, picture_decoding.read_picture_traits(grey).grey) == (
        False,
        True,
    )


def test_a_picture_is_fitted_whole_on_the_colour_of_its_edge(tmp_path):
    # A black square in the middle of a wide sheet of one colour: twice as wide as high.
    sheet = np.full((40, 80, 3), (200, 150, 100), np.uint8)
    sheet[10:30, 30:50] = 0
    Image.fromarray(sheet).save(path := tmp_path / "sheet.png")
    found = picture_decoding.read_picture_pixels(path, DatasetImageFormat(20, 20, 3, resize=True)).astype(int)
    expected = np.full((20, 20, 3), (200, 150, 100))
    expected[5:15, 5:15] = -1  # the square, 5 pixels wide there, and its soft edge
    outside = expected[:, :, 0] >= 0
    assert (np.abs(found - expected)[outside] <= 2).all()
    assert (found[9:11, 9:11] <= 2).all()


@pytest.mark.parametrize("size", [(40, 12), (12, 40)])
def test_a_picture_of_another_shape_lies_in_the_middle(size, tmp_path):
    sheet = np.zeros((*size, 3), np.uint8)
    sheet[2:-2, 2:-2] = 255
    Image.fromarray(sheet).save(path := tmp_path / "sheet.png")
    found = picture_decoding.read_picture_pixels(path, DatasetImageFormat(20, 20, 3, resize=True))
    rows, columns = np.nonzero(found[:, :, 0] > 200)
    assert (rows.min() + rows.max(), columns.min() + columns.max()) == (19, 19)


def test_a_photograph_decoded_at_a_fraction_is_as_the_whole_one_made_smaller(tmp_path):
    rows, columns = np.mgrid[0:480, 0:640]
    waves = np.dstack([128 + 100 * np.sin(rows / 60), 128 + 100 * np.cos(columns / 50), rows / 2])
    Image.fromarray(waves.astype(np.uint8)).save(path := tmp_path / "photo.jpg", quality=95)
    found = picture_decoding.read_picture_pixels(path, DatasetImageFormat(32, 32, 3, resize=True))[4:28].astype(int)
    whole = Image.open(path).resize((32, 24), Image.Resampling.BICUBIC)
    assert np.abs(found - np.asarray(whole)).max() <= 8


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.png", b"", "it is empty"),
        ("a.jpg", b"no picture at all", "damaged"),
        ("a.gif", b"%!PS-Adobe-3.0 EPSF-3.0", "damaged"),
    ],
)
def test_what_cannot_be_read_says_why(name, content, why, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(picture_decoding.UnreadablePictureError, match=why):
        picture_decoding.read_picture_pixels(tmp_path / name, COLOUR)


def test_a_bomb_is_refused_by_its_header(tmp_path, monkeypatch):
    Image.new("1", (10_000, 10_000)).save(path := tmp_path / "bomb.png")
    assert path.stat().st_size < 20_000
    with (
        picture_decoding.silence_pillow_warnings(),
        pytest.raises(picture_decoding.UnreadablePictureError, match="10,000×10,000 pixels"),
    ):
        picture_decoding.read_picture_traits(path)


def test_a_few_that_cannot_be_read_are_listed_and_too_many_refused(draw, add):
    root = draw({"a": 10, "b": 10})
    (root / "a" / "cut.png").write_bytes((root / "a" / "000.png").read_bytes()[:60])
    with pytest.raises(DataError, match=r"1 of 21 pictures cannot be read.*a/cut.png: it is dam"):
        add(root)
    report = add(root, max_unreadable=0.05)
    assert (report.unreadable_count, report.unreadable[0][0]) == (1, "a/cut.png")
    assert len(datasets.load_dataset("pets").train_images) == 16


def test_sizes_that_differ_are_brought_to_one_and_grey_ones_stay_grey(draw, add):
    draw({"a": 4}, shape=(9, 7))
    root = draw({"b": 4}, shape=(30, 40))
    note = add(root).note
    assert (note.image_shape, "fit within 28×28, grey" in note.prepared) == ([28, 28, 1], True)
    assert add(root, "larger", size=64).note.image_shape == [64, 64, 1]


@pytest.mark.parametrize(("size", "ahead"), [(2**10, 256), (2**15, 128), (30_000, 139)])
def test_pictures_of_four_megabytes_are_decoded_ahead(size, ahead):
    assert count_pictures_ahead(size) == ahead


def test_each_thread_decodes_some_large_pictures_ahead(monkeypatch):
    monkeypatch.setattr(parallel_reading.os, "cpu_count", lambda: 2)
    assert count_pictures_ahead(2**22) == 16
