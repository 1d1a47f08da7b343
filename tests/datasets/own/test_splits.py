"""Which folders are splits: what people call them, where they lie, what is left out and said."""

import shutil

import pytest

from ensemble import datasets
from ensemble.datasets.own.sources.folders.split_names import parse_split_folder
from tests.datasets.own.test_tree import kept_in, pixels_in

CLASSES = {"cat": 3, "dog": 3}


@pytest.mark.parametrize(
    ("train", "test"),
    [
        ("training_set", "test_set"),
        ("seg_train/seg_train", "seg_test/seg_test"),
        ("training_set/training_set", "test_set/test_set"),
        ("X_train", "X_test"),
        ("train_images", "test_images"),
        ("Train/images", "Test/images"),
        ("trainset", "testset"),
        ("train1", "test1"),
        ("MNIST - JPG - training", "MNIST - JPG - testing"),
        ("Training", "PublicTest"),
        ("training_data", "evaluation"),
        ("train", "dev"),
        ("train", "valid"),
        ("archive/train/train", "archive/validation"),
    ],
)
def test_folders_that_people_call_splits_are_none_of_the_classes(train, test, draw, add):
    draw(CLASSES, train)
    root = draw(CLASSES, test)
    report = add(root)
    assert report.note.class_names == ["cat", "dog"]
    assert report.counts == {"train": [3, 3], "test": [3, 3]}
    found = datasets.load_dataset("pets")
    assert kept_in(found.train_images) == pixels_in(root / train)
    assert kept_in(found.test_images) == pixels_in(root / test)
    assert any("Folders are read as splits" in one for one in report.note.said)


@pytest.mark.parametrize(
    ("name", "split", "rest"),
    [
        ("train", "train", ""),
        ("My Test Images", "test", ""),
        ("xTrain", "train", ""),
        ("leaves-val", "val", "leaves"),
        ("devset", "val", ""),
        ("seg_pred", "unlabelled", ""),
        ("test tube", "test", "tube"),
    ],
)
def test_a_name_says_its_split_and_what_else_it_says(name, split, rest):
    said = parse_split_folder(name)
    assert (said.split, said.rest) == (split, rest)


@pytest.mark.parametrize("name", ["cat", "trainer", "restart", "train_test_split", "contest", "0"])
def test_a_name_of_no_split_or_of_two_says_none(name):
    assert parse_split_folder(name) is None


def test_classes_that_are_called_as_splits_stay_classes(draw, add):
    # Means of transport, and laboratory glass: neither holds the classes of the other.
    assert add(draw({"train": 3, "bus": 3, "tram": 3})).note.class_names == ["bus", "train", "tram"]
    shutil.rmtree(draw({}))
    root = draw({"test tube/clean": 3, "test tube/used": 3, "flask": 4})
    assert add(root, "glass").note.class_names == ["flask", "test tube"]


def test_splits_within_classes_are_those_of_all(draw, add):
    draw({"train": 3, "test": 2}, "cat")
    root = draw({"train": 4, "test": 1}, "dog")
    report = add(root)
    assert report.note.class_names == ["cat", "dog"]
    assert report.counts == {"train": [3, 4], "test": [2, 1]}
    assert kept_in(datasets.load_dataset("pets").test_images) == pixels_in(root / "cat" / "test") | pixels_in(
        root / "dog" / "test"
    )
    assert report.note.tree == [
        "pictures",
        "├── cat: 3 training images, 2 test images",
        "└── dog: 4 training images, 1 test image",
    ]


@pytest.mark.parametrize("form", ["{}_{}", "{}-{}", "{} {}"])
def test_folders_that_name_a_class_and_a_split_are_both(form, draw, add):
    names = {"Golden_Retriever": 4, "cat": 3}
    for split, fewer in (("train", 0), ("test", 1)):
        root = draw({form.format(name, split): many - fewer for name, many in names.items()})
    report = add(root)
    assert report.note.class_names == ["Golden_Retriever", "cat"]
    assert report.counts == {"train": [4, 3], "test": [3, 2]}
    assert any("read as a class and a split" in one for one in report.note.said)


def test_a_test_folder_beside_the_classes_is_no_class(draw, add):
    root = draw({**CLASSES, "test": 4})
    report = add(root)
    assert report.note.class_names == ["cat", "dog"]
    assert any("test has 4 pictures without a class" in one for one in report.note.said)
    shutil.rmtree(root)
    draw(CLASSES, "test")
    report = add(draw({"cat": 5, "dog": 5}), "labelled")
    assert report.counts == {"train": [5, 5], "test": [3, 3]}
    shutil.rmtree(root)
    draw(CLASSES, "pictures")
    report = add(draw(CLASSES), "copied")  # as malaria's cell_images/cell_images
    assert (report.note.class_names, report.note.train_size) == (["cat", "dog"], 5)
    assert any("perhaps a copy: it is left out" in one for one in report.note.said)


def test_splits_are_found_beside_other_folders(draw, add):
    draw(CLASSES, "data/train")
    draw(CLASSES, "data/test")
    report = add(draw({"docs": 0}))
    assert report.counts == {"train": [3, 3], "test": [3, 3]}
    report = add(draw({"extra": 2}), "extra")
    assert report.counts == {"train": [3, 3], "test": [3, 3]}
    assert any("holds splits, are left out: docs, extra" in one for one in report.note.said)


def test_other_folders_within_classes_are_taken_together_and_said(draw, add):
    draw({"indoor": 3, "outdoor": 2}, "cat")
    note = add(draw({"indoor": 3, "outdoor": 2}, "dog")).note
    assert (note.class_names, note.train_size + note.test_size) == (["cat", "dog"], 10)
    assert any("Every class holds the folders indoor, outdoor" in one for one in note.said)


def test_folders_of_one_class_alone_are_taken_together_and_said(draw, add):
    draw({"cat": 3, "lynx": 2}, "animal")
    draw({"oak": 3}, "plant")
    report = add(draw({"rock": 3}))
    assert report.note.class_names == ["animal", "plant", "rock"]
    said = "2 classes hold folders (animal: cat, lynx): the pictures within a class are taken"
    assert any(said in sentence for sentence in report.note.said)


@pytest.mark.parametrize(
    ("within", "left"), [("test", "test"), ("seg_pred/seg_pred", "seg_pred/seg_pred"), ("test/unknown", "test")]
)
def test_pictures_that_nothing_labels_are_left_out_and_said(within, left, draw, add):
    draw(CLASSES, "train")
    report = add(draw({".": 4}, within))
    assert report.note.class_names == ["cat", "dog"]
    assert sum(map(sum, report.counts.values())) == 6
    assert any(f"{left} has 4 pictures without a class" in one for one in report.note.said)
    assert f"└── {left} → left out, 4 without a class" in report.note.tree


@pytest.mark.parametrize(
    ("splits", "sizes", "said"),
    [
        (("val", "test"), (6, 6), "the validation images become training images"),
        (("train", "val", "test"), (12, 6), "The validation images become training images"),
        (("train", "dev"), (6, 6), "the validation images become the test set"),
        (("fold1", "fold2", "fold3"), (14, 4), "parts of one set"),
        (("Training", "PublicTest", "PrivateTest"), (6, 12), "PublicTest as test images"),
    ],
)
def test_what_every_split_becomes_is_said(splits, sizes, said, draw, add):
    for split in splits:
        root = draw(CLASSES, split)
    note = add(root).note
    assert (note.class_names, note.train_size, note.test_size) == (["cat", "dog"], *sizes)
    assert any(said in one for one in note.said), note.said


def test_what_was_understood_is_drawn_as_a_tree(draw, add):
    draw(CLASSES, "seg_train/seg_train")
    draw({"cat": 1, "dog": 2}, "seg_test")
    assert add(draw({"x": 0}, "annotations")).note.tree == [
        "pictures",
        "├── seg_train/seg_train → 6 training images",
        "│   ├── cat: 3",
        "│   └── dog: 3",
        "├── seg_test → 3 test images",
        "│   ├── cat: 1",
        "│   └── dog: 2",
        "└── annotations → left out",
    ]
    many = add(draw({f"kind {n}": 2 for n in range(30)}, "many/train"), "many").note.tree
    assert len(many) < 60


def test_what_systems_leave_is_no_class(draw, add):
    litter = dict.fromkeys(("@eaDir", "lost+found", "__MACOSX", ".ipynb_checkpoints"), 2)
    draw(litter, "cat")
    note = add(draw({**CLASSES, **litter})).note
    assert (note.class_names, note.train_size + note.test_size) == (["cat", "dog"], 6)
