"""Files in forms that are not read are called by their right name, with what to do; EMNIST is turned."""

import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ensemble.datasets.own import source_lookup
from ensemble.datasets.own.source import DatasetImageFormat
from ensemble.errors import DataError


def build_torch_file() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("train/data.pkl", pickle.dumps({}))
    return content.getvalue()


def build_numpy_file() -> bytes:
    content = io.BytesIO()
    np.save(content, np.zeros((4, 4)))
    return content.getvalue()


DICOM = bytes(128) + b"DICM" + bytes(9)
FILES = [
    ("scan.dcm", b"", "a file of DICOM", "PNG"),
    ("IM0001", DICOM, "a file of DICOM", "PNG"),
    ("brain.nii.gz", b"", "a file of NIfTI", "PNG"),
    ("brain.img", bytes(344) + b"n+1\0", "a file of NIfTI", "PNG"),
    ("train.tfrecord", b"", "a file of TFRecord", "tfds:NAME"),
    ("train.tfrecord-00000-of-00010", b"", "a file of TFRecord", "tfds:NAME"),
    ("data.mdb", b"", "a file of LMDB", "folder with the name of its class"),
    ("base", bytes(16) + b"\xde\xc0\xef\xbe", "a file of LMDB", "folder with the name of its class"),
    ("train.pt", build_torch_file(), "a file of PyTorch", "torch.load"),
    ("train", build_torch_file(), "a file of PyTorch", "torch.load"),
    ("train.pkl", pickle.dumps({}), "a file of pickle", "np.savez"),
]


@pytest.mark.parametrize("classes", [("",), ("cat", "dog")], ids=["one folder", "a folder for each class"])
@pytest.mark.parametrize(("name", "content", "said", "remedy"), FILES)
def test_a_folder_of_another_form(
    tmp_path: Path, name: str, content: bytes, said: str, remedy: str, classes: tuple[str, ...]
) -> None:
    for each in classes:
        (tmp_path / each).mkdir(exist_ok=True)
        (tmp_path / each / name).write_bytes(content)
    said = said if len(classes) == 1 else said.replace("a file of", "are of")
    with pytest.raises(DataError, match=rf"{said}.*{remedy}"):
        source_lookup.open_picture_source(str(tmp_path))


@pytest.mark.parametrize(("name", "content", "said", "remedy"), FILES)
def test_a_file_of_another_form(tmp_path: Path, name: str, content: bytes, said: str, remedy: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=rf"{name} is {said}.*{remedy}"):
        source_lookup.open_picture_source(str(tmp_path / name))


@pytest.mark.parametrize(("place", "changed"), [(6, 99), (46, 255)])
def test_a_damaged_archive_is_refused(tmp_path: Path, place: int, changed: int) -> None:
    """A later version of zip than Python knows, and a name that is not UTF-8."""
    content = bytearray(build_torch_file())
    entry = content.index(b"PK\1\2")
    content[entry + 9] |= 8  # names are UTF-8
    content[entry + place] = changed
    (tmp_path / "train").write_bytes(content)
    for path in (tmp_path, tmp_path / "train"):
        with pytest.raises(DataError):
            source_lookup.open_picture_source(str(path))


def test_a_folder_of_numpy_files_for_each_class(tmp_path: Path) -> None:
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "0.npy").write_bytes(build_numpy_file())
    with pytest.raises(DataError, match=r"2 files \(0.npy, 0.npy\) are of NumPy with an image each.*np\.stack"):
        source_lookup.open_picture_source(str(tmp_path))


def write_columns(path: Path, names: list[str], draw: Callable[[int], object], label: str = "label") -> None:
    rows = [",".join([str(n % 2), *(str(draw(n * 7 + place)) for place in range(len(names)))]) for n in range(9)]
    path.write_text("\n".join([*([",".join([label, *names])] if names[0] else []), *rows]) + "\n")


@pytest.mark.parametrize(
    ("names", "draw", "is_image"),
    [
        ([f"f{n}" for n in range(16)], lambda n: n / 7, False),
        ([f"feature_{n}" for n in range(36)], lambda n: n % 256, False),
        ([f"V{n}" for n in range(64)], lambda n: n / 7, False),
        ([""] * 16, lambda n: n % 100, False),
        ([f"pixel{n}" for n in range(16)], lambda n: n % 256, True),
        ([f"{row}x{column}" for row in range(4) for column in range(4)], lambda n: n % 256, True),
        ([f"V{n}" for n in range(64)], lambda n: n % 17, True),
        ([""] * 64, lambda n: n % 17, True),
    ],
)
def test_a_table_of_features_is_no_table_of_pixels(
    tmp_path: Path, names: list[str], draw: Callable[[int], object], is_image: bool
) -> None:
    write_columns(tmp_path / "wine.csv", names, draw)
    if is_image:
        assert source_lookup.open_picture_source(str(tmp_path / "wine.csv")).class_names == ("0", "1")
        return
    with pytest.raises(DataError, match=r"may be features.*pixel0.*train --task regression"):
        source_lookup.open_picture_source(str(tmp_path / "wine.csv"))
    with pytest.raises(DataError, match=r"may be features.*pixel0.*train --task regression"):
        source_lookup.open_picture_source(str(tmp_path))


def test_tables_of_emnist_are_turned(tmp_path: Path) -> None:
    write_columns(tmp_path / "emnist-letters-train.csv", [f"pixel{n}" for n in range(16)], lambda n: n % 256)
    (tmp_path / "mnist.csv").write_bytes((tmp_path / "emnist-letters-train.csv").read_bytes())
    form = DatasetImageFormat(4, 4, 1, resize=False)
    turned, plain = (
        np.stack(list(source_lookup.open_picture_source(str(tmp_path / name)).iterate_pictures("train", form)))
        for name in ("emnist-letters-train.csv", "mnist.csv")
    )
    assert (turned == plain.swapaxes(1, 2)).all()
    notes = source_lookup.open_picture_source(str(tmp_path / "emnist-letters-train.csv")).notes
    assert "EMNIST's tables hold images on their side: they were turned upright." in notes
