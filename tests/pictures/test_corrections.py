"""Corrections: kept where a person said, once, by any number of processes, and handed back."""

import csv
import io
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image

from ensemble.errors import StorageError
from ensemble.pictures import corrections

IMAGES = np.random.default_rng(0).integers(0, 256, (12, 28, 28, 1), np.uint8)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    chosen = tmp_path / "put right"
    monkeypatch.setenv("ENSEMBLE_CORRECTIONS", str(chosen))
    return chosen


def keep(number: int = 0, label: int = 3) -> bool:
    return corrections.save_correction(IMAGES[number], label, "8", "mnist-1121-093055", 3)


def test_off_unless_a_folder_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("ENSEMBLE_CORRECTIONS", raising=False)
    monkeypatch.chdir(tmp_path)
    assert corrections.find_corrections_folder() is None
    assert corrections.count_corrections() == 0
    for act in (keep, lambda: corrections.delete_correction(IMAGES[0], 3)):
        with pytest.raises(StorageError, match="start the app with ENSEMBLE_CORRECTIONS"):
            act()
    assert list(tmp_path.iterdir()) == []


def test_a_correction_is_kept_once_for_an_image_and_a_label(folder):
    assert not folder.exists()
    assert keep()
    assert not keep()
    assert corrections.save_correction(IMAGES[0].reshape(28, 28), 5, "?", "digits-1", 1)
    assert keep(1)
    assert corrections.count_corrections() == 3
    assert corrections.delete_correction(IMAGES[0], 3)
    assert not corrections.delete_correction(IMAGES[0], 3)
    assert [one.label for one in corrections.iterate_corrections()] == [3, 5]
    other = list(corrections.iterate_corrections())[1]
    assert (other.prediction, other.run_id, other.epoch) == ("?", "digits-1", "1")
    assert (other.image == IMAGES[0]).all()


@pytest.mark.parametrize("image", [IMAGES[0].astype(float), IMAGES[:2], IMAGES[0].repeat(2, -1)])
def test_what_is_no_prepared_image_is_not_kept(folder, image):
    with pytest.raises(ValueError, match="is not a correction"):
        corrections.save_correction(image, 3, "8", "mnist-1", 1)
    with pytest.raises(ValueError, match="labelled -1"):
        keep(label=-1)
    assert not folder.exists()


def test_the_export_is_a_labelled_set(folder):
    for number, label in ((0, 3), (1, 10), (2, 9), (3, 3)):
        keep(number, label)
    content = corrections.export_corrections()
    assert corrections.export_corrections() == content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        arrays = np.load(io.BytesIO(archive.read("images.npz")))
        rows = list(csv.DictReader(io.StringIO(archive.read("labels.csv").decode())))
        pictures = [np.asarray(Image.open(io.BytesIO(archive.read(r["file"])))) for r in rows]
        assert len(archive.namelist()) == 2 + 4
    images, labels = arrays["images"], arrays["labels"]
    assert (images.dtype, labels.dtype) == (np.uint8, np.int32)
    assert labels.tolist() == [3, 3, 9, 10] == [int(row["label"]) for row in rows]
    assert (images[..., 0] == pictures).all()
    assert {image.tobytes() for image in images[:2]} == {IMAGES[0].tobytes(), IMAGES[3].tobytes()}
    assert (images[3] == IMAGES[1]).all()
    assert {(row["said"], row["run_id"], row["epoch"]) for row in rows} == {("8", "mnist-1121-093055", "3")}


def test_an_export_of_nothing_has_the_same_form(folder):
    with zipfile.ZipFile(io.BytesIO(corrections.export_corrections())) as archive:
        arrays = np.load(io.BytesIO(archive.read("images.npz")))
    assert arrays["images"].shape == (0, 28, 28, 1)
    assert arrays["labels"].shape == (0,)


def test_what_is_torn_or_strange_is_skipped_and_what_is_torn_is_mended(folder):
    keep(0)
    keep(1)
    torn = corrections.correction_path(IMAGES[0], 3)
    whole = torn.read_bytes()
    torn.write_bytes(whole[:150])
    (folder / "3" / "large.png").write_bytes(whole + bytes(200_000))
    Image.new("L", (29, 28)).save(folder / "3" / "wide.png")
    Image.new("RGB", (28, 28)).save(folder / "3" / "colour.png")
    (folder / "3" / "empty.png").touch()
    (folder / "3x").mkdir()
    (folder / "3x" / "label.png").write_bytes(whole)
    (folder / "notes.txt").write_text("mine")
    assert corrections.count_corrections() == 1
    assert keep(0)
    assert keep(1) is False
    assert corrections.count_corrections() == 2
    assert torn.read_bytes() == whole


def test_many_at_once_keep_each_correction_whole(folder):
    """They share nothing but the folder, as processes do."""
    with ThreadPoolExecutor(4) as writers:
        list(writers.map(keep, [*range(len(IMAGES))] * 4))
    kept = list(corrections.iterate_corrections())
    assert {one.image.tobytes() for one in kept} == {image.tobytes() for image in IMAGES}
    assert sorted(path.suffix for path in (folder / "3").iterdir()) == [".png"] * len(IMAGES)


def test_a_folder_that_cannot_be_written_is_said(folder):
    folder.write_text("a file, not a folder")
    with pytest.raises(StorageError, match=r"could not be saved in .*put right: "):
        keep()


def test_corrections_of_several_sizes_and_in_colour_are_handed_back_each_by_itself(folder):
    colour = np.random.default_rng(1).integers(0, 256, (2, 16, 24, 3), np.uint8)
    keep()
    for label, image in enumerate(colour):
        assert corrections.save_correction(image, label, "cat", "pets-1", 2)
    with zipfile.ZipFile(io.BytesIO(corrections.export_corrections())) as archive:
        held = {name: np.load(io.BytesIO(archive.read(name))) for name in archive.namelist() if name.endswith(".npz")}
    assert sorted(held) == ["images-16x24x3.npz", "images-28x28x1.npz"]
    np.testing.assert_array_equal(held["images-16x24x3.npz"]["images"], colour)
    assert held["images-16x24x3.npz"]["labels"].tolist() == [0, 1]
    np.testing.assert_array_equal(held["images-28x28x1.npz"]["images"], IMAGES[:1])
