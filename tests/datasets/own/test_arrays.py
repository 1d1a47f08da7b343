"""Arrays of others: .npz of any maker and IDX files, compared with the arrays that were written."""

import gzip
import struct
import zipfile

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import datasets
from ensemble.cli.program import main
from ensemble.datasets.label_meanings import LABEL_READINGS
from ensemble.datasets.own.sources.arrays import array_files, idx_files, memory_arrays
from ensemble.datasets.own.sources.arrays.npz_archive import NpzArrays
from ensemble.errors import ConfigError, DataError

RNG = np.random.default_rng(0)
GREY = RNG.integers(0, 256, (30, 6, 5), np.uint8)
COLOUR = RNG.integers(0, 256, (30, 6, 5, 3), np.uint8)
LABELS = np.arange(30) % 3


@pytest.fixture
def saved(tmp_path):
    def save(compressed=False, **arrays):
        path = tmp_path / "arrays.npz"
        (np.savez_compressed if compressed else np.savez)(path, **arrays)
        return path

    return save


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    ("train", "labels", "test", "tests"),
    [("train_images", "train_labels", "test_images", "test_labels"), ("x_train", "y_train", "x_test", "y_test")],
)
def test_arrays_come_out_as_they_went_in(train, labels, test, tests, compressed, saved, add, monkeypatch):
    monkeypatch.setattr(array_files, "BLOCK", 500)  # several blocks, the last one shorter
    add(saved(compressed, **{train: COLOUR, labels: LABELS[:, np.newaxis], test: COLOUR[:7], tests: LABELS[:7]}))
    found = datasets.load_dataset("pets")
    assert (found.train_images == COLOUR).all()
    assert (found.train_labels == LABELS).all()
    assert (found.test_images == COLOUR[:7]).all()
    assert found.class_names == ("0", "1", "2")


def test_without_test_arrays_a_share_of_each_class_is_the_test_set(saved, add):
    report = add(saved(images=GREY, labels=LABELS + 5, class_names=np.array(list("abcdefgh"))))
    assert report.counts == {"train": [0] * 5 + [8] * 3, "test": [0] * 5 + [2] * 3}
    found = datasets.load_dataset("pets")
    every = np.concatenate([found.train_images, found.test_images])[..., 0]
    assert sorted(map(bytes, every)) == sorted(map(bytes, GREY))


def test_images_for_validation_are_learnt_from(saved, add):
    note = add(
        saved(
            train_images=GREY,
            train_labels=LABELS,
            val_images=GREY[:4],
            val_labels=LABELS[:4],
            test_images=GREY[:3],
            test_labels=LABELS[:3],
            notes=np.zeros(2),
        )
    ).note
    assert (note.train_size, note.test_size) == (34, 3)
    assert (datasets.load_dataset("pets").train_images[30:, :, :, 0] == GREY[:4]).all()
    assert note.said[0] == "Arrays of arrays.npz that were not used: “notes”."


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (GREY / 255, GREY),
        (GREY.astype(np.float32), GREY),
        (GREY.astype(np.int64), GREY),
        (GREY > 127, (GREY > 127) * np.uint8(255)),
        (np.asfortranarray(GREY), GREY),
        (GREY.astype(">i2"), GREY),
    ],
    ids=["[0, 1]", "[0, 255]", "int64", "bool", "column by column", "big-endian"],
)
def test_numbers_of_other_kinds_become_bytes_by_a_rule(given, expected, saved, add):
    add(saved(x=given, y=LABELS))
    found = datasets.load_dataset("pets")
    every = np.concatenate([found.train_images, found.test_images])[..., 0]
    assert sorted(map(bytes, every)) == sorted(map(bytes, np.ascontiguousarray(expected)))


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (np.array(["oak", "elm", "ash"] * 10), ("ash", "elm", "oak")),
        (np.eye(3)[LABELS], ("0", "1", "2")),
        (LABELS * 40.0, ("0", "40", "80")),
    ],
    ids=["text", "one-hot", "whole floats"],
)
def test_labels_may_be_text_one_hot_or_have_gaps(labels, classes, saved, add):
    report = add(saved(x=GREY, y=labels))
    assert (tuple(report.note.class_names), report.counts["test"]) == (classes, [2, 2, 2])


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"a": GREY, "b": LABELS}, "holds a, b. It has to hold train_images"),
        ({"x": GREY, "y": LABELS[:9]}, "30 train images and 9 labels"),
        ({"x": COLOUR.transpose(0, 3, 1, 2), "y": LABELS}, r"transpose\(0, 2, 3, 1\)"),
        ({"x": GREY[:, 0], "y": LABELS}, r"shape \(30, 5\)"),
        ({"x": GREY - 100.0, "y": LABELS}, "numbers from -100 to 155"),
        ({"x": GREY * np.nan, "y": LABELS}, "NaN"),
        ({"x": GREY, "y": LABELS * 0}, "1 classes"),
        ({"train_images": GREY, "train_labels": LABELS, "test_images": GREY}, "arrays.npz holds train_images, "),
        ({"x": GREY, "y": LABELS / 2}, "not whole numbers"),
        ({"x": np.array([None] * 30), "y": LABELS}, "x of arrays.npz cannot be used"),
        ({"x": GREY, "y": LABELS, "class_names": np.array(["a", "b"])}, "labels outside its 2 class_n"),
        ({"x": np.zeros((1200, 4, 4), np.uint8), "y": np.arange(1200)}, "1,200 classes"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_in_one_sentence(arrays, said, saved, add):
    with pytest.raises(DataError, match=said) as error:
        add(saved(**arrays))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_an_array_that_says_more_than_its_file_holds_is_refused_before_it_is_made(tmp_path, add):
    header = "{'descr': '|u1', 'fortran_order': False, 'shape': (4000000000, 1000, 1000), }"
    text = header.ljust(117).encode() + b"\n"
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\1\0" + struct.pack("<H", 118) + text)
        archive.writestr("y.npy", b"")
    with pytest.raises(DataError, match=r"x of bomb.npz cannot be used"):
        add(tmp_path / "bomb.npz")


def test_a_file_that_is_cut_short_is_refused(saved, add, tmp_path):
    path = saved(x=GREY, y=LABELS)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match=r"arrays.npz is damaged, truncated or not an .npz"):
        add(path)


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("names", ["{0}-{1}-idx{2}-ubyte", "emnist-x-{0}-{1}-idx{2}-ubyte"])
def test_idx_files_of_any_size_come_out_as_they_went_in(names, zipped, tmp_path, add):
    folder = tmp_path / "files"
    folder.mkdir()
    for split, count in (("train", 30), ("t10k", 8)):
        for what, array in (("images", GREY[:count]), ("labels", LABELS[:count].astype(np.uint8))):
            header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
            content = header + array.tobytes()
            name = names.format(split, what, array.ndim) + (".gz" if zipped else "")
            (folder / name).write_bytes(gzip.compress(content) if zipped else content)
    add(folder)
    found = datasets.load_dataset("pets")
    upright = GREY.swapaxes(1, 2) if names.startswith("emnist") else GREY
    assert (found.train_images[..., 0] == upright).all()
    assert (found.test_images[..., 0] == upright[:8]).all()
    assert (found.test_labels == LABELS[:8]).all()
    images = next(folder.glob("*train-images*"))
    images.write_bytes(images.read_bytes()[:-9])
    with pytest.raises(DataError, match="damaged or truncated"):
        add(folder, "again")
    assert datasets.registry.list_dataset_names()[4:] == ("pets",)


@pytest.mark.parametrize(
    ("names", "labels", "note"),
    [
        ([1, 2, 3], LABELS % 2 + 1, "read as names of classes"),
        ([3, 2, 1, 0], 3 - LABELS, "read as names of classes"),
        ([1.0, 2.0, 3.0], LABELS + 1.0, "read as names of classes"),
        (["7", "5", "3"], 7 - 2 * LABELS, "read as names of classes"),
        (["02", "01", "00"], LABELS, "read as names of classes"),  # 01 is 1
        (["a", "b", "c"], LABELS, ""),
    ],
)
def test_labels_that_stand_among_the_names_are_names(saved, add, names, labels, note):
    report = add(saved(images=GREY, labels=labels, class_names=np.array(names)))
    found = datasets.load_dataset("pets")
    assert found.class_names == tuple(str(name).removesuffix(".0") for name in names)
    spelt = {int(float(name)): name for name in found.class_names} if note else {}
    expected = {
        bytes(image): spelt.get(int(label)) if note else names[label] for image, label in zip(GREY, labels, strict=True)
    }
    for images, numbers in ((found.train_images, found.train_labels), (found.test_images, found.test_labels)):
        for image, number in zip(images, numbers, strict=True):
            assert found.class_names[number] == expected[bytes(image[..., 0])]
    assert (
        any(note in text for text in report.note.said)
        if note
        else not any("labels" in text.lower() for text in report.note.said)
    )


def test_labels_that_seem_to_count_from_1_are_said(saved, add):
    names = np.array(["disc", "square", "cross"])
    report = add(saved(images=GREY, labels=LABELS % 2 + 1, class_names=names))
    assert any("No image is labelled 0 (“disc”)" in note for note in report.note.said)
    with pytest.raises(DataError, match="labels from 1 to 3: subtract 1") as refused:
        add(saved(images=GREY, labels=LABELS + 1, class_names=names))
    assert "`--labels from-1`" in str(refused.value)


def test_labels_that_are_numbers_in_text_count_classes(saved, add):
    names = np.array(["disc", "square", "cross"])
    report = add(saved(images=GREY, labels=LABELS.astype(str), class_names=names))
    assert report.note.class_names == names.tolist()
    assert report.counts == {"train": [8, 8, 8], "test": [2, 2, 2]}


def test_labels_are_read_as_was_chosen_and_the_other_way_is_said(saved, add):
    names = np.array([2, 1, 0])
    path = saved(images=GREY, labels=LABELS, class_names=names)
    expected = {"": 2 - LABELS, "names": 2 - LABELS, "positions": LABELS}
    for number, (reading, places) in enumerate(expected.items()):
        report = add(path, f"pets_{number}", labels_as=reading)
        found = datasets.load_dataset(f"pets_{number}")
        wanted = {bytes(image): place for image, place in zip(GREY, places, strict=True)}
        for images, labels in ((found.train_images, found.train_labels), (found.test_images, found.test_labels)):
            assert [wanted[bytes(image[..., 0])] for image in images] == labels.tolist()
        said = " ".join(report.note.said)
        taken, other = ("positions", "names") if reading == "positions" else ("names", "positions")
        assert f"Labels were read as {LABEL_READINGS[taken]}; they could be" in said
        assert f"`--labels {other}`" in said
    shifted = saved(images=GREY, labels=LABELS + 1, class_names=np.array(["a", "b", "c"]))
    assert add(shifted, "shifted", labels_as="from-1").counts["train"] == [8, 8, 8]
    with pytest.raises(DataError, match="cannot be read as names of classes"):
        add(path.with_name(shifted.name), "no", labels_as="names")
    with pytest.raises(DataError, match="has no class_names"):
        add(saved(images=GREY, labels=LABELS), "no", labels_as="positions")
    with pytest.raises(ConfigError, match="labels_as is 'ones'"):
        add(path, "no", labels_as="ones")


def test_where_labels_are_names_anyway_the_option_is_refused(draw, add):
    with pytest.raises(ConfigError, match="--labels is for labels in arrays"):
        add(draw({"a": 3, "b": 3}), labels_as="names")


def test_the_command_takes_the_option_and_says_what_was_taken(saved):
    path = saved(images=GREY, labels=LABELS, class_names=np.array([2, 1, 0]))
    command = ["data", "add", "pets", str(path), "--labels", "positions"]
    added = CliRunner().invoke(main, command)
    assert added.exit_code == 0
    assert "Labels were read as positions of classes from 0" in added.stderr


@pytest.mark.parametrize("names", [None, ["disc", "square", "cross"]])
def test_minus_one_is_no_class_and_its_images_are_left_out(saved, add, names, monkeypatch):
    monkeypatch.setattr(array_files, "BLOCK", 100)
    labels = np.where(np.arange(30) % 5 == 3, -1, LABELS)
    more = {} if names is None else {"class_names": np.array(names)}
    report = add(
        saved(
            train_images=GREY,
            train_labels=labels,
            test_images=GREY[:9],
            test_labels=labels[:9],
            train_groups=np.arange(30),
            test_groups=np.arange(9) + 40,
            **more,
        )
    )
    found = datasets.load_dataset("pets")
    assert (found.train_images[..., 0] == GREY[labels >= 0]).all()
    assert (found.train_labels == labels[labels >= 0]).all()
    assert len(found.test_images) == 7
    assert found.class_names == tuple(names or "012")
    assert "8 images of arrays.npz have no label (−1) and were left out." in report.note.said


def test_numbers_in_one_split_and_the_same_as_text_in_another_are_the_same_classes(saved, add):
    images, labels = GREY[:12], LABELS[:12]
    path = saved(train_images=images, train_labels=labels, test_images=images, test_labels=labels.astype(str))
    add(path)
    found = datasets.load_dataset("pets")
    assert found.class_names == ("0", "1", "2")
    np.testing.assert_array_equal(found.train_labels, found.test_labels)


@pytest.mark.parametrize("where", ["memory", "npz", "idx"])
def test_image_blocks_fill_the_memory_limit(where, saved, tmp_path, monkeypatch):
    for module in (array_files, idx_files, memory_arrays):
        monkeypatch.setattr(module, "BLOCK", 500)  # of 30 bytes each, 16 pictures
    if where == "memory":
        blocks = memory_arrays.MemoryArrays({"images": GREY}).iterate_blocks("images")
    elif where == "npz":
        blocks = NpzArrays(saved(images=GREY)).iterate_blocks("images")
    else:
        for name, array in (("images-idx3", GREY), ("labels-idx1", LABELS.astype(np.uint8))):
            header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
            (tmp_path / f"train-{name}-ubyte").write_bytes(header + array.tobytes())
        blocks = idx_files.IdxSource(tmp_path)._iterate_blocks("train")
    assert [len(block) for block in blocks] == [16, 14]
