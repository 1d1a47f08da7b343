"""A run in groups on Train and on Runs: what each does and where, and what it waits for."""

import json
import time
from collections.abc import Callable
from socket import gethostname
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.errors import UnknownRunError
from ensemble.jobs.job import is_stop_requested
from ensemble.runs import Run
from ensemble.runs.groups.group import list_run_groups
from ensemble.runs.groups.tasks import TaskStatus
from ensemble.ui.shared import loaders
from tests.pages.grouped import SLURM, in_groups
from tests.pages.predictions_screen import opened
from tests.ui.train.test_history import late_groups

Train = Callable[..., AppTest]
WAITING = TaskStatus("waiting", "7_2", "", "no node is free")


@pytest.fixture(autouse=True)
def no_list_of_an_earlier_test() -> None:
    loaders.forget_runs()


def texts(at: AppTest) -> str:
    return "\n".join(str(one.value) for one in (*at.markdown, *at.caption, *at.warning))


def logs(at: AppTest) -> str:
    return "\n".join(str(one.value) for one in at.code if "No space left" in one.value)


def bar(at: AppTest) -> str:
    return str(at.get("progress")[0].proto.text)


def with_history(run: Run, rows: list[dict[str, Any]]) -> Run:
    rows = [{"train_loss": [0.1] * run.config.members} | row for row in rows]
    (run.path / "history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return run


def test_train_says_what_each_group_does_and_shows_the_log_that_is_asked_for(train: Train) -> None:
    run = in_groups(
        {1: "training", 2: "failed", 3: "queued"},
        {1: TaskStatus("running", "7_0", "node2"), 3: WAITING},
        members=9,
        placement=SLURM,
        told={1: {"epoch": 8, "img_member_per_s": 3321.0}, 2: {"message": "The disk is full."}},
        img_member_per_s=3300.0,
    )
    (list_run_groups(run)[1].path / "log.txt").write_text("first\nNo space left on device\n")
    at = train(run.id)
    assert bar(at) == "0 of 10 epochs by every group · 3,300 img·member/s"
    said = texts(at)
    assert "Group 1 · members 1–3 · epoch 9 of 10 · node2 · job 7_0 · 3,300" in said
    assert "Group 2 · members 4–6 · failed: The disk is full." in said
    assert "Group 3 · members 7–9 · queued on Slurm: no node is free" in said
    assert not logs(at)
    at.toggle(key="groups_log").set_value(True).run()
    assert at.selectbox(key="groups_log_of").value == 2, "the one that failed comes first"
    assert "No space left on device" in logs(at)


def test_many_groups_are_one_line_that_opens(train: Train) -> None:
    states = dict.fromkeys(range(1, 15), "training") | {15: "queued", 16: "finished"}
    at = train(in_groups(states, {15: WAITING}, members=32, placement=SLURM).id)
    [fold] = [one for one in at.button if one.key == "groups_fold"]
    assert fold.label == "16 groups: 14 train, 1 queued (no node is free), 1 finished"
    assert not at.dataframe
    fold.click().run()
    rows = at.dataframe[0].value
    assert list(rows["state"])[13:] == ["epoch 1 of 10", "queued on Slurm: no node is free", "finished"]
    assert list(rows["members"])[:2] == ["1–2", "3–4"]


def test_waiting_in_a_clusters_queue_is_no_starting_and_no_turn_on_this_machine(train: Train) -> None:
    in_groups({1: "training", 2: "training"}, state="training")  # has this machine
    run = in_groups(
        {1: "queued", 2: "queued"}, {1: WAITING, 2: WAITING}, state="queued", placement=SLURM, queued=time.time() - 300
    )
    at = train(run.id)
    assert bar(at) == "Queued on Slurm: no node is free"
    assert "queued" in texts(at)
    [waited] = [one.value for one in at.metric if one.label == "In the queue"]
    assert waited.startswith("5 min")


def test_a_groups_damaged_status_is_said_and_the_curves_stay(train: Train) -> None:
    run = in_groups({1: "training", 2: "training"}, members=4)
    with_history(run, late_groups())
    (list_run_groups(run)[1].path / "status.json").write_text("{")
    at = train(run.id)
    assert "groups/2/status.json" in texts(at)
    assert "resume the run" in texts(at)
    assert at.dataframe[0].value["test accuracy"][0] == "92.0 %"


def test_the_headline_is_of_the_last_epoch_that_every_group_has_closed(train: Train) -> None:
    run = with_history(in_groups({1: "training", 2: "training"}, members=4), late_groups())
    at = train(run.id)
    [share] = [one.value for one in at.metric if one.label.startswith("Ensemble on")]
    assert share.startswith("92.0 %")
    said = texts(at)
    assert "The ensemble has no training curve: its members are trained apart, in groups." in said
    assert "diverged" not in said


def test_stop_and_delete_are_one_press_each_as_for_any_run() -> None:
    run = in_groups({1: "training", 2: "queued"}, {2: WAITING}, placement=SLURM)
    at = opened(run, "runs")
    at.button(key="run_stop").click().run()
    assert is_stop_requested(run)
    ended = in_groups({1: "stopped", 2: "queued"}, state="stopped", placement=SLURM)
    loaders.forget_runs()
    at = opened(ended, "runs")
    at.button(key="run_delete").click().run()
    at.button(key="run_delete_sure").click().run()
    with pytest.raises(UnknownRunError):
        runs.find_run(ended.id)


def test_the_list_says_how_many_groups_are_at_work_or_whose_queue_a_run_is_in() -> None:
    begun = in_groups(
        {1: "training", 2: "queued"}, {1: TaskStatus("running", "7_0"), 2: WAITING}, placement=SLURM, step=40
    )
    queued = in_groups({1: "queued", 2: "queued"}, {1: WAITING, 2: WAITING}, state="queued", placement=SLURM)
    at = opened(begun, "runs")
    rows = at.dataframe[0].value.set_index("id")
    assert rows.loc[begun.id, "done"] == "40 %, 1 of 2 groups"
    assert rows.loc[queued.id, "done"] == "in Slurm's queue"
    assert f"Group 1 · members 1–4 · epoch 1 of 10 · {gethostname()} · job 7_0" in texts(at)


def test_what_a_cluster_or_groups_took_is_no_measure_of_this_machine(train: Train) -> None:
    label = train().button(key="launch").label
    in_groups(
        {1: "finished", 2: "finished"}, state="finished", placement=SLURM, img_member_per_s=3.0, host=gethostname()
    )
    loaders.forget_runs()
    assert train().button(key="launch").label == label
