"""A folder of folders as people have them: splits, other files, links, classes of any name."""

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ensemble import datasets
from ensemble.errors import DataError


def pixels_in(folder: Path) -> set[bytes]:
    """Every picture below a folder, by its pixels."""
    return {np.asarray(Image.open(path)).tobytes() for path in folder.rglob("*.png")}


def kept_in(images: np.ndarray) -> set[bytes]:
    return {np.ascontiguousarray(one).tobytes() for one in images}


def test_every_picture_comes_out_as_it_is_with_its_class(draw, add):
    root = draw({"dog": 6, "ant": 6, "cat": 6})
    report = add(root, test_share=0.34, noun="pet")
    found = datasets.load_dataset("pets")
    assert (found.class_names, found.noun, found.image_shape) == (("ant", "cat", "dog"), "pet", (9, 7, 3))
    for number, name in enumerate(found.class_names):
        of_class = [
            images[labels == number]
            for images, labels in ((found.train_images, found.train_labels), (found.test_images, found.test_labels))
        ]
        assert [len(one) for one in of_class] == [4, 2]
        assert kept_in(np.concatenate(of_class)) == pixels_in(root / name)
    assert report.counts == {"train": [4, 4, 4], "test": [2, 2, 2]}


def test_another_seed_draws_another_test_set_and_the_same_one_the_same(draw, add):
    root = draw({"a": 20, "b": 20})
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        add(root, name, seed=seed)
    one, two, three = (datasets.load_dataset(name) for name in ("one", "two", "three"))
    assert one.fingerprint == two.fingerprint != three.fingerprint
    assert kept_in(one.test_images) == kept_in(two.test_images) != kept_in(three.test_images)
    # The first images are of all classes, not of the first.
    assert set(one.train_labels[:10].tolist()) == {0, 1}


def test_classes_are_numbered_over_all_splits_together(draw, add):
    # By split, "cat" would be class 1 in one and class 0 in the other.
    draw({"ant": 3, "cat": 2, "dog": 3}, "train")
    root = draw({"cat": 4, "dog": 1}, "test")
    report = add(root)
    assert report.counts == {"train": [3, 2, 3], "test": [0, 4, 1]}
    assert "Without a test image, 1 of the classes: ant." in report.note.said
    assert kept_in(datasets.load_dataset("pets").test_images) == pixels_in(root / "test")


@pytest.mark.parametrize(
    ("splits", "sizes", "said"),
    [
        (("train", "val"), (4, 4), "the validation images become the test set"),
        (("Training", "valid", "testing"), (8, 4), "The validation images become training images"),
    ],
)
def test_images_for_validation_test_where_nothing_else_does(splits, sizes, said, draw, add):
    for split in splits:
        root = draw({"a": 2, "b": 2}, split)
    note = add(root).note
    assert (note.train_size, note.test_size) == sizes
    assert any(said in one for one in note.said)


def test_classes_that_are_numbers_are_in_their_order(draw, add):
    add(draw({str(number): 2 for number in range(12)}), test_share=0.5)
    assert datasets.find_dataset_info("pets").class_names == tuple(map(str, range(12)))


def test_one_folder_around_it_all_makes_no_difference(draw, add):
    root = draw({"a": 3, "b": 3}, "archive/data")
    assert add(root).note.class_names == ["a", "b"]


def test_what_is_no_picture_is_left_out_and_said_and_litter_is_not(draw, add):
    root = draw({"a": 3, "b": 3, "empty": 0, "__MACOSX": 2, ".hidden": 2})
    for name in ("README.txt", "a/notes.csv", "a/Thumbs.db", "a/.DS_Store", "a/._000.png"):
        (root / name).write_bytes(b"x")
    note = add(root).note
    assert (note.class_names, note.train_size + note.test_size) == (["a", "b"], 6)
    said = " ".join(note.said)
    assert "2 files are not pictures of a class and are left out: README.txt, a/notes.csv." in said
    assert "Folders without a picture are not used as classes: empty." in said
    assert not any(word in said for word in ("MACOSX", "Thumbs", "DS_Store", "hidden", "._"))


def test_links_that_lead_out_or_round_are_not_followed(draw, add, tmp_path):
    root = draw({"a": 3, "b": 3})
    Image.fromarray(np.full((9, 7, 3), 77, np.uint8)).save(tmp_path / "secret.png")
    os.symlink(tmp_path / "secret.png", root / "a" / "out.png")
    os.symlink(root, root / "a" / "round")
    os.symlink(root / "b" / "000.png", root / "b" / "within.png")
    os.mkfifo(root / "a" / "pipe.png")  # would be waited for
    report = add(root)
    found = datasets.load_dataset("pets")
    assert len(found.train_images) + len(found.test_images) == 7
    assert not any((images == 77).all(axis=(1, 2, 3)).any() for images in (found.train_images, found.test_images))
    assert any(one.startswith("2 links are not followed") for one in report.note.said)


@pytest.mark.parametrize(
    ("classes", "said"),
    [({}, "pictures of 0 classes,"), ({"a": 3}, "pictures of 1 class,"), ({"a": 3, "b": 0}, "pictures of 1 class,")],
)
def test_fewer_than_two_classes_are_refused_with_what_to_do(classes, said, draw, add, tmp_path):
    (tmp_path / "pictures").mkdir()
    draw(classes)
    with pytest.raises(DataError, match=f"{said}.*a separate folder"):
        add(tmp_path / "pictures")
    assert datasets.registry.list_dataset_names() == datasets.registry.DATASETS


def test_a_name_that_cannot_be_shown_is_put_into_one_line(draw, add):
    root = draw({"a\nb\x1b[31m": 2, "c": 2})
    bad = os.fsencode(root) + b"/\xff"
    os.mkdir(bad)
    for number in range(2):
        os.link(root / "c" / "000.png", bad + b"/%d.png" % number)
    assert add(root, test_share=0.5).note.class_names == ["a b [31m", "c", "\\udcff"]
