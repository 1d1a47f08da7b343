"""Which picture a row means, which rows have no label, and which split a column or list says: as people have them."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from ensemble.datasets.own import source_lookup
from ensemble.datasets.own.sources.folders.folder_source import FolderSource
from ensemble.errors import DataError
from tests.datasets.own.test_label_tables import Grow, grow, write_rows

__all__ = ["grow"]  # a fixture
Found = dict[str, dict[str, list[str]]]


def list_pictures(source: FolderSource, root: Path) -> Found:
    """The paths of the pictures of each split by class."""
    found: Found = {}
    for split, labels in source.labels.items():
        for label, path in zip(labels, source.files[split], strict=True):
            by_class = found.setdefault(split, {})
            by_class.setdefault(source.class_names[label], []).append(path.relative_to(root).as_posix())
    return {split: {name: sorted(paths) for name, paths in classes.items()} for split, classes in found.items()}


def read(root: Path) -> tuple[Found, str]:
    source = source_lookup.open_picture_source(str(root))
    assert isinstance(source, FolderSource)
    return list_pictures(source, root), " ".join(source.notes)


@pytest.mark.parametrize(
    ("pictures", "names", "found", "said"),
    [
        # A path is that path: b's pictures are not a's, whose are gone.
        (["b/0.png", "b/1.png", "c/2.png"], ["a/0.png", "b/1.png", "c/2.png"], [None, "b/1.png", "c/2.png"], "a/0.png"),
        (["b/0.png", "b/1.png"], ["a/0.png", "b/1.png", "b/0.png"], [None, "b/1.png", "b/0.png"], "a/0.png"),
        (["0.png", "1.png"], ["a/0.png", "0.png", "1.png"], [None, "0.png", "1.png"], "a/0.png"),
        (["a/007.png", "b/1.png"], ["a/7", "b/01"], ["a/007.png", "b/1.png"], ""),
        (["b/007.png", "b/1.png"], ["a/7", "b/1", "b/007"], [None, "b/1.png", "b/007.png"], "a/7"),
        (["x/007.png", "x/8.png"], ["7", "08"], ["x/007.png", "x/8.png"], ""),
        (["x/007.png", "x/7.png", "8.png"], ["7", "8"], ["x/7.png", "8.png"], ""),
        (["007.png", "010.png"], ["7.0", "10.0"], ["007.png", "010.png"], ""),
        (["in/0.png", "in/1.png"], ["./in/0.png", "in\\1.png"], ["in/0.png", "in/1.png"], ""),
        (["in/0.png", "in/1.png"], ["pets/in/0.png", "/mnt/pets/in/1"], ["in/0.png", "in/1.png"], ""),
        (
            ["in/0.png", "in/1.png"],
            ["/mnt/x/in/0.png", "/mnt/x/in/1.png"],
            ["in/0.png", "in/1.png"],
            "begin with /mnt/x/",
        ),
        (["0.png", "1.png"], ["C:\\x\\0.png", "C:\\x\\1.png"], ["0.png", "1.png"], "begin with C:/x/"),
    ],
)
def test_a_row_means_the_picture_that_its_path_says(
    grow: Grow, pictures: list[str], names: list[str], found: list[str | None], said: str
) -> None:
    root = grow(*pictures)
    labels = [f"c{place % 2}" for place in range(len(names))]
    write_rows(root / "labels.csv", ("file", "label"), *zip(names, labels, strict=True))
    by_class, notes = read(root)
    expected = {
        label: sorted(p for p, own in zip(found, labels, strict=True) if own == label and p) for label in labels
    }
    assert by_class == {"train": expected}
    assert said in notes


@pytest.mark.parametrize(
    ("pictures", "name", "said"),
    [
        (["a/007.png", "b/7.png"], "07", "2 pictures are called '07': give paths"),
        (["007.png", "07.jpg"], "7", "2 pictures are called '7'"),
        (["a/1.png", "b/1.png"], "1.png", "give paths, such as 'a/1.png'"),
        (["b/1.png", "b/2.png"], "a/1.png", "No row of labels.csv is of a picture"),
        (["b/1.png", "b/2.png"], "a/01", "No row of labels.csv is of a picture"),
    ],
)
def test_a_name_that_several_pictures_have_is_refused(grow: Grow, pictures: list[str], name: str, said: str) -> None:
    root = grow(*pictures)
    write_rows(root / "labels.csv", ("file", "label"), (name, "cat"))
    with pytest.raises(DataError, match=said):
        source_lookup.open_picture_source(str(root))


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["cat", "dog", "-1", "cat"], {"cat", "dog"}),
        (["cat", "dog", "unknown", "Unknown"], {"cat", "dog"}),
        (["0", "1", "NaN", "-1"], {"0", "1"}),
        (["0.0", "1.0", "", "-1.0"], {"0", "1"}),
        (["1.0", "2.0", "nan", "<NA>"], {"1", "2"}),
        (["-1", "1", "-1", "1"], {"-1", "1"}),  # two signs
        (["-2", "-1", "0", "1"], {"-2", "-1", "0", "1"}),
    ],
)
def test_minus_1_nan_empty_and_unknown_are_no_label(grow: Grow, labels: list[str], classes: set[str]) -> None:
    root = grow(*(f"{place}.png" for place in range(len(labels))))
    write_rows(root / "labels.csv", ("file", "label"), *((f"{n}.png", label) for n, label in enumerate(labels)))
    by_class, notes = read(root)
    assert set(by_class["train"]) == classes
    left = sum(label not in classes and label.removesuffix(".0") not in classes for label in labels)
    assert (f"{left} rows are without a class and left out" in notes) == (left > 1)


TRAIN, TEST = ["0.png", "1.png", "2.png"], ["3.png", "4.png"]
SPLIT_COLUMNS: list[tuple[Mapping[str, Sequence[object]], str, str]] = [
    ({"split": ["train", "train", "train", "test", "test"]}, "test", ""),
    ({"Phase": ["TRAIN", "train", "Training", "testing", "Test"]}, "test", ""),
    ({"subset": ["train", "train", "train", "val", "val"]}, "test", "There are no test images: the validation"),
    ({"split": [0, 0, 0, 2, 2]}, "test", "is read as 0 training, 1 validation, 2 test images"),
    ({"partition": ["0.0", "0.0", "1.0", "2.0", "2.0"]}, "test", "is read as 0 training, 1 validation, 2 test images"),
    ({"split": [0, 0, 0, 1, 1]}, "", "The column split of labels.csv is not used as a split: it has 0, 1"),
    ({"split": [2, 2, 2, 0, 1]}, "", "The column split of labels.csv is not used as a split: it has 0, 1, 2"),
    ({"fold": [0, 0, 1, 2, 2]}, "", "The column fold of labels.csv is not used as a split"),
    ({"split": ["a", "a", "b", "b", "b"]}, "", "The column split of labels.csv is not used as a split: it has a, b"),
    ({"split": ["train", "train", "", "test", "test"]}, "test", "The column split of labels.csv is empty in 1 row."),
    (
        {"is_valid": [False, False, False, True, True]},
        "test",
        "The split follows is_valid of labels.csv: 3 training, 2 validation images.",
    ),
    ({"is_test": ["no", "no", "no", "yes", "yes"]}, "test", "The split follows is_test of labels.csv"),
    ({"is_train": [1, 1, 1, 0, 0]}, "test", "The split follows is_train of labels.csv"),
    ({"is_training_image": ["1", "1", "1", "0", "0"]}, "test", "The split follows is_training_image of labels.csv"),
    ({"train": [1, 1, 1, 0, 0], "test": [0, 0, 0, 1, 1]}, "test", "The split follows test and train of labels.csv"),
    ({"is_train": [1, 1, 0, 0, 0], "is_valid": [0, 0, 1, 0, 0]}, "test", "2 training, 1 validation, 2 test images"),
    ({"train": [1, 1, 1, 0, 0]}, "", "Columns of labels.csv that were not used: “train”."),
    ({"is_valid": ["a", "b", "a", "b", "a"]}, "", "Columns of labels.csv that were not used: “is_valid”."),
]


@pytest.mark.parametrize(("columns", "held", "said"), SPLIT_COLUMNS)
def test_a_column_of_splits_is_followed_or_named(
    grow: Grow, columns: Mapping[str, Sequence[object]], held: str, said: str
) -> None:
    root = grow(*TRAIN, *TEST)
    cells = zip(*columns.values(), strict=True)
    rows = [(name, f"c{n % 2}", *row) for n, (name, row) in enumerate(zip([*TRAIN, *TEST], cells, strict=True))]
    write_rows(root / "labels.csv", ("file", "label", *columns), *rows)
    by_class, notes = read(root)
    splits = {split: sorted(path for paths in each.values() for path in paths) for split, each in by_class.items()}
    assert splits == ({"train": TRAIN, held: TEST} if held else {"train": [*TRAIN, *TEST]})
    assert said in notes
    assert notes.count("not used") == said.count("not used")


def write_text(name: str, *lines: str) -> Callable[[Path], None]:
    def write(root: Path) -> None:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("\n".join(lines) + "\n")

    return write


LISTED = ["cat/0.png", "cat/1.png", "cat/2.png", "dog/0.png", "dog/1.png", "dog/2.png"]
SPLIT_LISTS: list[tuple[list[Callable[[Path], None]], str]] = [
    (
        [write_text("train.txt", "cat/0", "cat/1", "dog/0", "dog/1"), write_text("test.txt", "cat/2", "dog/2")],
        "4 training, 2 test",
    ),
    ([write_text("meta/test.txt", "cat/2.png", "dog/2.png")], "4 training, 2 test"),
    ([write_text("testing_list.txt", "cat/2.png", "dog/2.png")], "4 training, 2 test"),
    ([write_text("val.txt", "cat/2.png 0", "dog/2.png 1")], "the validation images become the test set"),
    ([write_text("lists/test.lst", "pets/cat/2.png\t0", "pets/dog/2.png\t1")], "4 training, 2 test"),
    ([write_text("test.json", json.dumps({"cat": ["cat/2"], "dog": ["dog/2"]}))], "4 training, 2 test"),
    (
        [
            write_text(
                "split.json",
                json.dumps(
                    {
                        "train": [["cat/0.png", 0], ["cat/1.png", 0], ["dog/0.png", 1], ["dog/1.png", 1]],
                        "test": [["cat/2.png", 0], ["dog/2.png", 1]],
                    }
                ),
            )
        ],
        "4 training, 2 test",
    ),
    ([write_text("test.csv", "path", "cat/2.png", "dog/2.png")], "4 training, 2 test"),
    (
        [write_text("splits.csv", "path,split", *(f"{p},{'test' if '2' in p else 'train'}" for p in LISTED))],
        "4 training, 2 test",
    ),
    ([write_text("list_eval_partition.txt", *(f"{p} {2 if '2' in p else 0}" for p in LISTED))], "4 training, 2 test"),
    (
        [
            write_text("images.txt", *(f"{n} {path}" for n, path in enumerate(LISTED, start=1))),
            write_text("train_test_split.txt", "1 1", "2 1", "3 0", "4 1", "5 1", "6 0"),
        ],
        "4 training, 2 test",
    ),
]


@pytest.mark.parametrize(("writes", "said"), SPLIT_LISTS)
def test_a_list_of_test_images_is_followed(grow: Grow, writes: list[Callable[[Path], None]], said: str) -> None:
    root = grow(*LISTED)
    for write in writes:
        write(root)
    by_class, notes = read(root)
    assert by_class == {
        "train": {"cat": ["cat/0.png", "cat/1.png"], "dog": ["dog/0.png", "dog/1.png"]},
        "test": {"cat": ["cat/2.png"], "dog": ["dog/2.png"]},
    }
    assert said in notes


@pytest.mark.parametrize(
    ("writes", "said"),
    [
        (
            [write_text("test.txt", "cat/7.png", "dog/8.png")],
            "names 2 pictures that are not there, such as 'cat/7.png'",
        ),
        ([write_text("train.txt", "cat/2"), write_text("test.txt", "cat/2")], "1 picture is in two splits, such as"),
        ([write_text("train.txt", "cat/0", "dog/1")], "it names no test images"),
    ],
)
def test_a_list_that_cannot_be_followed_is_named(grow: Grow, writes: list[Callable[[Path], None]], said: str) -> None:
    root = grow(*LISTED)
    for write in writes:
        write(root)
    by_class, notes = read(root)
    assert by_class == {"train": {"cat": LISTED[:3], "dog": LISTED[3:]}}
    assert "is not followed" in notes
    assert said in notes


def test_pictures_in_no_list_are_left_out(grow: Grow) -> None:
    root = grow(*LISTED)
    write_text("train.txt", "cat/0", "dog/0", "dog/9")(root)
    write_text("test.txt", "cat/2", "dog/2")(root)
    by_class, notes = read(root)
    assert by_class["train"] == {"cat": ["cat/0.png"], "dog": ["dog/0.png"]}
    assert "2 pictures are in no list and left out." in notes
    assert "Of the lists, 1 line names no picture that is there: dog/9." in notes


@pytest.mark.parametrize("has_train_table", [True, False])
def test_a_table_of_the_test_images_has_columns_of_its_own(grow: Grow, has_train_table: bool) -> None:
    """As of the German traffic signs; without a table of the training images folders say their classes."""
    root = grow("Train/0/a.png", "Train/0/b.png", "Train/1/c.png", "Test/d.png", "Test/e.png", "Meta/0.png")
    head = ("Width", "ClassId", "Path")
    write_rows(root / "Test.csv", head, (9, 1, "Test/d.png"), (9, 0, "Test/e.png"))
    if has_train_table:
        write_rows(
            root / "Train.csv", head, *((9, p[6], p) for p in ("Train/0/a.png", "Train/0/b.png", "Train/1/c.png"))
        )
        write_rows(root / "Meta.csv", ("Path", "ClassId"), ("Meta/0.png", 0))
    by_class, notes = read(root)
    assert by_class == {
        "train": {"0": ["Train/0/a.png", "Train/0/b.png"], "1": ["Train/1/c.png"]},
        "test": {"0": ["Test/e.png"], "1": ["Test/d.png"]},
    }
    assert "Columns of Test.csv that were not used: “Width”." in notes
    assert ("Meta.csv names no split" in notes) == has_train_table


def test_captions_are_no_classes(grow: Grow) -> None:
    root = grow(*(f"{n}.png" for n in range(9)))
    write_rows(root / "metadata.csv", ("file_name", "text"), *((f"{n}.png", f"cat number {n}") for n in range(9)))
    with pytest.raises(DataError, match=r"The column text of metadata\.csv has another value in each row"):
        source_lookup.open_picture_source(str(root))
