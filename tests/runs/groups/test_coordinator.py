"""The worker of a run in groups: what it starts, what it refuses, and how it tells the end."""

import json
import shutil
import threading
from pathlib import Path

import pytest

from ensemble import runs
from ensemble.errors import ConfigError, RunError, UnknownRunError
from ensemble.jobs.job import LOCK_FILE
from ensemble.jobs.placement import Placement
from ensemble.runs import Run
from ensemble.runs.groups import worker
from ensemble.runs.groups.group import create_group_folders, find_group, list_run_groups, split_members
from ensemble.runs.groups.history_lines import UNFINISHED_KIND
from ensemble.runs.groups.merging import GroupMerger
from ensemble.runs.training.session import _choose_run_devices
from ensemble.storage.file_lock import try_lock
from tests.runs.groups.inline import InlineTasks, arrays, follow, in_groups, trained

# The smallest network there is: what it learns is not what is tested.
CONFIG = in_groups(2, members=4, network="logistic")


def made() -> Run:
    run = runs.create_run(CONFIG)
    create_group_folders(run)
    return run


def test_members_are_shared_out_evenly_and_in_order() -> None:
    assert split_members(7, 3) == [range(3), range(3, 5), range(5, 7)]
    assert split_members(4, 1) == [range(4)]


def test_a_group_of_one_member_is_refused_with_what_to_do() -> None:
    with pytest.raises(ConfigError, match="choose at most 2, or more members"):
        in_groups(3, members=5)


def test_as_many_groups_as_is_best_are_a_number_before_the_run_begins() -> None:
    run = runs.create_run(in_groups(0))
    assert run.training_config
    assert run.training_config.groups >= 1


def test_a_device_trains_two_members_of_a_group_or_more() -> None:
    run = runs.create_run(in_groups(2, members=9, devices=0))
    create_group_folders(run)
    devices = [len(_choose_run_devices(group)) for group in list_run_groups(run)]
    assert devices == [2, 2], "of groups of five and four members, where there are eight devices"


def test_a_missing_group_is_named() -> None:
    run = made()
    shutil.rmtree(run.path / "groups" / "2")
    with pytest.raises(RunError, match=r"Group 2 of 2 \(members 3–4\) .* is missing: put"):
        GroupMerger(run, list_run_groups(run))


def test_a_foreign_group_is_named_and_not_merged() -> None:
    run, other = made(), runs.create_run(in_groups(2, members=4, seed=1))
    create_group_folders(other)
    shutil.rmtree(run.path / "groups" / "2")
    shutil.copytree(other.path / "groups" / "2", run.path / "groups" / "2")
    with pytest.raises(RunError, match=r"Group 2 of 2 .* belongs to another run"):
        follow_as_told(run)
    assert not (run.path / "predictions").exists()


def follow_as_told(run: Run) -> None:
    ended = follow(run, InlineTasks())
    raise RunError(ended.message)


def test_a_group_that_is_swapped_for_one_of_the_same_run_is_foreign_too() -> None:
    run = made()
    shutil.rmtree(run.path / "groups" / "2")
    shutil.copytree(run.path / "groups" / "1", run.path / "groups" / "2")
    with pytest.raises(RunError, match="Group 2 of 2"):
        create_group_folders(run)


@pytest.mark.parametrize(
    ("name", "said"), [("x", "is not a group"), ("nobody-0101-000000:1", "no run"), ("{run}:3", "has 2 groups")]
)
def test_a_name_that_is_no_group_is_refused(name: str, said: str) -> None:
    run = made()
    with pytest.raises(UnknownRunError, match=said):
        find_group(name.format(run=run.id))


def test_figures_of_members_stand_there_before_the_others_come() -> None:
    run = made()
    worker.execute_group(f"{run.id}:1")
    merger = GroupMerger(run, list_run_groups(run))
    merger.merge_groups(hold=0.0)
    lines = runs.read_history(run.id)
    assert [line["kind"] for line in lines] == (["steps"] * 5 + [UNFINISHED_KIND]) * 2
    assert all(line["train_loss"][2:] == [None, None] for line in lines)
    assert all(line["train_loss"][0] > 0 for line in lines)
    assert lines[-1]["test_accuracy"][0] > 0.1
    assert not merger.merged_lines
    worker.execute_group(f"{run.id}:2")
    merger.merge_groups(hold=0.0)
    lines = runs.read_history(run.id)
    assert [line["kind"] for line in lines] == (["steps"] * 5 + ["epoch"]) * 2
    assert None not in lines[0]["train_loss"]
    assert len(merger.merged_lines) == 2


def test_what_a_group_wrote_goes_once_it_is_merged() -> None:
    run = trained(CONFIG)
    assert not list((run.path / "groups").glob("*/p*/*.npz"))
    assert len(arrays(run.path, "predictions")) == 2


def test_a_merged_epoch_does_not_change_when_a_group_does_it_again() -> None:
    run = trained(CONFIG)
    before, history = arrays(run.path, "predictions"), (run.path / "history.jsonl").read_bytes()
    group = run.path / "groups" / "2"
    shutil.rmtree(group)
    create_group_folders(run)
    worker.execute_group(f"{run.id}:2")
    GroupMerger(runs.find_run(run.id), list_run_groups(run)).merge_groups(hold=0.0)
    assert arrays(run.path, "predictions") == before
    assert len((run.path / "history.jsonl").read_text().splitlines()) == len(history.splitlines())


def test_a_second_task_waits_for_the_first_and_then_has_nothing_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    run = made()
    worker.execute_group(f"{run.id}:1")
    held = try_lock(run.path / "groups" / "1" / LOCK_FILE)
    assert held
    timer = threading.Timer(0.5, lambda: held.__exit__())
    timer.start()
    before = (run.path / "groups" / "1" / "history.jsonl").read_bytes()
    worker.execute_group(f"{run.id}:1")
    said = capsys.readouterr().out
    assert "already has a task" in said
    assert "is already trained" in said
    assert (run.path / "groups" / "1" / "history.jsonl").read_bytes() == before


def test_an_error_in_one_group_leaves_the_others_and_resume_does_it_alone() -> None:
    run = made()
    blocked = run.path / "groups" / "2" / "predictions"
    blocked.write_text("in the way")
    ended = follow(run, InlineTasks())
    assert ended.state == "failed"
    assert ended.message.startswith("Group 2 of 2 (members 3–4): ")
    assert "resume trains those that have not finished" in ended.message
    assert [one.state for one in list_run_groups(ended)] == ["finished", "failed"]
    blocked.unlink()
    runs.requeue_run(run.id)
    tasks = InlineTasks()
    assert follow(runs.find_run(run.id), tasks).state == "finished"
    assert tasks.started == [2]


@pytest.mark.long
def test_it_ends_early_where_one_process_does() -> None:
    early = in_groups(1, members=4, network="logistic", epochs=6, learning_rate=5.0, validation=0.1, patience=1)
    alone, shared = trained(early), trained(in_groups(2, **differing(early)))
    assert 0 < alone.status.epoch < 6
    assert shared.status.epoch == alone.status.epoch
    assert shared.message == alone.message
    assert arrays(shared.path, "predictions") == arrays(alone.path, "predictions")
    last = runs.read_history(shared.id)[-1]
    assert last["kind"] == "epoch"
    assert last["epoch"] == alone.status.epoch


def differing(config: object) -> dict[str, object]:
    names = ("members", "network", "epochs", "learning_rate", "validation", "patience")
    return {name: getattr(config, name) for name in names}


def test_stopped_runs_go_on_to_the_same_bits() -> None:
    whole = trained(CONFIG)  # first: one that is queued would be waited for
    run = made()
    (run.path / "stop").touch()
    stopped = follow(run, InlineTasks())
    assert stopped.state == "stopped"
    runs.requeue_run(run.id)
    done = follow(runs.find_run(run.id), InlineTasks())
    assert done.state == "finished"
    assert arrays(done.path, "parameters") == arrays(whole.path, "parameters")


def test_groups_that_have_done_all_epochs_say_that_they_finished() -> None:
    run = trained(CONFIG)
    assert [one.status.state for one in list_run_groups(run)] == ["finished", "finished"]
    assert not list((run.path / "groups").glob("*/stop"))


def test_a_run_whose_groups_are_at_work_is_not_deleted() -> None:
    run = trained(CONFIG)
    folder: Path = run.path / "groups" / "1"
    status = json.loads((folder / "status.json").read_text())
    (folder / "status.json").write_text(json.dumps({**status, "state": "training"}))
    held = try_lock(folder / LOCK_FILE)
    assert held
    with held, pytest.raises(RunError, match="is still training some of its members"):
        runs.delete_run(run.id)
    assert run.path.exists()


@pytest.mark.long
def test_the_only_group_of_a_run_knows_what_the_ensemble_was_in_training() -> None:
    settings = in_groups(1, members=4, network="logistic")
    done = follow(runs.create_run(settings, Placement("slurm")), InlineTasks())
    assert done.state == "finished"
    placed, alone = (
        {line["epoch"]: line["ensemble_train_nll"] for line in runs.read_history(run.id) if line["kind"] == "epoch"}
        for run in (done, runs.execute_run(runs.create_run(settings).id))
    )
    assert placed == alone
    assert None not in placed.values()
