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
from ensemble.runs.groups.group import Group, create_group_folders, list_run_groups
from ensemble.runs.groups.merging import GroupMerger
from ensemble.runs.groups.tasks import TaskStatus
from ensemble.runs.history import drop_predictions
from ensemble.runs.parameters import drop_parameters
from ensemble.storage.records.json_lines import read_lines
from tests.runs.groups.inline import InlineTasks, arrays, follow, in_groups, trained

CONFIG = in_groups(2, members=4, network="logistic")
EXAMPLES = 500  # the test images of `digits`


def with_epochs(count: int) -> tuple[Run, list[Group]]:
    """A run of two groups that have closed so many epochs; nothing is merged."""
    run = written.made(2, 2, "digits", "logistic", 10)
    groups = list_run_groups(run)
    for epoch in range(1, count + 1):
        written.write_epoch(groups, epoch, EXAMPLES, "logistic")
    return run, groups


def closed(run: Run) -> list[int]:
    """The epochs that the run's history has, as whoever merges next finds them."""
    return [line["epoch"] for line in GroupMerger(run, list_run_groups(run)).merged_lines]


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
    merger = GroupMerger(run, groups)
    merger.merge_groups()
    go_back(groups[1], 1)
    merger.merge_groups()
    assert closed(run) == [1, 2, 3], "whoever merges is killed now"
    written.write_steps(groups[1:], 21, 40)
    merger.merge_groups(hold=0.0)
    rows = read_lines(run.path / "history.jsonl")
    assert [row["kind"] for row in rows] == 3 * [*20 * ["steps"], "epoch"]
    assert not any(None in row["train_loss"] for row in rows)


def test_an_epoch_whose_files_a_group_makes_again_is_merged_when_they_are_there() -> None:
    run, groups = with_epochs(1)
    files = list(groups[1].path.glob("p*/epoch-0001.npz"))
    kept = {file: file.read_bytes() for file in files}
    merger = GroupMerger(run, groups)
    for file in files:
        file.unlink()
    merger.merge_groups()
    assert not merger.merged_lines
    for file, content in kept.items():
        file.write_bytes(content)
    merger.merge_groups()
    assert len(merger.merged_lines) == 1


def test_what_is_missing_in_the_end_is_named() -> None:
    run, groups = with_epochs(1)
    next(groups[1].path.glob("predictions/*")).unlink()
    with pytest.raises(RunError, match=r"Group 2 of 2 .* predictions of epoch 1 .* missing"):
        GroupMerger(run, groups).merge_groups(hold=0.0)


def test_a_disk_that_fills_up_within_a_line_of_the_history_costs_no_merged_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, groups = with_epochs(2)
    history = run.path / "history.jsonl"
    merger = GroupMerger(run, groups)
    merger.merge_groups(hold=0.0)
    whole, room, pwrite = history.read_bytes(), [100], os.pwrite

    def takes_a_part(file: int, data: bytes, begin: int) -> int:
        if not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return pwrite(file, data[: room.pop()], begin)

    written.write_steps(groups, 41, 10)
    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", takes_a_part)
        with pytest.raises(OSError, match="No space"):
            merger.merge_groups(hold=0.0)
    assert history.read_bytes().startswith(whole)
    assert b"\0" not in history.read_bytes()
    assert closed(run) == [1, 2]
    GroupMerger(run, list_run_groups(run)).merge_groups(hold=0.0)
    assert len(read_lines(history)) == 52


@pytest.mark.long
def test_a_line_of_a_group_that_is_damaged_is_named_at_the_end_and_mended_by_hand() -> None:
    whole, run = trained(CONFIG), runs.create_run(CONFIG)
    create_group_folders(run)
    InlineTasks().start_tasks(list_run_groups(run))
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
    runs.requeue_run(run.id)
    assert follow(runs.find_run(run.id), InlineTasks()).state == "finished"
    assert arrays(run.path, "predictions") == arrays(whole.path, "predictions")


def test_predictions_cut_short_are_named_and_not_merged() -> None:
    run, groups = with_epochs(1)
    path = next(groups[0].path.glob("predictions/*"))
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(RunError, match=r"Group 1 of 2 .*Delete the folder groups/1 of the run"):
        GroupMerger(run, groups).merge_groups()
    assert not (run.path / "predictions").exists()


ODD = {"state": "sleeping", "step": -1, "updated": "now", "pid": [1], "member_test_accuracy": {}, "seconds": 1e300}


@pytest.mark.parametrize("field", ODD)
def test_a_status_of_a_group_with_an_odd_field_is_named_with_what_to_do(field: str) -> None:
    run = runs.create_run(CONFIG)
    create_group_folders(run)
    file = run.path / "groups" / "2" / "status.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), field: ODD[field]}))
    ended = follow(run, InlineTasks())
    assert ended.state == "failed"
    assert f"groups/2/status.json of the run “{run.id}” cannot be read ({field} is" in ended.message
    assert "delete that folder and resume" in ended.message


def test_a_status_that_cannot_be_read_for_a_moment_ends_nothing() -> None:
    run = runs.create_run(CONFIG)
    create_group_folders(run)

    class Flickers(InlineTasks):
        """Whose disk has no such file for a moment, as a shared one while it is replaced."""

        def start_tasks(self, groups: Sequence[Group]) -> None:
            super().start_tasks(groups)
            file.rename(aside)
            file.write_text("{")

        def poll_tasks(self) -> Mapping[int, TaskStatus]:
            if aside.exists():
                aside.rename(file)
            return super().poll_tasks()

    file = run.path / "groups" / "2" / "status.json"
    aside = file.with_suffix(".aside")
    assert follow(run, Flickers()).state == "finished"


@pytest.mark.parametrize("replaced", ["a file", "a link to group 1", "a link to nothing"])
def test_a_groups_folder_that_is_another_thing_is_refused(replaced: str) -> None:
    run = runs.create_run(CONFIG)
    create_group_folders(run)
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
