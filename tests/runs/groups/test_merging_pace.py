"""What a merge costs: it grows with what is new, holds little, and a kill loses nothing of it."""

import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from benchmarks.scale import written
from ensemble.runs.groups.group import Group, list_run_groups
from ensemble.runs.groups.merging import GroupMerger
from ensemble.runs.store import Run
from ensemble.storage.arrays.npz import read_arrays
from ensemble.storage.records.json_lines import read_lines

EXAMPLES = 500  # the test images of `digits`


def in_groups(groups: int, epochs: int = 100, network: str = "logistic") -> tuple[Run, list[Group]]:
    """A run in groups of two, nothing trained."""
    run = written.made(groups, 2, "digits", network, epochs)
    return run, list_run_groups(run)


def merge_of_one_more_line(before: int) -> float:
    """Seconds of the processor for one new line after so many."""
    run, groups = in_groups(2)
    written.write_steps(groups, 1, before)
    (merger := GroupMerger(run, groups)).merge_groups(hold=0.0)
    found = []
    for step in range(before + 1, before + 6):
        written.write_steps(groups, step, 1)
        began = time.thread_time()
        merger.merge_groups(hold=0.0)
        found.append(time.thread_time() - began)
    assert len(read_lines(run.path / "history.jsonl")) == before + 5
    return min(found)


def test_a_merge_takes_time_for_what_is_new_not_for_all_there_is() -> None:
    assert merge_of_one_more_line(1500) < 4 * merge_of_one_more_line(50)


def test_merged_bit_by_bit_the_history_is_what_one_look_at_the_end_makes_of_it() -> None:
    run, groups = in_groups(3, epochs=2)
    merger, history = GroupMerger(run, groups), run.path / "history.jsonl"
    for epoch in (1, 2):
        for number, group in enumerate(groups):  # one after the other, each ahead of the next
            written.write_epoch([group], epoch, EXAMPLES, "logistic")
            merger.merge_groups(hold=0.0)
            whole = [row for row in read_lines(history) if None not in row["train_loss"]]
            assert len(whole) == 21 * (epoch if number == 2 else epoch - 1)
    merged = history.read_bytes()
    GroupMerger(run, groups).merge_groups(hold=0.0)
    assert history.read_bytes() == merged
    assert [row["kind"] for row in read_lines(history)] == 2 * [*20 * ["steps"], "epoch"]


def test_while_one_group_waits_the_others_cost_nothing_and_are_shown_now_and_then() -> None:
    run, groups = in_groups(2)
    written.write_steps(groups[:1], 1, 1500)
    merger, history = GroupMerger(run, groups), run.path / "history.jsonl"
    began = time.thread_time()
    merger.merge_groups(hold=0.0)
    first = time.thread_time() - began
    again = []
    for _ in range(3):
        began = time.thread_time()
        merger.merge_groups()
        again.append(time.thread_time() - began)
    assert min(again) < first / 10

    changes = set()
    for step in range(1501, 1521):
        written.write_steps(groups[:1], step, 1)
        merger.merge_groups()
        changes.add(history.stat().st_size)
    assert len(changes) < 5
    merger.merge_groups(hold=0.0)
    assert len(read_lines(history)) == 1520


def test_parameters_are_merged_without_being_held_all_at_once() -> None:
    run, groups = in_groups(4, network="cnn")
    written.write_epoch(groups, 1, EXAMPLES, "cnn")
    expected = [parameters(group.path) for group in groups]
    whole = sum(array.nbytes for one in expected for array in one.values())
    merger = GroupMerger(run, groups)
    tracemalloc.start()
    merger.merge_groups(hold=0.0)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 0.75 * whole  # those of two of the four groups; it was twice all of them
    merged = parameters(run.path)
    assert list(merged) == list(expected[0])
    for name, array in merged.items():
        np.testing.assert_array_equal(array, np.concatenate([one[name] for one in expected]))


def test_a_kill_between_an_epochs_merge_and_the_history_loses_nothing() -> None:
    run, groups = in_groups(2)
    written.write_epoch(groups, 1, EXAMPLES, "logistic")
    history = run.path / "history.jsonl"
    merger = GroupMerger(run, groups)
    history.mkdir()  # nothing can be written there
    with pytest.raises(OSError, match=history.name):
        merger.merge_groups(hold=0.0)
    history.rmdir()
    GroupMerger(run, groups).merge_groups(hold=0.0)
    assert read_lines(history)[-1]["kind"] == "epoch"
    left = [path for group in groups for path in group.path.rglob("epoch-*.npz")]
    assert left == []


def test_what_a_kill_left_of_a_merged_epoch_goes_with_the_next_look() -> None:
    run, groups = in_groups(2)
    written.write_epoch(groups, 1, EXAMPLES, "logistic")
    kept = {path: path.read_bytes() for path in groups[0].path.rglob("epoch-*.npz")}
    GroupMerger(run, groups).merge_groups(hold=0.0)
    for path, content in kept.items():
        path.write_bytes(content)
    assert kept
    assert len(GroupMerger(run, groups).merged_lines) == 1
    assert not any(path.exists() for path in kept)


def test_a_group_that_goes_back_to_its_checkpoint_takes_the_runs_history_back_with_it() -> None:
    run, groups = in_groups(2)
    written.write_steps(groups, 1, 10)
    merger, history = GroupMerger(run, groups), run.path / "history.jsonl"
    merger.merge_groups(hold=0.0)
    own = groups[1].path / "history.jsonl"
    own.write_bytes(b"".join(own.read_bytes().splitlines(keepends=True)[:6]))
    merger.merge_groups(hold=0.0)
    rows = read_lines(history)
    assert [None in row["train_loss"] for row in rows] == 6 * [False] + 4 * [True]
    written.write_steps(groups[1:], 7, 4)
    merger.merge_groups(hold=0.0)
    assert [None in row["train_loss"] for row in read_lines(history)] == 10 * [False]


def parameters(folder: Path) -> dict[str, np.ndarray]:
    path = folder / "parameters" / "epoch-0001.npz"
    return read_arrays(path, None, path.stat().st_size)
