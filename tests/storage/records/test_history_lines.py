"""Lines of a history whose fields are not what they should be are left out; the others stay."""

import json
from pathlib import Path
from typing import Any

import pytest

from ensemble.storage.records.json_lines import read_lines
from ensemble.storage.records.jsonl_tail import JsonlTail

STEPS: dict[str, Any] = {
    "kind": "steps",
    "epoch": 1,
    "step": 3,
    "progress": 0.3,
    "train_loss": [2.0, None],
    "train_accuracy": [0.5, 0.25],
    "ensemble_train_nll": None,
    "seconds": 1.5,
    "img_member_per_s": None,
}
EPOCH = {
    **STEPS,
    "kind": "epoch",
    "step": 10,
    "progress": 1.0,
    "test_loss": [1.5, 2],
    "test_accuracy": [0.75, 1],
    "ensemble_test_nll": 1.0,
    "ensemble_test_accuracy": 1.0,
}
COMPILE = {"kind": "compile", "step": 0, "solve": "with", "devices": 2, "pmap": True, "seconds": 0.0}
ITERATION = {
    "kind": "iteration",
    "step": 1,
    "solve": "with",
    "objective": 0.5,
    "error": None,
    "step_size": 1,
    "evaluations": 3,
    "seconds": 0.01,
}
END = {"kind": "end", "step": 5, "solve": "with", "spread": 0.0}
OTHER = {"kind": "of a later version", "step": 7, "anything": [[]]}
WHOLE = [STEPS, EPOCH, COMPILE, ITERATION, END, OTHER]

SWAPS: list[Any] = ["x", -1, {}, [[1]], True, 1e308, [1, "x"], 10**400]
ODD: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (line, {name: swap})
    for line in (STEPS, EPOCH, COMPILE, ITERATION, END)
    for name in line
    for swap in SWAPS
    if not (name == "pmap" and swap is True)
    if not (name in ("kind", "solve") and swap == "x")  # another kind, another solve
    if not (
        swap == -1
        and name
        in (
            "objective",
            "error",
            "step_size",
            "evaluations",
            "spread",
            "progress",
            "ensemble_train_nll",
            "ensemble_test_nll",
        )
    )
] + [
    (EPOCH, {"test_loss": [1.0]}),
    (EPOCH, {"train_loss": None}),
    (EPOCH, {"test_accuracy": []}),
    (ITERATION, {"seconds": 0}),
    (ITERATION, {"seconds": None}),
    (COMPILE, {"devices": 0}),
]


def written(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_every_kind_of_line_that_is_whole_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "history.jsonl", WHOLE)
    assert read_lines(path) == JsonlTail(path).read_lines() == WHOLE
    # Of another number of members are those that name any.
    assert read_lines(path, members=3) == JsonlTail(path, 3).read_lines() == WHOLE[2:]
    assert read_lines(path, members=2) == WHOLE


def test_an_odd_line_is_left_out_and_the_others_are_read(tmp_path: Path) -> None:
    for line, changes in ODD:
        path = written(tmp_path / "history.jsonl", [STEPS, {**line, **changes}, EPOCH])
        assert read_lines(path) == [STEPS, EPOCH], changes
    for line in (EPOCH, COMPILE, ITERATION):
        for name in set(line) & {"step", "kind", "test_accuracy", "devices", "solve", "seconds"}:
            if (line, name) == (EPOCH, "seconds"):
                continue
            less = {key: value for key, value in line.items() if key != name}
            path = written(tmp_path / "history.jsonl", [STEPS, less, EPOCH])
            assert read_lines(path) == [STEPS, EPOCH], name


@pytest.mark.parametrize("row", [b"[" * 100_000, b'{"kind":' * 100_000, b"9" * 5000, b"NaN"])
def test_a_row_that_breaks_the_reader_of_json_is_a_torn_one(tmp_path: Path, row: bytes) -> None:
    path = written(tmp_path / "history.jsonl", [STEPS])
    with path.open("ab") as file:
        file.write(row + b"\n" + json.dumps(EPOCH).encode() + b"\n")
    assert read_lines(path) == JsonlTail(path).read_lines() == [STEPS, EPOCH]
