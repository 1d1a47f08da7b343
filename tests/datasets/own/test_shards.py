"""Parquet of encoded pictures and WebDataset tars, as others write them, against what went in."""

import io
import json
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from ensemble.datasets import load_dataset
from ensemble.datasets.own import source_lookup
from ensemble.datasets.own.source import DatasetImageFormat, PictureSource, UnreadablePicture
from ensemble.datasets.own.sources.encoded import parquet_pictures
from ensemble.errors import DataError

FORM = DatasetImageFormat(6, 5, 3, resize=False)
DRAW = np.random.default_rng(0)
PIXELS = DRAW.integers(0, 256, (12, 6, 5, 3), np.uint8)
BYTES = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def encode_png(pixels: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def write_shard(
    path: Path,
    numbers: Sequence[int],
    labels: Sequence[Any],
    names: Sequence[str] | None = None,
    column: str = "label",
    **more: Sequence[Any],
) -> None:
    """A shard as the library datasets writes it: a struct of bytes, ClassLabel in its metadata."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pictures = [{"bytes": encode_png(PIXELS[n]), "path": f"{n}.png"} for n in numbers]
    arrays = {"image": pa.array(pictures, BYTES), column: pa.array(labels)}
    table = pa.table({**arrays, **{name: pa.array(each) for name, each in more.items()}})
    if names:
        features = {"image": {"_type": "Image"}, column: {"names": list(names), "_type": "ClassLabel"}}
        info = json.dumps({"info": {"features": features}}).encode()
        table = table.replace_schema_metadata({b"huggingface": info})
    pq.write_table(table, path, row_group_size=2)


def add_file(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def write_tar(path: Path, pictures: Mapping[int, Mapping[str, bytes]]) -> None:
    """A shard of pictures by number, each with members beside it by their ending."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as archive:
        for number, beside in pictures.items():
            add_file(archive, f"s{number:04}.png", encode_png(PIXELS[number]))
            for ending, content in beside.items():
                add_file(archive, f"s{number:04}{ending}", content)


def read_numbers(source: PictureSource) -> dict[str, dict[int, str]]:
    """The class of each picture by its number, in each split; pixels have to be as they were."""
    found: dict[str, dict[int, str]] = {}
    source.survey()
    for split, labels in source.labels.items():
        pictures = source.iterate_pictures(split, FORM)
        for label, picture in zip(labels, pictures, strict=True):
            assert not isinstance(picture, UnreadablePicture)
            (number,) = np.flatnonzero((picture == PIXELS).all(axis=(1, 2, 3)))
            found.setdefault(split, {})[int(number)] = source.class_names[label]
    return found


def test_shards_of_hugging_face_are_read_with_the_names_of_their_classes(
    tmp_path: Path, add: Callable[..., Any]
) -> None:
    root = tmp_path / "data" / "pets"
    names = ("cat", "dog", "none of them")
    write_shard(root / "data" / "train-00000-of-00002-0a1b2c3d4e5f.parquet", range(5), [0, 1] * 2 + [0], names)
    write_shard(root / "data" / "train-00001-of-00002-0a1b2c3d4e5f.parquet", [5], [1], names)
    write_shard(root / "data" / "validation-00000-of-00001.parquet", [6, 7], [0, 0], names)
    write_shard(root / "data" / "test-00000-of-00001.parquet", [8, 9, 10], [1, 0, -1], names)
    source = source_lookup.open_picture_source(str(root))
    assert read_numbers(source) == {
        "train": {0: "cat", 1: "dog", 2: "cat", 3: "dog", 4: "cat", 5: "dog", 6: "cat", 7: "cat"},
        "test": {8: "dog", 9: "cat"},
    }
    said = " ".join(source.notes)
    assert "Classes are read from the column label, pictures from image." in said
    assert "validation images become training images" in said
    assert "1 picture has no class and is left out." in said
    add(root)
    data = load_dataset("pets")
    assert data.class_names == ("cat", "dog")
    np.testing.assert_array_equal(data.test_images, PIXELS[[8, 9]])


def test_one_file_of_bytes_with_classes_that_are_text_and_groups(tmp_path: Path) -> None:
    table = pa.table(
        {
            "png": pa.array([encode_png(PIXELS[n]) for n in range(4)]),
            "Class": pa.array(["b", "a", "b", "a"]).dictionary_encode(),
            "patient_id": pa.array([7, 7, 9, 9]),
            "caption": pa.array(["x"] * 4),
        }
    )
    pq.write_table(table, tmp_path / "all.parquet")
    source = source_lookup.open_picture_source(str(tmp_path / "all.parquet"))
    assert read_numbers(source) == {"train": {0: "b", 1: "a", 2: "b", 3: "a"}}
    assert source.groups["train"].tolist() == [0, 0, 1, 1]


def test_fine_classes_are_taken_where_there_are_coarse_ones_too(tmp_path: Path) -> None:
    write_shard(
        tmp_path / "train.parquet",
        range(4),
        [0, 1, 2, 0],
        ("apple", "ant", "pear"),
        "fine_label",
        coarse_label=[0, 1, 0, 0],
    )
    source = source_lookup.open_picture_source(str(tmp_path / "train.parquet"))
    assert source.class_names == ("apple", "ant", "pear")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"text": ["a", "b"], "label": [0, 1]}, "no column of encoded pictures"),
        ({"image": [b"1", b"2"], "caption": [1.5, 2.5]}, "none of which is called label"),
        (
            {"image": pa.array([{"bytes": None, "path": "a"}] * 2, BYTES), "label": [0, 1]},
            "holds the paths of pictures",
        ),
        ({"image": [b"1", b"2"], "label": [0, 0]}, "holds pictures of 1 class, not of 2"),
    ],
)
def test_parquet_without_pictures_or_classes_is_refused(tmp_path: Path, columns: dict[str, Any], said: str) -> None:
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    with pytest.raises(DataError, match=said):
        source_lookup.open_picture_source(str(tmp_path / "x.parquet"))


def test_a_small_parquet_is_not_made_a_large_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_pictures, "MAX_GROUP_BYTES", 2**16)
    columns = {"image": pa.array([bytes(2**18), b"1"]), "label": [0, 1]}
    pq.write_table(pa.table(columns), tmp_path / "x.parquet", compression="zstd")
    assert (tmp_path / "x.parquet").stat().st_size < 2**14
    before = pa.total_allocated_bytes()
    with pytest.raises(DataError, match="save it with smaller ones"):
        source_lookup.open_picture_source(str(tmp_path / "x.parquet"))
    assert pa.total_allocated_bytes() - before < 2**17
    labels = pa.array(["y" * 2**12] * 50 + ["z"])
    pq.write_table(pa.table({"image": [b"1"] * 51, "label": labels}), tmp_path / "y.parquet")
    with pytest.raises(DataError, match="has a text of more than 1,000 characters in label"):
        source_lookup.open_picture_source(str(tmp_path / "y.parquet"))


def test_damaged_and_other_shards_are_refused(tmp_path: Path) -> None:
    write_shard(tmp_path / "train-0.parquet", range(4), [0, 1, 0, 1], ("a", "b"))
    write_shard(tmp_path / "train-1.parquet", range(2), [0, 1], ("a", "c"))
    with pytest.raises(DataError, match=r"train-1\.parquet has other columns or classes than"):
        source_lookup.open_picture_source(str(tmp_path))
    (tmp_path / "train-1.parquet").write_bytes(b"PAR1 and nothing else PAR1")
    with pytest.raises(DataError, match=r"train-1\.parquet: it is damaged, or not a readable Parquet file"):
        source_lookup.open_picture_source(str(tmp_path))


def test_tars_of_pictures_and_classes_are_read_where_they_lie(tmp_path: Path) -> None:
    root = tmp_path / "wds"
    for split, numbers in (("train", range(6)), ("test", range(6, 9))):
        write_tar(root / split / "0.tar", {n: {".cls": b"%d\n" % (n % 3)} for n in numbers})
    (root / "classnames.txt").write_text("zebra\nant\nyak\n")
    source = source_lookup.open_picture_source(str(root))
    names = ("zebra", "ant", "yak")
    assert source.class_names == names
    assert read_numbers(source) == {
        "train": {n: names[n % 3] for n in range(6)},
        "test": {n: names[n % 3] for n in range(6, 9)},
    }
    assert "lines of the list of names" in " ".join(source.notes)


@pytest.mark.parametrize(
    ("listed", "classes", "labels_as", "called"),
    [
        ("2 1 0", "012", "", "012"),  # names go before positions
        ("2 1 0", "012", "positions", "210"),
        ("3 5 7 9", "357", "", "357"),
        ("a b c", "123", "from-1", "abc"),
        ("01 02 03", ("01", "02", "03"), "", ("01", "02", "03")),
    ],
)
def test_numbers_of_classes_beside_a_list_are_names_or_positions(
    tmp_path: Path, listed: str, classes: Sequence[str], labels_as: str, called: Sequence[str]
) -> None:
    root = tmp_path / "wds"
    write_tar(root / "0.tar", {n: {".cls": classes[n % 3].encode()} for n in range(6)})
    (root / "classnames.txt").write_text("\n".join(listed.split()))
    source = source_lookup.open_picture_source(str(root), labels_as=labels_as)
    assert read_numbers(source)["train"] == {n: called[n % 3] for n in range(6)}
    assert "Labels were read as" in " ".join(source.notes)


def test_the_class_in_json_and_pictures_without_one(tmp_path: Path) -> None:
    members = {n: {".json": json.dumps({"label": "ab"[n % 2]}).encode()} for n in range(4)}
    members[0][".txt"] = b"a photograph"
    members[4] = {".txt2": b""}
    write_tar(tmp_path / "pets-train-000000.tar", members)
    source = source_lookup.open_picture_source(str(tmp_path / "pets-train-000000.tar"))
    assert read_numbers(source)["train"] == {0: "a", 1: "b", 2: "a", 3: "b"}
    assert "1 picture has no class and is left out" in " ".join(source.notes)


def test_tars_that_are_none_or_have_no_classes_are_refused(tmp_path: Path) -> None:
    write_tar(tmp_path / "a.tar", {0: {}, 1: {}})
    with pytest.raises(DataError, match="is an archive: unpack it"):
        source_lookup.open_picture_source(str(tmp_path / "a.tar"))
    write_tar(tmp_path / "b.tar", {n: {".cls": b"5"} for n in range(3)})
    with pytest.raises(DataError, match="holds pictures of 1 class, but at least 2"):
        source_lookup.open_picture_source(str(tmp_path / "b.tar"))
    content = (tmp_path / "b.tar").read_bytes()
    (tmp_path / "c.tar").write_bytes(content[:700] + b"\xff" * 900)
    with pytest.raises(DataError):
        source_lookup.open_picture_source(str(tmp_path / "c.tar"))
    (tmp_path / "d.tar").symlink_to("/etc/passwd")
    with pytest.raises(DataError):
        source_lookup.open_picture_source(str(tmp_path / "d.tar"))


@pytest.mark.parametrize(
    ("labels", "said"),
    [([0.5, 1.25, 2.5, 3.75], "holds fractions such as"), ([[0], [1], [0], [1]], "none of which is called label")],
)
def test_labels_that_are_no_classes_are_refused(tmp_path: Path, labels: Sequence[Any], said: str) -> None:
    write_shard(tmp_path / "a.parquet", range(4), labels)
    with pytest.raises(DataError, match=said):
        source_lookup.open_picture_source(str(tmp_path / "a.parquet"))


@pytest.mark.parametrize(
    ("column", "cells", "held"),
    [
        ("split", ["train", "train", "test", "train"], [2]),
        ("is_valid", [False, False, True, False], [2]),
        ("partition", [0, 0, 2, 0], [2]),
        ("caption", ["a", "b", "c", "d"], []),
    ],
)
def test_a_column_of_splits_in_parquet_is_followed_or_named(
    tmp_path: Path, column: str, cells: Sequence[Any], held: list[int]
) -> None:
    write_shard(tmp_path / "a.parquet", range(4), [0, 1, 0, 1], **{column: cells})
    source = source_lookup.open_picture_source(str(tmp_path / "a.parquet"))
    found = read_numbers(source)
    assert list(found.get("test", {})) == held
    assert ("Columns of a.parquet that were not used: “caption”." in source.notes) == (not held)


def save_arrow(path: Path, table: pa.Table, *, is_file: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with (pa.ipc.new_file if is_file else pa.ipc.new_stream)(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


@pytest.mark.parametrize("is_file", [False, True])
def test_what_save_to_disk_writes_is_read(tmp_path: Path, is_file: bool) -> None:
    """Hugging Face's own form: Arrow next to JSON, in a folder for each split; its caches are no pictures."""
    names, root = ("cat", "dog"), tmp_path / "saved"
    for split, numbers in (("train", range(5)), ("test", range(5, 8))):
        write_shard(tmp_path / "a.parquet", numbers, [n % 2 for n in numbers], names)
        table = pq.read_table(tmp_path / "a.parquet")
        save_arrow(root / split / "data-00000-of-00001.arrow", table, is_file=is_file)
        save_arrow(root / split / "cache-0123.arrow", table)
        (root / split / "state.json").write_text("{}")
    source = source_lookup.open_picture_source(str(root))
    assert read_numbers(source) == {
        "train": {n: names[n % 2] for n in range(5)},
        "test": {n: names[n % 2] for n in range(5, 8)},
    }


@pytest.mark.parametrize("content", [b"", b"ARROW1", b"\xff\xff\xff\xff\x00\x01\x00\x00", bytes(64)])
def test_damaged_arrow_is_refused(tmp_path: Path, content: bytes) -> None:
    write_shard(tmp_path / "a.parquet", range(4), [0, 1, 0, 1])
    save_arrow(tmp_path / "whole.arrow", pq.read_table(tmp_path / "a.parquet"))
    whole = (tmp_path / "whole.arrow").read_bytes()
    for name, damaged in {"short.arrow": whole[: len(whole) // 2], "other.arrow": content}.items():
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(DataError, match=name):
            source_lookup.open_picture_source(str(tmp_path / name)).survey()


def test_keys_with_points_are_parted_at_the_last(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for n in range(4):
            add_file(archive, f"scan.v2.{n:04}.png", encode_png(PIXELS[n]))
            add_file(archive, f"scan.v2.{n:04}.cls", str(n % 2).encode())
    source = source_lookup.open_picture_source(str(tmp_path / "a.tar"))
    assert read_numbers(source) == {"train": {n: str(n % 2) for n in range(4)}}


def test_a_description_of_many_kilobytes_is_read_and_a_label_is_not(tmp_path: Path) -> None:
    long = {"text": "x" * 60_000}
    beside = {n: {".json": json.dumps({"label": n % 2, **long}).encode()} for n in range(4)}
    write_tar(tmp_path / "a.tar", beside | {4: {".cls": b"x" * 5_000}})
    source = source_lookup.open_picture_source(str(tmp_path / "a.tar"))
    assert read_numbers(source) == {"train": {n: str(n % 2) for n in range(4)}}
    assert "Too long to name a class, and not read: a.tar/s0004.cls." in source.notes
    assert "1 picture has no class and is left out: a.tar/s0004.png." in source.notes


def test_texts_that_are_captions_are_refused(tmp_path: Path) -> None:
    write_tar(tmp_path / "a.tar", {n: {".txt": f"a picture of cat {n}".encode()} for n in range(9)})
    with pytest.raises(DataError, match="9 different texts for 9 pictures: these are captions, not classes"):
        source_lookup.open_picture_source(str(tmp_path / "a.tar"))
