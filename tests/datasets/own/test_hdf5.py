"""HDF5 with images and labels: at the top or in groups; damaged files and links out of the file are not followed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ensemble.datasets.own import source_lookup
from ensemble.datasets.own.source import DatasetImageFormat
from ensemble.errors import DataError

IMAGES = np.random.default_rng(0).integers(0, 256, (12, 6, 5, 3), np.uint8)
LABELS = np.arange(12) % 3


@pytest.fixture
def h5py() -> Any:
    return pytest.importorskip("h5py")


@pytest.mark.parametrize(
    ("arrays", "classes", "tests"),
    [
        ({"images": IMAGES, "labels": LABELS}, ("0", "1", "2"), 0),
        ({"x": IMAGES, "y": LABELS}, ("0", "1", "2"), 0),
        (
            {
                "train/images": IMAGES[:8],
                "train/labels": LABELS[:8],
                "test/images": IMAGES[8:],
                "test/labels": LABELS[8:],
            },
            ("0", "1", "2"),
            4,
        ),
        (
            {
                "train_set_x": IMAGES[:8],
                "train_set_y": LABELS[:8],
                "test_set_x": IMAGES[8:],
                "test_set_y": LABELS[8:],
                "list_classes": np.array([b"a", b"b", b"c"], object),
            },
            ("a", "b", "c"),
            4,
        ),
        ({"images": IMAGES, "labels": np.array(["cat", "dog", "owl"] * 4, object)}, ("cat", "dog", "owl"), 0),
        ({"images": IMAGES, "labels": np.array([b"cat", b"dog", b"owl"] * 4)}, ("cat", "dog", "owl"), 0),
    ],
)
@pytest.mark.parametrize("name", ["a.h5", "folder/a.hdf5"])
def test_arrays_of_a_file_are_read(
    h5py: Any, tmp_path: Path, arrays: dict[str, Any], classes: tuple[str, ...], tests: int, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    with h5py.File(tmp_path / name, "w") as file:
        for place, array in arrays.items():
            compression = "gzip" if array.ndim > 1 else None
            file.create_dataset(place, data=array, compression=compression)
        file.create_dataset("other", data=np.zeros(3))
    source = source_lookup.open_picture_source(str(tmp_path / name if "/" not in name else tmp_path / "folder"))
    assert source.class_names == classes
    source.survey()
    form = DatasetImageFormat(6, 5, 3, resize=False)
    read = [
        picture
        for split in ("train", "test")
        if split in source.labels
        for picture in source.iterate_pictures(split, form)
    ]
    np.testing.assert_array_equal(np.stack([np.asarray(picture) for picture in read]), IMAGES)
    assert len(source.labels.get("test", ())) == tests
    assert any("not used: “other”" in note for note in source.notes)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda whole: whole[: len(whole) // 2], "a.h5 is damaged or not an HDF5 file"),
        (lambda whole: b"x" * 99, "a.h5 is damaged or not an HDF5 file"),
        (lambda whole: b"", "a.h5 is damaged or not an HDF5 file"),
    ],
)
def test_a_damaged_file_is_refused(h5py: Any, tmp_path: Path, change: Callable[[bytes], bytes], said: str) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["images"], file["labels"] = IMAGES, LABELS
    (tmp_path / "a.h5").write_bytes(change((tmp_path / "a.h5").read_bytes()))
    with pytest.raises(DataError, match=said):
        source_lookup.open_picture_source(str(tmp_path / "a.h5"))


def test_data_outside_the_file_is_not_read(h5py: Any, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(bytes(12 * 36))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["labels"] = LABELS
        file.create_dataset("images", (12, 6, 6), np.uint8, external=str(tmp_path / "secret"))
        file["train_images"] = h5py.ExternalLink(str(tmp_path / "b.h5"), "images")
    with pytest.raises(DataError, match=r"a\.h5 holds labels\. An HDF5 file has to hold images"):
        source_lookup.open_picture_source(str(tmp_path / "a.h5"))


def test_without_h5py_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    (tmp_path / "a.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    with pytest.raises(DataError, match="pip install h5py"):
        source_lookup.open_picture_source(str(tmp_path / "a.h5"))
