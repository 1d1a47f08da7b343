"""−1, NaN, empty and unknown are no label in whatever holds the labels; of these images nothing is dropped silently."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ensemble import exchange
from ensemble.datasets.own import source_lookup
from ensemble.files.labels import find_missing_labels
from tests.datasets.own.test_shards import PIXELS, write_shard, write_tar

Write = Callable[[Path, Sequence[Any]], None]


def write_arrays(path: Path, labels: Sequence[Any]) -> None:
    np.savez(path, images=PIXELS[: len(labels)], labels=np.array(labels))


def write_csv(path: Path, labels: Sequence[Any]) -> None:
    head = ",".join(["label", *(f"pixel{n}" for n in range(16))])
    rows = [
        f"{'' if label is None else label}," + ",".join(map(str, range(n, n + 16))) for n, label in enumerate(labels)
    ]
    path.write_text("\n".join([head, *rows]) + "\n")


def write_parquet(path: Path, labels: Sequence[Any]) -> None:
    write_shard(path, range(len(labels)), labels)


def write_json_tar(path: Path, labels: Sequence[Any]) -> None:
    write_tar(path, {n: {".json": json.dumps({"label": label}).encode()} for n, label in enumerate(labels)})


def write_text_tar(path: Path, labels: Sequence[Any]) -> None:
    write_tar(path, {n: {".cls": str(label).encode()} for n, label in enumerate(labels)})


NUMBERS = [0, 1, 2, 1, -1, 0]
FLOATS = [0.0, 1.0, 2.0, 1.0, math.nan, 0.0]
NONE = [0, 1, 2, 1, None, 0]
WORDS = ["cat", "dog", "owl", "dog", "unknown", "cat"]
EMPTY = ["cat", "dog", "owl", "dog", "", "cat"]


@pytest.mark.parametrize(
    ("name", "write", "labels"),
    [
        (name, write, labels)
        for name, write, several in (
            ("a.npz", write_arrays, (NUMBERS, FLOATS, WORDS, EMPTY)),
            ("a.csv", write_csv, (NUMBERS, FLOATS, NONE, WORDS)),
            ("a.parquet", write_parquet, (NUMBERS, FLOATS, NONE, WORDS)),
            ("a.tar", write_json_tar, (NUMBERS, FLOATS, NONE)),
            ("a.tar", write_text_tar, (NUMBERS, WORDS)),
        )
        for labels in several
    ],
)
def test_an_image_without_a_label_is_left_out_and_reported(
    tmp_path: Path, name: str, write: Write, labels: Sequence[Any]
) -> None:
    write(tmp_path / name, labels)
    source = source_lookup.open_picture_source(str(tmp_path / name))
    assert source.class_names == (("cat", "dog", "owl") if "cat" in labels else ("0", "1", "2"))
    assert np.bincount(source.labels["train"]).tolist() == [2, 2, 1]
    assert "left out" in " ".join(source.notes)


@pytest.mark.parametrize(
    ("folder", "is_class"), [("unknown", False), ("-1", False), ("NaN", False), ("unknowns", True)]
)
def test_a_folder_that_means_no_label_is_left_out(
    draw: Callable[..., Path], add: Callable[..., Any], folder: str, is_class: bool
) -> None:
    note = add(draw({"cat": 5, "dog": 5, folder: 5})).note
    assert note.class_names == ["cat", "dog", *([folder] if is_class else [])]
    assert (f"{folder} means no label: 5 pictures of it are left out." in " ".join(note.said)) != is_class


@pytest.mark.parametrize(
    ("labels", "names", "missing"),
    [
        ([-1, 1], (), []),
        ([-1, 0, 1], (), ["-1"]),
        ([-2, -1, 0], (), []),
        (["a", "b", "-1", "NaN", "Unknown", "N/A"], (), ["-1", "N/A", "NaN", "Unknown"]),
        (["a", "unknown"], ("a", "unknown"), []),
        (["none", "other", "a"], (), []),
    ],
)
def test_what_is_no_label(labels: Sequence[object], names: Sequence[str], missing: list[str]) -> None:
    assert sorted(find_missing_labels(labels, names)) == missing


@pytest.mark.parametrize(
    "labels", [[0, 1, -1, 0], [0.0, 1.0, math.nan, 0.0], ["a", "b", "unknown", "a"], ["a", "b", "", "a"]]
)
def test_predictions_leave_the_same_examples_out(tmp_path: Path, labels: Sequence[Any]) -> None:
    probabilities = np.tile([[0.75, 0.25], [0.25, 0.75], [0.5, 0.5], [0.6, 0.4]], (2, 1, 1))
    np.savez(tmp_path / "a.npz", probabilities=probabilities, labels=np.array(labels), class_names=np.array(["a", "b"]))
    found = exchange.read_prediction_files([tmp_path / "a.npz"])
    assert found.labels.tolist() == [0, 1, 0]
