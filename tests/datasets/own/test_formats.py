"""Formats in which data sets are published, each compared with an independent reading of a file.

The files are made here, by the description of their format, not by what reads them.
"""

import pickle

import numpy as np
import pytest
from scipy import io

from ensemble import datasets
from ensemble.datasets.own.sources.arrays import array_files, cifar_binary, mat_files
from ensemble.errors import DataError

RNG = np.random.default_rng(0)
GREY = RNG.integers(0, 256, (30, 6, 6), np.uint8)
COLOUR = RNG.integers(0, 256, (40, 32, 32, 3), np.uint8)
DIGITS = (np.arange(40) * 7 % 10).astype(np.uint8)
TEN = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


def write_cifar10(folder, batches=(1, 2, 10), names=True):
    """Batches of ten records each, and a test batch of ten, by the format's own description."""
    folder.mkdir(parents=True)
    files = [*(f"data_batch_{number}.bin" for number in batches), "test_batch.bin"]
    for place, file in enumerate(files):
        content = bytearray()
        for image, label in zip(COLOUR[10 * place : 10 * place + 10], DIGITS[10 * place :], strict=False):
            content.append(label)
            for channel in range(3):
                content += image[:, :, channel].tobytes()
        (folder / file).write_bytes(content)
    if names:
        (folder / "batches.meta.txt").write_text("\n".join([*TEN, "", ""]))
    (folder / "readme.html").write_text("<html>")
    return folder


def test_cifar_10_in_its_binary_version_comes_out_as_it_went_in(tmp_path, add, monkeypatch):
    monkeypatch.setattr(cifar_binary, "BLOCK", 7)  # several blocks, the last one shorter
    write_cifar10(tmp_path / "download" / "cifar-10-batches-bin")
    report = add(tmp_path / "download")  # the only folder in it
    found = datasets.load_dataset("pets")
    assert found.class_names == tuple(TEN)
    assert (found.train_images == COLOUR[:30]).all()
    assert (found.train_labels == DIGITS[:30]).all()
    assert (found.test_images == COLOUR[30:]).all()
    assert (found.test_labels == DIGITS[30:]).all()
    assert report.note.said[0] == (
        "The folder has 3 training files (data_batch_1.bin, data_batch_2.bin, data_batch_10.bin); CIFAR-10 has 5."
    )


def test_cifar_10_without_names_says_that_its_classes_are_numbers(tmp_path, add):
    report = add(write_cifar10(tmp_path / "cifar", batches=(1, 2, 3), names=False))
    assert report.note.class_names == list("0123456789")
    assert any(said.startswith("The classes are numbers: batches.m") for said in report.note.said)


def test_the_fine_labels_of_cifar_100_are_its_classes(tmp_path, add):
    fine = [f"kind {number:02}" for number in range(100)]
    labels = (np.arange(40) * 13 % 100).astype(np.uint8)
    coarse = labels // 5
    for file, places in (("train.bin", range(30)), ("test.bin", range(30, 40))):
        records = [bytes([coarse[n], labels[n]]) + COLOUR[n].transpose(2, 0, 1).tobytes() for n in places]
        (tmp_path / file).write_bytes(b"".join(records))
    (tmp_path / "fine_label_names.txt").write_text("\n".join(fine) + "\n")
    (tmp_path / "coarse_label_names.txt").write_text("\n".join(map(str, range(20))) + "\n")
    report = add(tmp_path)
    found = datasets.load_dataset("pets")
    assert found.class_names == tuple(fine)
    assert (found.train_images == COLOUR[:30]).all()
    assert (found.train_labels == labels[:30]).all()
    assert (found.test_images == COLOUR[30:]).all()
    assert (found.test_labels == labels[30:]).all()
    assert "The fine labels are the classes; the coarse labels are not used." in report.note.said


def test_a_file_of_cifar_of_another_length_is_refused(tmp_path, add):
    path = write_cifar10(tmp_path / "cifar") / "data_batch_2.bin"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"data_batch_2.bin has 30,729 bytes, .* 3,073 for each"):
        add(tmp_path / "cifar")
    with pytest.raises(DataError, match="is a part of CIFAR-10: give the folder"):
        add(path)


class Opened:
    """What runs code when it is unpickled."""

    def __reduce__(self):
        return pytest.fail, ("it was unpickled",)


@pytest.mark.parametrize(
    "names", [("data_batch_1", "test_batch", "batches.meta"), ("train", "test", "meta"), ("cifar-100-python.tar.gz",)]
)
def test_cifar_in_its_python_version_is_never_unpickled(names, tmp_path, add):
    for name in names:
        (tmp_path / name).write_bytes(pickle.dumps(Opened()))
    given = [tmp_path, *(tmp_path / name for name in names if name not in ("train", "test", "meta"))]
    for path in given:
        with pytest.raises(DataError, match=r"nothing is ever unpickled here: .*cifar-10-binary"):
            add(path)


def write_svhn(path, images, labels, **others):
    io.savemat(path, {"X": images.transpose(1, 2, 3, 0), "y": labels.reshape(-1, 1), **others}, do_compression=True)


def test_svhn_comes_out_as_it_went_in(tmp_path, add, monkeypatch):
    monkeypatch.setattr(mat_files, "BLOCK", 7)
    labels = np.where(DIGITS == 0, 10, DIGITS).astype(np.uint8)
    write_svhn(tmp_path / "train_32x32.mat", COLOUR[:20], labels[:20])
    write_svhn(tmp_path / "extra_32x32.mat", COLOUR[20:30], labels[20:30])
    write_svhn(tmp_path / "test_32x32.mat", COLOUR[30:], labels[30:])
    report = add(tmp_path)
    found = datasets.load_dataset("pets")
    assert found.class_names == tuple("0123456789")
    assert (found.train_images == COLOUR[:30]).all()
    assert (found.train_labels == DIGITS[:30]).all()
    assert (found.test_images == COLOUR[30:]).all()
    assert (found.test_labels == DIGITS[30:]).all()
    assert report.note.said[:2] == [
        "The label 10 stands for the digit 0, as in SVHN.",
        "The 10 images of extra_32x32.mat join the training images: take it out of the folder to learn without them.",
    ]


def test_without_a_label_10_nothing_is_said_of_the_digit_0(tmp_path, add):
    labels = (np.arange(len(COLOUR)) % 3 + 1).astype(np.uint8)
    write_svhn(tmp_path / "train_32x32.mat", COLOUR, labels)
    report = add(tmp_path)
    assert report.note.class_names == ["1", "2", "3"]
    assert not [note for note in report.note.said if "digit 0" in note]


def test_one_mat_file_of_other_images_keeps_its_labels(tmp_path, add):
    labels = np.arange(30) % 3 * 5.0
    io.savemat(tmp_path / "a.mat", {"X": GREY.transpose(1, 2, 0) / 255, "y": labels})
    report = add(tmp_path / "a.mat")
    assert report.note.class_names == ["0", "5", "10"]  # 10 is no digit 0 here
    found = datasets.load_dataset("pets")
    every = np.concatenate([found.train_images, found.test_images])[..., 0]
    assert sorted(map(bytes, every)) == sorted(map(bytes, GREY))


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"a": GREY}, r"a.mat holds a, or is cut short\. A \.mat file has to hold X"),
        ({"X": np.array([1, "a"], object), "y": [1, 2]}, "X of a.mat is a cell of MATLAB"),
        ({"X": {"b": GREY}, "y": [1, 2]}, "X of a.mat is a struct of MATLAB"),
        ({"X": GREY, "y": np.arange(7)}, r"X of shape \(30, 6, 6\) and 7 labels"),
        ({"X": GREY, "x_train": GREY, "y": np.arange(30)}, "several arrays of images"),
    ],
    ids=["others", "cell", "struct", "counts", "several"],
)
def test_a_mat_file_that_does_not_fit_is_refused(variables, said, tmp_path, add):
    io.savemat(tmp_path / "a.mat", variables)
    with pytest.raises(DataError, match=said) as error:
        add(tmp_path / "a.mat")
    assert len(str(error.value)) < 300


def test_a_mat_file_is_measured_before_it_is_loaded(tmp_path, add, monkeypatch):
    write_svhn(tmp_path / "a.mat", COLOUR, DIGITS)
    monkeypatch.setattr(mat_files, "MAX_FORTRAN_BYTES", COLOUR.nbytes - 1)
    monkeypatch.setattr(io, "loadmat", lambda *_, **__: pytest.fail("it was loaded"))
    with pytest.raises(DataError, match="takes more than"):
        add(tmp_path / "a.mat")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512), "form 7.3"),
        (b"", "not a .mat file"),
        (b"MATLAB 5.0 MAT-file".ljust(126) + b"\0\1IM" + b"\xff" * 64, "not a .mat file"),
        (b"nothing of the kind" * 40, "not a .mat file"),
    ],
    ids=["HDF5", "empty", "damaged", "text"],
)
def test_what_is_no_mat_file_is_said(content, said, tmp_path, add):
    (tmp_path / "a.mat").write_bytes(content)
    with pytest.raises(DataError, match=said):
        add(tmp_path / "a.mat")


def test_a_mat_file_that_is_cut_short_is_refused(tmp_path, add):
    path = tmp_path / "a.mat"
    for names, said in (("yX", "a.mat is damaged"), ("Xy", "a.mat holds X, or is cut short")):
        arrays = {"X": COLOUR.transpose(1, 2, 3, 0), "y": DIGITS}
        io.savemat(path, {name: arrays[name] for name in names})
        path.write_bytes(path.read_bytes()[:-3000])
        with pytest.raises(DataError, match=said):
            add(path)


@pytest.mark.parametrize(
    ("images", "labels", "test", "tests"),
    [("x_train", "y_train", "x_test", "y_test"), ("train_images", "train_labels", "test_images", "test_labels")],
)
def test_npy_files_are_read_as_an_npz_of_the_same_names(images, labels, test, tests, tmp_path, add, monkeypatch):
    monkeypatch.setattr(array_files, "BLOCK", 500)
    arrays = {
        images: GREY,
        labels: np.arange(30) % 3,
        test: np.asfortranarray(GREY[:7]),
        tests: np.eye(3)[np.arange(7) % 3],
        "class_names": np.array(["oak", "elm", "ash"]),
        "val_images": GREY[:4] / 255,
        "val_labels": np.arange(4) % 3,
    }
    folder = tmp_path / "arrays"
    folder.mkdir()
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    np.savez(tmp_path / "arrays.npz", **arrays)
    for path, name in ((folder, "files"), (tmp_path / "arrays.npz", "archive")):
        report = add(path, name)
        assert report.note.said[0].startswith("The validation images become training images")
        found = datasets.load_dataset(name)
        assert (found.train_images[..., 0] == np.concatenate([GREY, GREY[:4]])).all()
        assert (found.train_labels == [*np.arange(30) % 3, *np.arange(4) % 3]).all()
        assert (found.test_images[..., 0] == GREY[:7]).all()
        assert (found.test_labels == np.arange(7) % 3).all()
        assert found.class_names == ("oak", "elm", "ash")
    assert len({datasets.load_dataset(name).digest for name in ("files", "archive")}) == 1


def test_npy_files_of_python_objects_are_never_unpickled(tmp_path, add):
    np.save(tmp_path / "images.npy", GREY)
    np.save(tmp_path / "labels.npy", np.array([Opened()] * 30), allow_pickle=True)
    with pytest.raises(DataError, match=r"labels of .* cannot be used .*not unpickled"):
        add(tmp_path)
    with pytest.raises(DataError, match="is one array: give the folder"):
        add(tmp_path / "images.npy")
    (tmp_path / "labels.npy").unlink()
    with pytest.raises(DataError, match=r"holds images\. The folder has to hold train_images\.npy"):
        add(tmp_path)


@pytest.mark.parametrize("name", ["train_list.mat", "annotations.mat", "features.npy", "y.csv"])
def test_what_lies_beside_folders_of_pictures_is_left_out(name, draw, add):
    root = draw({"cat": 8, "dog": 8})
    if name.endswith(".mat"):
        io.savemat(root / name, {"list": [1, 2], "labels": [1, 2]})
    elif name.endswith(".npy"):
        np.save(root / name, GREY)
    else:
        (root / name).write_text("file,label\n")
    report = add(root)
    assert report.note.class_names == ["cat", "dog"]
    assert any(name in said for said in report.note.said)


def test_svhn_is_found_beside_its_folders_of_pictures(draw, add):
    root = draw({"train": 2, "test": 2})
    for name in ("train_32x32.mat", "test_32x32.mat"):
        write_svhn(root / name, COLOUR, DIGITS)
    assert add(root).note.train_size == 40


def test_idx_files_are_found_in_the_only_folder_of_a_folder(tmp_path, add):
    folder = tmp_path / "archive" / "mnist"
    folder.mkdir(parents=True)
    for what, array in (("images", GREY), ("labels", (np.arange(30) % 3).astype(np.uint8))):
        shape = b"".join(length.to_bytes(4) for length in array.shape)
        content = bytes([0, 0, 8, array.ndim]) + shape + array.tobytes()
        (folder / f"train-{what}-idx{array.ndim}-ubyte").write_bytes(content)
    add(tmp_path / "archive")
    found = datasets.load_dataset("pets")
    every = np.concatenate([found.train_images, found.test_images])[..., 0]
    assert sorted(map(bytes, every)) == sorted(map(bytes, GREY))
