"""Tables of pixels in the forms in which they are found, compared with the arrays behind them."""

import csv
import gzip

import numpy as np
import pandas as pd
import pytest

from ensemble import datasets
from ensemble.datasets.own.sources.tables import csv_rows, pixel_table
from ensemble.errors import DataError

RNG = np.random.default_rng(0)
GREY = RNG.integers(0, 256, (30, 6, 6), np.uint8)
COLOUR = RNG.integers(0, 256, (30, 4, 4, 3), np.uint8)
LABELS = np.arange(30) % 3
NAMES = [f"pixel{number}" for number in range(36)]


def build_table(images=GREY, labels=LABELS, names=None):
    """A frame with the label first, then a column for each pixel."""
    pixels = images.reshape(len(images), -1)
    frame = pd.DataFrame(pixels, columns=names or [f"pixel{n}" for n in range(pixels.shape[1])])
    frame.insert(0, "label", labels)
    return frame


def check_pets(images=GREY, labels=LABELS, class_names=("0", "1", "2")):
    """The dataset has all of these images with their labels, 24 to train and 6 to test."""
    found = datasets.load_dataset("pets")
    assert found.class_names == class_names
    assert (len(found.train_images), len(found.test_images)) == (24, 6)
    expected = {image.tobytes(): label for image, label in zip(images, labels, strict=True)}
    for some, numbers in ((found.train_images, found.train_labels), (found.test_images, found.test_labels)):
        for image, number in zip(some, numbers, strict=True):
            assert found.class_names[number] == str(expected.pop(image.tobytes()))
    assert not expected


@pytest.mark.parametrize(("separator", "zipped"), [(",", False), (",", True), (";", False), ("\t", False)])
def test_a_table_as_on_kaggle_comes_out_as_it_went_in(separator, zipped, tmp_path, add, monkeypatch):
    monkeypatch.setattr(pixel_table, "BLOCK", 200)  # several blocks, the last one shorter
    path = tmp_path / ("mnist.csv.gz" if zipped else "mnist.csv")
    text = build_table().to_csv(index=False, sep=separator).encode()
    path.write_bytes(gzip.compress(text) if zipped else text)
    report = add(path)
    check_pets()
    levels, share = report.note.said  # nothing else was assumed
    assert "0 is taken as black and 255 (8 bits) as white" in levels
    assert share.startswith("There are no test images")


def test_the_label_is_found_by_its_name_wherever_it_stands(tmp_path, add):
    frame = build_table(labels=np.array(["oak", "elm", "Ölbaum"])[LABELS])
    frame = frame[[*NAMES, "label"]].rename(columns={"label": "Class"})
    frame.insert(0, "id", range(30))
    frame.to_csv(tmp_path / "a.csv", quoting=csv.QUOTE_ALL, encoding="cp1252", index=False)
    report = add(tmp_path / "a.csv")
    check_pets(labels=frame["Class"], class_names=("elm", "oak", "Ölbaum"))
    assert report.note.said[0] == "Columns that were not used: “id”."


@pytest.mark.parametrize("last", [False, True])
def test_a_table_without_names_has_its_label_first_unless_that_never_changes(last, tmp_path, add):
    images = GREY.copy()
    images[:, 0, 0] = images[:, -1, -1] = 0
    frame = build_table(images)
    if last:
        frame = frame[[*NAMES, "label"]]
    frame.to_csv(tmp_path / "a.csv", index=False, header=False)
    report = add(tmp_path / "a.csv")
    check_pets(images)
    assert report.note.said[0] == (
        f"The table does not name its columns: the {'last' if last else 'first'} is taken as the "
        "label, the others as pixels."
    )


def test_a_header_of_numbers_is_no_picture(tmp_path, add):
    array = np.column_stack([LABELS, GREY.reshape(30, -1)])
    pd.DataFrame(array).to_csv(tmp_path / "a.csv", index=False)
    add(tmp_path / "a.csv")
    check_pets()


@pytest.mark.parametrize("form", ["pixel{}", "{}x{}", "p_{}_{}"])
def test_pixels_are_put_in_the_order_of_their_names(form, tmp_path, add):
    names = [form.format(n) if form.count("{}") == 1 else form.format(n // 6 + 1, n % 6 + 1) for n in range(36)]
    frame = build_table(names=names)
    frame[["label", *RNG.permutation(names)]].to_csv(tmp_path / "a.csv", index=False)
    report = add(tmp_path / "a.csv")
    check_pets()
    assert report.note.said[0] == ("The columns of the pixels are read in the order of their numbers.")


def test_three_squares_of_pixels_are_colours_side_by_side(tmp_path, add):
    build_table(COLOUR).to_csv(tmp_path / "a.csv", index=False)
    report = add(tmp_path / "a.csv")
    check_pets(COLOUR)
    assert report.note.said[0].startswith(
        "The pixels are taken row by row, with red, green and blue of each side by side"
    )


def test_colours_that_the_names_tell_are_not_assumed(tmp_path, add):
    planes = COLOUR.transpose(0, 3, 1, 2)
    names = [f"{channel}{number}" for channel in "rgb" for number in range(16)]
    build_table(planes, names=names).to_csv(tmp_path / "a.csv", index=False)
    report = add(tmp_path / "a.csv")
    check_pets(COLOUR)
    assert not any("side by side" in sentence for sentence in report.note.said)


def test_tables_for_training_and_testing_lie_in_a_folder(tmp_path, add):
    build_table().to_csv(tmp_path / "sign_mnist_train.csv", index=False)
    build_table(GREY[::-1][:9], LABELS[::-1][:9]).to_csv(tmp_path / "sign_mnist_test.csv", index=False)
    (tmp_path / "american_sign_language.PNG").write_bytes(b"")
    add(tmp_path)
    found = datasets.load_dataset("pets")
    assert (found.train_images[..., 0] == GREY).all()
    assert (found.train_labels == LABELS).all()
    assert (found.test_images[..., 0] == GREY[::-1][:9]).all()
    assert (found.test_labels == LABELS[::-1][:9]).all()


def test_a_test_table_without_labels_is_left_out_and_said(tmp_path, add):
    build_table().to_csv(tmp_path / "train.csv", index=False)
    build_table().drop(columns="label").to_csv(tmp_path / "test.csv", index=False)
    pd.DataFrame({"ImageId": range(30), "Label": 0}).to_csv(tmp_path / "sample_submission.csv")
    report = add(tmp_path)
    check_pets()
    assert report.note.said[:2] == [
        "test.csv has no labels and is left out.",
        "Tables that hold no pixels are not used: sample_submission.csv.",
    ]
    with pytest.raises(DataError, match=r"test\.csv has no column of labels"):
        add(tmp_path / "test.csv", "again")
    with pytest.raises(DataError, match=r"sample_submission\.csv is not a table of pixels"):
        add(tmp_path / "sample_submission.csv", "again")


def test_beside_folders_of_pictures_other_numbers_are_features(draw, add):
    root = draw({"cat": 8, "dog": 8})
    frame = build_table(names=[f"feature{number}" for number in range(36)])
    frame.to_csv(root / "train.csv", index=False)
    assert add(root).note.class_names == ["cat", "dog"]
    build_table().to_csv(root / "train.csv", index=False)
    assert add(root, "again").note.class_names == ["0", "1", "2"]


def test_several_tables_of_one_split_are_asked_about(tmp_path, add):
    for name in ("small.csv", "large.csv"):
        build_table().to_csv(tmp_path / name, index=False)
    with pytest.raises(DataError, match=r"large\.csv and small\.csv both have train images: give"):
        add(tmp_path)


@pytest.mark.parametrize("space", ["", " "])
def test_fer2013_has_its_pixels_in_one_column_and_its_splits_in_another(space, tmp_path, add):
    images = RNG.integers(0, 256, (40, 8, 8), np.uint8)
    labels = np.arange(40) * 3 % 7
    usage = np.array(["Training"] * 25 + ["PublicTest"] * 5 + ["PrivateTest"] * 10)
    frame = pd.DataFrame(
        {
            "emotion": labels,
            f"{space}Usage": usage,
            f"{space}pixels": [" ".join(map(str, image.ravel())) for image in images],
        }
    ).sample(frac=1, random_state=0)
    frame.to_csv(tmp_path / "fer2013.csv", index=False)
    report = add(tmp_path / "fer2013.csv")
    found = datasets.load_dataset("pets")
    assert found.class_names == (*("Angry", "Disgust", "Fear", "Happy", "Sad", "Surprise", "Neutral"),)
    rows = np.array(frame.index)
    training = [row for row in rows if row < 25] + [row for row in rows if 25 <= row < 30]
    testing = [row for row in rows if row >= 30]
    assert (found.train_images[..., 0] == images[training]).all()
    assert (found.train_labels == labels[training]).all()
    assert (found.test_images[..., 0] == images[testing]).all()
    assert (found.test_labels == labels[testing]).all()
    assert report.note.said[0] == (
        "The labels 0 to 6 are FER2013's emotions: Angry, Disgust, Fear, Happy, Sad, Surprise, Neutral."
    )
    assert "The validation images become training images" in report.note.said[1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda frame: frame.drop(columns="pixel3"), r"35 pixels in each row, .* neither a square"),
        (lambda frame: frame.replace({"pixel3": {frame.pixel3[9]: "x"}}), "36 pixels in line 11:"),
        (lambda frame: frame.assign(split="holdout"), "the word “holdout” for a split in line 2"),
        (lambda frame: frame.assign(pixel3=frame.pixel3 - 300.0), "numbers from -300 to 255"),
        (lambda frame: frame.assign(label=range(30)).iloc[:0], "has no rows below"),
    ],
    ids=["no square", "no number", "split", "range", "empty"],
)
def test_a_table_that_does_not_fit_is_refused_with_its_line(change, said, tmp_path, add):
    frame = build_table()
    frame.loc[0, "pixel3"] = 0
    change(frame).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(DataError, match=said) as error:
        add(tmp_path / "a.csv")
    assert len(str(error.value)) < 300


def test_damaged_and_hostile_files_are_refused(tmp_path, add, monkeypatch):
    text = build_table().to_csv(index=False)
    monkeypatch.setattr(csv_rows, "MAX_LINE", len(text))
    for content, said in (
        (gzip.compress(text.encode())[:-200], "damaged or truncated"),
        (gzip.compress(b"0," * 10**6), "a line of more than"),
        (b"no gzip", "damaged or truncated"),
    ):
        (tmp_path / "a.csv.gz").write_bytes(content)
        with pytest.raises(DataError, match=said):
            add(tmp_path / "a.csv.gz")
    with monkeypatch.context() as patch:
        patch.setattr(csv_rows, "MAX_BYTES", len(text) - 1)
        (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode()))
        with pytest.raises(DataError, match="GB unpacked: add a part"):
            add(tmp_path / "a.csv.gz")
    for content, said in (
        (text.encode("utf-16"), "not text in UTF-8"),
        ((text + "1,2,3\n").encode(), "3 columns in line 32, and 37 in the first"),
        (b"", "not a table of pixels"),
    ):
        (tmp_path / "a.csv").write_bytes(content)
        with pytest.raises(DataError, match=said):
            add(tmp_path / "a.csv")


def test_whole_numbers_that_are_written_as_floats_are_numbers(tmp_path, add):
    build_table(labels=LABELS * 10.0).to_csv(tmp_path / "a.csv", index=False)
    assert add(tmp_path / "a.csv").note.class_names == ["0", "10", "20"]


def test_numbers_and_text_as_labels_of_two_tables_are_all_text(tmp_path, add):
    build_table().to_csv(tmp_path / "train.csv", index=False)
    build_table(labels=np.array(["0", "1", "b"])[LABELS]).to_csv(tmp_path / "test.csv", index=False)
    report = add(tmp_path)
    assert report.note.class_names == ["0", "1", "2", "b"]


def test_table_images_are_read_in_blocks_within_the_memory_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(pixel_table, "BLOCK", 200)  # of 36 pixels each, 5 pictures
    path = tmp_path / "mnist.csv"
    build_table(GREY[:12], LABELS[:12]).to_csv(path, index=False)
    table = pixel_table.find_pixel_table(path)
    table.read_labels(0)
    assert [len(block) for block in table.iterate_images("")] == [5, 5, 2]
