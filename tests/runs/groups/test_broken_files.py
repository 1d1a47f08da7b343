"""What groups wrote is cut short, missing, odd or comes again: nothing that was merged is lost."""

import errno
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks.scale import written
from ensemble import runs
from ensemble.errors import RunError
from ensemble.runs import Run
from ensemble.runs.groups.merging import Merger
from ensemble.runs.groups.part import Group, groups_of, make
from ensemble.runs.groups.tasks import Task
from ensemble.runs.history import drop_predictions
from ensemble.runs.parameters import drop_parameters
from ensemble.storage.records.lines import read_lines
from tests.runs.groups.inline import InlineTasks, arrays, follow, in_groups, trained

CONFIG = in_groups(2, members=4, network="logistic")
EXAMPLES = 500  # the test images of `digits`


def with_epochs(count: int) -> tuple[Run, list[Group]]:
    """A run of two groups that have closed so many epochs; nothing is merged."""
    run = written.made(2, 2, "digits", "logistic", 10)
    groups = groups_of(run)
    for epoch in range(1, count + 1):
        written.write_epoch(groups, epoch, EXAMPLES, "logistic")
    return run, groups


def closed(run: Run) -> list[int]:
    """The epochs that the run's history has, as whoever merges next finds them."""
    return [line["epoch"] for line in Merger(run, groups_of(run)).closed]


def go_back(group: Group, epoch: int) -> None:
    """As a task does that begins anew at its checkpoint of the end of an epoch."""
    history = group.path / "history.jsonl"
    rows = history.read_bytes().splitlines(keepends=True)
    kept = [row for row in rows if json.loads(row)["epoch"] <= epoch]
    history.with_suffix(".new").write_bytes(b"".join(kept))
    history.with_suffix(".new").replace(history)
    drop_predictions(group.path, after=epoch)
    drop_parameters(group.path, after=epoch)


def test_epochs_that_were_merged_stay_in_the_history_while_a_group_does_them_again() -> None:
    run, groups = with_epochs(3)
    merger = Merger(run, groups)
    merger.merge()
    go_back(groups[1], 1)
    merger.merge()
    assert closed(run) == [1, 2, 3], "whoever merges is killed now"
    written.write_steps(groups[1:], 21, 40)
    merger.merge(hold=0.0)
    rows = read_lines(run.path / "history.jsonl")
    assert [row["kind"] for row in rows] == 3 * [*20 * ["steps"], "epoch"]
    assert not any(None in row["train_loss"] for row in rows)


def test_an_epoch_whose_files_a_group_makes_again_is_merged_when_they_are_there() -> None:
    run, groups = with_epochs(1)
    files = list(groups[1].path.glob("p*/epoch-0001.npz"))
    kept = {file: file.read_bytes() for file in files}
    merger = Merger(run, groups)
    for file in files:
        file.unlink()
    merger.merge()
    assert not merger.closed
    for file, content in kept.items():
        file.write_bytes(content)
    merger.merge()
    assert len(merger.closed) == 1


def test_what_is_missing_in_the_end_is_named() -> None:
    run, groups = with_epochs(1)
    next(groups[1].path.glob("predictions/*")).unlink()
    with pytest.raises(RunError, match=r"Group 2 of 2 .* predictions of epoch 1 .* missing"):
        Merger(run, groups).merge(hold=0.0)


def test_a_disk_that_fills_up_within_a_line_of_the_history_costs_no_merged_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, groups = with_epochs(2)
    history = run.path / "history.jsonl"
    merger = Merger(run, groups)
    merger.merge(hold=0.0)
    whole, room, pwrite = history.read_bytes(), [100], os.pwrite

    def takes_a_part(file: int, data: bytes, begin: int) -> int:
        if not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return pwrite(file, data[: room.pop()], begin)

    written.write_steps(groups, 41, 10)
    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", takes_a_part)
        with pytest.raises(OSError, match="No space"):
            merger.merge(hold=0.0)
    assert history.read_bytes().startswith(whole)
    assert b"\0" not in history.read_bytes()
    assert closed(run) == [1, 2]
    Merger(run, groups_of(run)).merge(hold=0.0)
    assert len(read_lines(history)) == 52


def test_a_line_of_a_group_that_is_damaged_is_named_at_the_end_and_mended_by_hand() -> None:
    whole, run = trained(CONFIG), runs.create(CONFIG)
    make(run)
    InlineTasks().start(groups_of(run))
    history = run.path / "groups" / "2" / "history.jsonl"
    rows = history.read_text().splitlines(keepends=True)
    at = next(n for n, row in enumerate(rows) if '"epoch", "epoch": 2' in row)
    history.write_text("".join([*rows[:at], rows[at][:40] + "\n", *rows[at + 1 :]]))
    ended = follow(run, InlineTasks())
    assert ended.state == "failed"
    assert ended.message.startswith("Group 2 of 2 (members 3–4): ")
    assert "epoch 2" in ended.message
    assert "groups/2" in ended.message
    shutil.rmtree(history.parent)
    runs.requeue(run.id)
    assert follow(runs.find(run.id), InlineTasks()).state == "finished"
    assert arrays(run.path, "predictions") == arrays(whole.path, "predictions")


def test_predictions_cut_short_are_named_and_not_merged() -> None:
    run, groups = with_epochs(1)
    path = next(groups[0].path.glob("predictions/*"))
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(RunError, match=r"Group 1 of 2 .*Take the folder groups/1 of the run away"):
        Merger(run, groups).merge()
    assert not (run.path / "predictions").exists()


ODD = {
    "state": "sleeping",
    "step": -1,
    "updated": "now",
    "pid": [1],
    "member_test_accuracy": {},
    "seconds": 1e300,
}


@pytest.mark.parametrize("field", ODD)
def test_a_status_of_a_group_with_an_odd_field_is_named_with_what_to_do(field: str) -> None:
    run = runs.create(CONFIG)
    make(run)
    file = run.path / "groups" / "2" / "status.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), field: ODD[field]}))
    ended = follow(run, InlineTasks())
    assert ended.state == "failed"
    assert f"groups/2/status.json of the run “{run.id}” cannot be read ({field} is" in ended.message
    assert "take that folder away and resume" in ended.message


def test_a_status_that_cannot_be_read_for_a_moment_ends_nothing() -> None:
    run = runs.create(CONFIG)
    make(run)

    class Flickers(InlineTasks):
        """Whose disk has no such file for a moment, as a shared one while it is replaced."""

        def start(self, groups: Sequence[Group]) -> None:
            super().start(groups)
            file.rename(aside)
            file.write_text("{")

        def look(self) -> Mapping[int, Task]:
            if aside.exists():
                aside.rename(file)
            return super().look()

    file = run.path / "groups" / "2" / "status.json"
    aside = file.with_suffix(".aside")
    assert follow(run, Flickers()).state == "finished"


@pytest.mark.parametrize("replaced", ["a file", "a link to group 1", "a link to nothing"])
def test_a_groups_folder_that_is_another_thing_is_refused(replaced: str) -> None:
    run = runs.create(CONFIG)
    make(run)
    folder = run.path / "groups" / "2"
    shutil.rmtree(folder)
    if replaced == "a file":
        folder.write_text("x")
    else:
        folder.symlink_to(Path("1" if replaced == "a link to group 1" else "nowhere"))
    ended = follow(run, InlineTasks())
    assert ended.state == "failed"
    assert "groups/2" in ended.message or "Group 2 of 2" in ended.message
    assert "An unexpected error" not in ended.message
