"""Tables of labels beside pictures, and classes in their names, as people have them."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ensemble.datasets.own import source_lookup
from ensemble.datasets.own.source import DatasetImageFormat, PictureSource
from ensemble.datasets.own.sources.folders.name_layout import compile_class_pattern
from ensemble.errors import ConfigError, DataError

FORM = DatasetImageFormat(5, 5, 1, resize=False)
Grow = Callable[..., Path]


@pytest.fixture
def grow(tmp_path: Path) -> Grow:
    """Saves pictures by their paths; the number of each is that of its first pixel."""
    numbers = iter(range(256))

    def saved(*names: str) -> Path:
        for name in names:
            path = tmp_path / "pets" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            pixels = np.full((5, 5), 200, np.uint8)
            pixels[0, 0] = next(numbers)
            Image.fromarray(pixels).save(path)
        return tmp_path / "pets"

    return saved


def write_rows(path: Path, *rows: Sequence[object], delimiter: str = ",") -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)


def read_by_class(source: PictureSource) -> dict[str, dict[str, list[int]]]:
    """The numbers of the pictures of each split by class."""
    read: dict[str, dict[str, list[int]]] = {}
    for split, labels in source.labels.items():
        pictures = source.iterate_pictures(split, FORM)
        for label, picture in zip(labels, pictures, strict=True):
            assert isinstance(picture, np.ndarray)
            by_class = read.setdefault(split, {})
            by_class.setdefault(source.class_names[label], []).append(int(picture[0, 0, 0]))
    return {split: {name: sorted(each) for name, each in classes.items()} for split, classes in read.items()}


def test_a_table_of_ids_names_the_class_and_pictures_without_a_row_are_left_out(grow: Grow) -> None:
    """As of Kaggle: names without their ending; those of sample_submission.csv are made up."""
    root = grow("train/a.png", "train/b.png", "train/c.png", "test/d.png", "test/e.png")
    write_rows(root / "train.csv", ("id", "breed"), ("a", "pug"), ("b", "boxer"), ("c", "pug"))
    write_rows(root / "sample_submission.csv", ("id", "breed"), ("d", "pug"), ("e", "pug"))
    source = source_lookup.open_picture_source(str(root))
    assert read_by_class(source) == {"train": {"pug": [0, 2], "boxer": [1]}}
    said = " ".join(source.notes)
    assert "Classes are read from the column breed of train.csv, not from folders." in said
    assert "2 pictures have no row: left out" in said


def test_metadata_of_each_split_and_a_group_column(grow: Grow) -> None:
    """As of Hugging Face's imagefolder, where names are paths from the table on."""
    root = grow("train/x/0.png", "train/x/1.png", "train/2.png", "test/0.png", "test/1.png")
    lines = [
        {"file_name": "x/0.png", "label": "cat", "patient_id": 7},
        {"file_name": "x/1.png", "label": "dog", "patient_id": 8},
        {"file_name": "2.png", "label": "dog", "patient_id": 7},
    ]
    (root / "train" / "metadata.jsonl").write_text("\n".join(map(json.dumps, lines)))
    write_rows(
        root / "test" / "metadata.csv", ("file_name", "label", "patient_id"), ("0.png", "dog", 9), ("1.png", "cat", 7)
    )
    source = source_lookup.open_picture_source(str(root))
    assert read_by_class(source) == {"train": {"cat": [0], "dog": [1, 2]}, "test": {"cat": [4], "dog": [3]}}
    assert {split: sorted(each) for split, each in source.groups.items()} == {"train": [0, 0, 1], "test": [0, 2]}


def test_a_column_says_the_split_and_another_the_name_of_the_class(grow: Grow) -> None:
    root = grow(*(f"images/{number}.png" for number in range(6)))
    rows = [
        (number % 2, f"pets/images/{number}.png", ("Cat", "Dog")[number % 2], part)
        for number, part in enumerate(("train", "train", "valid", "test", "test", "train"))
    ]
    head = ("class id", "filepaths", "labels", "data set")
    write_rows(root / "pets.csv", head, *rows, delimiter=";")
    source = source_lookup.open_picture_source(str(root))
    assert read_by_class(source) == {"train": {"Cat": [0, 2], "Dog": [1, 5]}, "test": {"Cat": [4], "Dog": [3]}}
    assert "validation images become training images" in " ".join(source.notes)


def test_a_column_each_with_a_single_1_is_a_class(grow: Grow) -> None:
    root = grow("images/Train_0.png", "images/Train_1.png", "images/Train_2.png")
    write_rows(
        root / "train.csv", ("image_id", "healthy", "rust"), ("Train_0", 0, 1), ("Train_1", 1, 0), ("Train_2", 0, 1)
    )
    source = source_lookup.open_picture_source(str(root))
    assert read_by_class(source) == {"train": {"healthy": [1], "rust": [0, 2]}}


def test_columns_that_are_classes_keep_their_spelling(grow: Grow) -> None:
    root = grow("a.png", "b.png", "c.png", "d.png")
    rows = [("file", "Sea Lion", "cat", "Cat"), ("a", 1, 0, 0), ("b", 0, 1, 0), ("c", 0, 0, 1)]
    write_rows(root / "labels.csv", *rows, ("d", 0, 0, 1))
    source = source_lookup.open_picture_source(str(root))
    assert source.class_names == ("Cat", "Sea Lion", "cat")
    assert read_by_class(source) == {"train": {"Sea Lion": [0], "cat": [1], "Cat": [2, 3]}}


def test_a_table_of_the_test_images_without_classes_is_left_out(grow: Grow) -> None:
    root = grow("train/a.png", "train/b.png", "test/c.png")
    write_rows(root / "train.csv", ("image", "label", "w"), ("a", 1, 9), ("b", 2, 9))
    write_rows(root / "test.csv", ("image", "w", "h"), ("c", 9, 9))
    source = source_lookup.open_picture_source(str(root))
    assert read_by_class(source) == {"train": {"1": [0], "2": [1]}}
    assert "test.csv has no column of classes and is left out." in source.notes


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("file", "a", "b"), ("0.png", "x", "y")], "has the columns a, b beside that of the"),
        ([("file", "age"), ("0.png", 20.5), ("1.png", 31.25)], "numbers to predict, not classes"),
        ([("file", "label"), ("8.png", "x"), ("9.png", "y")], "No row of labels.csv is of a"),
        ([("file", "label"), ("0.png", "x"), ("0.png", "y")], "Line 3 of labels.csv gives"),
        ([("file", "label"), ("0.png", "x"), ("1.png", "y", "z")], "labels.csv: its line 3 has 3 cells"),
        ([("file", "label"), ("0", "x"), ("1", "y"), ("2", "x")], "2 pictures are called '2'"),
        (
            [("file", "label", "patient_id"), ("0.png", "x", "p"), ("1.png", "y", "")],
            "names the group of 1 of 2 pictures",
        ),
    ],
)
def test_what_does_not_fit_is_said(grow: Grow, rows: list[Sequence[object]], said: str) -> None:
    root = grow("0.png", "1.png", "2.png", "in/2.png")
    write_rows(root / "labels.csv", *rows)
    with pytest.raises(DataError, match=said.replace(".", r"\.")):
        source_lookup.open_picture_source(str(root))


def test_rows_without_a_picture_or_a_class_are_said(grow: Grow) -> None:
    root = grow("0.png", "1.png", "2.png")
    rows = [("0.png", "x"), ("1.png", "y"), ("2.png", ""), ("7.png", "x")]
    write_rows(root / "labels.csv", ("file", "label"), *rows)
    notes = " ".join(source_lookup.open_picture_source(str(root)).notes)
    assert "1 row is without a class and left out." in notes
    assert "1 row is of no picture that is there: 7.png." in notes


def test_class_folders_stand_where_no_table_is_of_them(grow: Grow) -> None:
    root = grow("cat/0.png", "cat/1.png", "dog/2.png")
    write_rows(root / "hyperparameters.csv", ("name", "value"), ("rate", 0.1), ("epochs", 3))
    source = source_lookup.open_picture_source(str(root))
    assert read_by_class(source) == {"train": {"cat": [0, 1], "dog": [2]}}


@pytest.mark.parametrize(
    ("pattern", "name", "found"),
    [
        ("{class}.#", "cat.12", "cat"),
        ("{class}_#", "american_bulldog_7", "american_bulldog"),
        ("#_{class}_*", "12_dog_left_2", "dog_left"),
        ("*-{class}", "2024-01-02-cat", "cat"),
        ("{class} (#)", "Sun (3)", "Sun"),
        ("{class}#", "rose", None),
    ],
)
def test_a_pattern_says_where_the_class_stands(pattern: str, name: str, found: str | None) -> None:
    match = compile_class_pattern(pattern).fullmatch(name)
    assert (match and match[1]) == found


@pytest.mark.parametrize("pattern", ["#", "{class}{class}", "{class}" + "*_" * 6, "{class}" * 30])
def test_a_pattern_names_the_class_once_and_is_short(pattern: str) -> None:
    with pytest.raises(ConfigError, match="is no pattern of a class in a name"):
        compile_class_pattern(pattern)


def test_names_are_asked_about_and_read_by_the_pattern(grow: Grow) -> None:
    names = [f"{kind}.{number}.png" for kind in ("cat", "dog") for number in range(3)]
    root = grow(*(f"train/{name}" for name in names), "test1/1.png", "test1/2.png")
    (root / "test1" / "1.png").rename(root / "test1" / "cat.9.png")
    # As Dogs vs. Cats is packed: these are no classes "train" and "test1".
    with pytest.raises(DataError, match=r"cat 3, dog 3.*set --class-pattern to \{class\}\.#\."):
        source_lookup.open_picture_source(str(root))
    source = source_lookup.open_picture_source(str(root), class_pattern="{class}.#")
    assert read_by_class(source) == {"train": {"cat": [0, 1, 2], "dog": [3, 4, 5]}, "test": {"cat": [6]}}
    with pytest.raises(DataError, match="No picture's name fits"):
        source_lookup.open_picture_source(str(root), class_pattern="x{class}")
    with pytest.raises(ConfigError, match="give their folder"):
        source_lookup.open_picture_source(str(root / "train" / names[0]), class_pattern="{class}")


@pytest.mark.parametrize(
    ("text", "encoding", "said"),
    [
        ("sep=;\nfile;label\n0.png;Käfer\n1.png;Baum\n", "utf-8-sig", ""),
        ("# made by hand\nfile\tlabel\n0.png\tKäfer\n1.png\tBaum\n", "utf-16", "is UTF-16."),
        ("file,label\n0.png,Käfer\n1.png,Baum\n", "cp1252", "was read as cp1252"),
    ],
)
def test_a_table_is_read_as_spreadsheets_write_it(grow: Grow, text: str, encoding: str, said: str) -> None:
    root = grow("0.png", "1.png")
    (root / "labels.csv").write_bytes(text.encode(encoding))
    source = source_lookup.open_picture_source(str(root))
    assert read_by_class(source) == {"train": {"Käfer": [0], "Baum": [1]}}
    assert said in " ".join(source.notes)
    assert bool(said) == ("labels.csv is" in " ".join(source.notes))
