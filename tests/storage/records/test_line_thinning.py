"""A long history in a bounded number of lines, the same however often it is looked at."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ensemble.storage.records import line_thinning
from ensemble.storage.records.json_lines import append_line, keep_matching_lines, read_lines
from ensemble.storage.records.jsonl_tail import JsonlTail


def steps(step: int) -> dict[str, Any]:
    return {"kind": "steps", "step": step, "train_loss": [1.0 / step, 0.5]}


def end(epoch: int, step: int) -> dict[str, Any]:
    each = {name: [0.5, 0.25] for name in ("train_loss", "test_loss", "test_accuracy")}
    return {"kind": "epoch", "epoch": epoch, "step": step, **each}


def write(path: Path, count: int, every: int) -> None:
    rows = []
    for step in range(1, count + 1):
        rows.append(json.dumps(steps(step)))
        if step % every == 0:
            rows.append(json.dumps(end(step // every, step)))
    path.write_text("".join(row + "\n" for row in rows))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(line_thinning, "MOST_STEP_ROWS", 16)
    return 16


def test_a_short_history_is_whole(tmp_path: Path, few: int) -> None:
    path = tmp_path / "history.jsonl"
    write(path, few, every=5)
    assert JsonlTail(path, 2, thinned=True).read_lines() == read_lines(path)


def test_of_a_long_one_every_epoch_and_the_last_line_are_there(tmp_path: Path, few: int) -> None:
    path = tmp_path / "history.jsonl"
    write(path, 1003, every=100)
    whole, kept = read_lines(path), JsonlTail(path, 2, thinned=True).read_lines()
    numbers = [whole.index(line) for line in kept]
    assert numbers == sorted(numbers)
    assert [line for line in kept if line["kind"] == "epoch"] == [line for line in whole if line["kind"] == "epoch"]
    assert kept[-1] == whole[-1]
    there = [line["step"] for line in kept if line["kind"] == "steps"]
    assert there[0] == 1
    assert few // 2 <= len(there) <= few + 1
    assert len(set(np.diff(there[:-1]))) == 1


@pytest.mark.parametrize("seed", range(4))
def test_one_that_grows_is_read_as_one_that_is_opened_late(tmp_path: Path, few: int, seed: int) -> None:
    path, rng = tmp_path / "history.jsonl", np.random.default_rng(seed)
    tail, step = JsonlTail(path, 2, thinned=True), 0
    for _ in range(80):
        if step and rng.random() < 0.1:  # a resumed run: what comes again is dropped
            kept = step - int(rng.integers(4))
            keep_matching_lines(path, lambda line, kept=kept: line["step"] <= kept)
        for _ in range(rng.integers(5)):
            append_line(path, steps(step := step + 1))
        if rng.random() < 0.3:
            append_line(path, end(step, max(step, 1)))
        assert tail.read_lines() == JsonlTail(path, 2, thinned=True).read_lines()
    assert len(read_lines(path)) > len(tail.read_lines()) or step <= few


def test_rows_that_get_longer_take_no_more_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_thinning, "MOST_STEP_BYTES", 4_000)
    path = tmp_path / "history.jsonl"
    tail, sizes = JsonlTail(path, thinned=True), np.r_[[10] * 60, [900] * 9, [3_000] * 4]
    for step, size in enumerate(sizes, 1):
        append_line(path, {**steps(step), "note": "x" * int(size)})
        kept = tail.read_lines()
        assert kept == JsonlTail(path, thinned=True).read_lines()
        assert kept[-1]["step"] == step
        assert sum(len(json.dumps(line)) for line in kept[:-1]) <= 4_000


def test_rows_that_are_no_lines_are_left_out(tmp_path: Path, few: int) -> None:
    path = tmp_path / "history.jsonl"
    with path.open("wb") as file:
        for step in range(1, 500):
            file.write(json.dumps(steps(step)).encode() + b"\n" + b"x" * 70 + b"\n")
        file.write(b"[" * 400_000 + b"\n" + b"torn")
    kept = JsonlTail(path, 2, thinned=True).read_lines()
    assert 0 < len(kept) <= few
    assert all(line["kind"] == "steps" for line in kept)


def test_a_row_larger_than_all_that_is_kept_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b"[" * (line_thinning.MOST_STEP_BYTES + 1) + b"\n")
    append_line(path, steps(1))
    assert JsonlTail(path, 2, thinned=True).read_lines() == [steps(1)]


@pytest.mark.long
def test_memory_and_lines_do_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    row = json.dumps(steps(7)).encode() + b"\n"
    with path.open("wb") as file:
        for _ in range(150):
            file.write(row * 1000)
    tail = JsonlTail(path, 2, thinned=True)
    tracemalloc.start()
    try:
        lines = tail.read_lines()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(lines) <= line_thinning.MOST_STEP_ROWS + 1
    assert peak < 48 * 2**20, peak  # all of its lines would take 150 MB
