"""Which numbers are black and white in a dataset, the same in `data add` and in `predict`."""

import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image

from ensemble import datasets
from ensemble.datasets.own import custom_registry
from ensemble.datasets.own.recorded_levels import load_dataset_levels
from ensemble.datasets.own.sources.arrays import array_levels
from ensemble.datasets.own.sources.encoded import picture_survey
from ensemble.errors import DataError
from ensemble.pictures.files.levels import STANDARD_LEVELS, PictureLevels
from ensemble.pictures.files.picture import open_picture

RNG = np.random.default_rng(3)
SHARES = RNG.random((12, 9, 7))
SHARES[:, 0, 0] = 1  # each picture has a white pixel
SHARES[5] /= 8  # but for a dark one
LABELS = np.arange(12) % 2


def write_folder(root, pictures, suffix="png"):
    """Pictures of two classes; returns the folder."""
    for number, picture in enumerate(pictures):
        folder = root / "ab"[number % 2]
        folder.mkdir(parents=True, exist_ok=True)
        picture.save(folder / f"{number:02}.{suffix}")
    return root


def kept_pictures(name="pets"):
    """All pictures of a dataset, as bytes, sorted."""
    found = datasets.load_dataset(name)
    every = np.concatenate([found.train_images, found.test_images])
    return sorted(image.tobytes() for image in every)


def predicted(root, name="pets"):
    """What Classify makes of the files, as one channel, sorted."""
    note = custom_registry.read_custom_note(name)
    levels = load_dataset_levels(name, note.fingerprint)
    contents = [path.read_bytes() for path in sorted(root.rglob("*.*")) if path.is_file()]
    return sorted(open_picture(content, levels).pixels[..., 0].tobytes() for content in contents)


def expected_bytes(numbers, white):
    return sorted(np.rint(one * (255 / white)).astype(np.uint8).tobytes() for one in numbers)


@pytest.mark.parametrize("white", [1023, 4095, 16383])
def test_bits_in_sixteen_are_brought_to_eight_by_the_largest_of_all(white, tmp_path, add):
    numbers = np.rint(SHARES * white).astype(np.uint16)
    root = write_folder(tmp_path / "deep", map(Image.fromarray, numbers))
    note = add(root).note
    assert kept_pictures() == expected_bytes(numbers, white) == predicted(root)
    assert any(f"{white:,} (" in one and "as white" in one for one in note.said)
    np.savez(tmp_path / "deep.npz", images=numbers, labels=LABELS)
    assert "as white" in " ".join(add(tmp_path / "deep.npz", "arrays").note.said)
    assert kept_pictures("arrays") == kept_pictures()


def test_sixteen_bits_keep_their_upper_eight_in_files_and_arrays(tmp_path, add):
    numbers = np.rint(SHARES * 65535).astype(np.uint16)
    root = write_folder(tmp_path / "deep", map(Image.fromarray, numbers))
    assert " beyond 16,383: " in " ".join(add(root).note.said)  # what takes more than 14 bits is of 16
    np.savez(tmp_path / "deep.npz", images=numbers, labels=LABELS)
    add(tmp_path / "deep.npz", "arrays")
    upper = sorted((one >> 8).astype(np.uint8).tobytes() for one in numbers)
    assert kept_pictures() == kept_pictures("arrays") == upper == predicted(root)


@pytest.mark.parametrize(("white", "kind"), [(16, np.float64), (16, np.uint8), (1, np.uint8)])
def test_arrays_that_run_to_less_are_not_nearly_black(white, kind, tmp_path, add):
    numbers = np.rint(SHARES * white)
    np.savez(tmp_path / "a.npz", images=numbers.astype(kind), labels=LABELS)
    note = add(tmp_path / "a.npz").note
    assert kept_pictures() == expected_bytes(numbers, white)
    assert any(f"run from 0 to {white}: 0 is taken as black" in one for one in note.said)


def test_idx_files_of_marks_are_not_nearly_black(tmp_path, add):
    marks = (SHARES > 0.5).astype(np.uint8)
    for name, values in (("images-idx3", marks), ("labels-idx1", LABELS.astype(np.uint8))):
        header = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes()
        (tmp_path / f"train-{name}-ubyte").write_bytes(header + values.tobytes())
    assert any("0 is taken as black and 1 as white" in one for one in add(tmp_path).note.said)
    assert kept_pictures() == expected_bytes(marks, 1)


def test_the_range_is_of_all_arrays_together(tmp_path, add):
    numbers = np.rint(SHARES * 16)
    dark = np.minimum(numbers[:4], 1)
    np.savez(tmp_path / "a.npz", train_images=numbers, train_labels=LABELS, test_images=dark, test_labels=LABELS[:4])
    add(tmp_path / "a.npz")
    assert datasets.load_dataset("pets").test_images.max() == 16


@pytest.mark.parametrize("mode", ["L", "P"])
def test_pictures_of_few_levels_are_not_nearly_black(mode, tmp_path, add):
    numbers = np.rint(SHARES * 16).astype(np.uint8)
    pictures = (Image.fromarray(one).convert(mode) for one in numbers)
    root = write_folder(tmp_path / "marks", pictures)
    assert any("16 of 255" in one for one in add(root).note.said)
    assert kept_pictures() == expected_bytes(numbers, 16) == predicted(root)
    # Another picture, of more levels, is not of this kind.
    whole = io.BytesIO()
    Image.fromarray(np.full((9, 7), 200, np.uint8)).save(whole, "PNG")
    assert (open_picture(whole.getvalue(), PictureLevels(shallow=(0, 16))).pixels == 200).all()


def test_a_dark_picture_among_others_stays_dark(tmp_path, add):
    numbers = np.rint(SHARES * 255).astype(np.uint8)
    numbers[::2] //= 32
    note = add(write_folder(tmp_path / "night", map(Image.fromarray, numbers))).note
    assert kept_pictures() == sorted(one.tobytes() for one in numbers)
    assert (note.levels, "white" in " ".join(note.said)) == ({}, False)


def test_a_dark_picture_is_read_by_the_range_of_its_dataset(tmp_path, add):
    # By itself, as `predict` has no more of it, it would be taken for one of 8 bits, or of 0 to 1.
    for name, kind, white, suffix in (
        ("deep", np.uint16, 4095, "png"),
        ("eight", np.uint16, 255, "png"),
        ("shares", np.float32, 255, "tiff"),
    ):
        numbers = np.rint(SHARES * white).astype(kind)
        numbers[5] = np.minimum(numbers[5], 1)
        root = write_folder(tmp_path / name, map(Image.fromarray, numbers), suffix)
        add(root, name)
        assert kept_pictures(name) == expected_bytes(numbers, white) == predicted(root, name)


def test_fractions_are_read_by_their_range(tmp_path, add):
    shares = SHARES.astype(np.float32)
    root = write_folder(tmp_path / "shares", map(Image.fromarray, shares), "tiff")
    add(root)
    assert kept_pictures() == expected_bytes(shares, 1) == predicted(root)
    signed = shares * 3000 - 1000
    signed[3, 3, 3] = -1000
    root = write_folder(tmp_path / "signed", map(Image.fromarray, signed), "tiff")
    assert any("-1,000 is taken as black" in one for one in add(root, "signed").note.said)
    exact = (signed.astype(float) - signed.min()) / (signed.max() - signed.min()) * 255
    found = np.frombuffer(b"".join(kept_pictures("signed")), np.uint8)
    assert sorted(found) == sorted(np.round(exact).astype(np.uint8).reshape(-1))
    assert kept_pictures("signed") == predicted(root, "signed")
    np.savez(tmp_path / "signed.npz", images=signed, labels=LABELS)
    with pytest.raises(DataError, match="numbers from -1e\\+03 to 2e\\+03: give the images"):
        add(tmp_path / "signed.npz", "refused")


def with_ink(ink, side):
    """A square of ink in the middle of a clear picture of 12 pixels."""
    pixels = np.zeros((12, 12, 4), np.uint8)
    start = (12 - side) // 2
    pixels[start : start + side, start : start + side] = (*ink, 255)
    return Image.fromarray(pixels)


def test_light_ink_on_a_clear_ground_is_put_on_black_all_over(tmp_path, add):
    # Also the one that covers so much that it would pass for a page by itself.
    sides = [4, 5, 6, 7, 8, 11, 4, 5, 6, 7, 8, 4]
    root = write_folder(tmp_path / "ink", (with_ink((255, 255, 255), side) for side in sides))
    report = add(root)
    assert "they are put on black" in " ".join(report.note.said)
    found = datasets.load_dataset("pets")
    every = np.concatenate([found.train_images, found.test_images])
    white = sorted((every[..., 0] == 255).sum(axis=(1, 2)).tolist())
    assert white == sorted(side * side for side in sides)
    assert set(np.unique(every)) == {0, 255}
    assert sorted(map(bytes, every[..., 0])) == predicted(root)
    arrays = np.stack([np.asarray(with_ink((255, 255, 255), side)) for side in sides])
    np.savez(tmp_path / "ink.npz", images=arrays, labels=LABELS)
    add(tmp_path / "ink.npz", "arrays")
    assert sorted(map(bytes, every)) == kept_pictures("arrays")


def test_dark_and_coloured_ink_stays_on_white_and_only_what_would_be_blank_does_not(tmp_path, add):
    inks = [(0, 0, 0), (255, 255, 0), (200, 30, 30), (255, 255, 255)] * 3
    root = write_folder(tmp_path / "inks", (with_ink(ink, 6) for ink in inks))
    assert "6 are in light colours" in " ".join(add(root).note.said)
    found = datasets.load_dataset("pets")
    every = np.concatenate([found.train_images, found.test_images])
    corners, middles = every[:, 0, 0], every[:, 6, 6]
    is_white_ink = (middles == 255).all(axis=1)
    assert is_white_ink.sum() == 3
    assert (corners[is_white_ink] == 0).all()
    assert (corners[~is_white_ink] == 255).all()


def test_heic_is_taken_as_pillow_heif_decodes_it(tmp_path, add):
    pillow_heif = pytest.importorskip("pillow_heif")
    rows, columns = np.mgrid[0:64, 0:48]
    for number in range(8):
        folder = tmp_path / "phone" / "ab"[number % 2]
        folder.mkdir(parents=True, exist_ok=True)
        pixels = np.dstack([rows * 3, columns * 4, rows * 0 + 20 * number]).astype(np.uint8)
        pillow_heif.from_pillow(Image.fromarray(pixels)).save(folder / f"{number}.heic")
    add(tmp_path / "phone")
    paths = (tmp_path / "phone").rglob("*.heic")
    truth = [np.asarray(pillow_heif.open_heif(path).to_pillow().convert("RGB")) for path in paths]
    assert kept_pictures() == sorted(one.tobytes() for one in truth)


def test_a_dataset_of_an_earlier_version_is_read_by_each_picture(draw, add, data):
    add(draw({"a": 4, "b": 4}))
    path = data / "own" / "pets" / custom_registry.NOTE_FILE
    note = custom_registry.read_custom_note("pets")
    text = path.read_text("utf-8")
    for name in ("levels", "ground", "tree"):
        assert f'"{name}"' in text
        text = text.replace(f'"{name}"', f'"{name}_not"', 1)
    assert load_dataset_levels("pets", "another fingerprint") == STANDARD_LEVELS
    assert load_dataset_levels("pets", note.fingerprint) == STANDARD_LEVELS
    assert load_dataset_levels("digits", "") == STANDARD_LEVELS


@pytest.mark.parametrize("kind", ["arrays", "files"])
def test_an_even_sample_of_many_transparent_pictures_is_examined(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(array_levels, "MAX_CLEAR_PICTURES", 4)
    monkeypatch.setattr(picture_survey, "MAX_CLEAR_PICTURES", 4)
    pictures = np.full((10, 6, 6, 4), 255, np.uint8)
    pictures[:, 0, 0, 3] = 0
    pictures[[1, 2, 4, 5, 7, 8], 1:, 1:, :3] = 40
    notes: list[str] = []
    if kind == "arrays":
        survey = array_levels.ArrayLevelSurvey()
        survey.add("images", iter([pictures[:4], pictures[4:8], pictures[8:]]), 10, 4)
        survey.choose_levels(notes)
    else:
        files = [tmp_path / f"{number}.png" for number in range(10)]
        for file, picture in zip(files, pictures, strict=True):
            Image.fromarray(picture).save(file)
        with ThreadPoolExecutor(1) as pool:
            picture_survey.survey_picture_files(files, pool, notes)
    assert notes[0].startswith("Of 4 transparent pictures that were looked at, 4 are in light colours")
