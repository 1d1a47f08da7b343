"""What is said of a run in groups: of each, of all together, and of the wait for a place."""

import socket
import time

import pytest

from ensemble.runs.groups.tasks import TaskStatus
from ensemble.wording.runs import groups as words
from tests.pages.grouped import SLURM, in_groups


def test_each_group_says_what_it_does_where_and_how_fast() -> None:
    run = in_groups(
        {1: "training", 2: "finished", 3: "queued", 4: "stopped"},
        {
            1: TaskStatus("running", "7_0", "node2"),
            2: TaskStatus("ended", "7_1", "node1"),
            3: TaskStatus("waiting", "7_2", "", "no node is free"),
            4: TaskStatus("ended", "7_3"),
        },
        placement=SLURM,
        told={1: {"epoch": 2, "img_member_per_s": 3321.0}, 4: {"epoch": 5}},
    )
    assert [words.describe_group(one) for one in words.list_group_standings(run)] == [
        "Group 1 · members 1–2 · epoch 3 of 10 · node2 · job 7_0 · 3,300 img·member/s",
        "Group 2 · members 3–4 · finished · node1 · job 7_1",
        "Group 3 · members 5–6 · queued on Slurm: no node is free · job 7_2",
        "Group 4 · members 7–8 · stopped after 5 epochs of 10 · job 7_3",
    ]


def test_on_this_machine_there_is_no_job_and_no_queue_of_a_cluster() -> None:
    run = in_groups({1: "training", 2: "queued"}, {1: TaskStatus("running", "4711"), 2: TaskStatus("waiting")})
    assert [words.describe_group(one) for one in words.list_group_standings(run)] == [
        "Group 1 · members 1–4 · epoch 1 of 10 · this machine",
        "Group 2 · members 5–8 · queued on this machine",
    ]
    assert words.describe_working_groups(run) == "1 of 2 groups"


def test_a_task_that_was_put_back_into_the_queue_waits_though_its_group_says_it_stopped() -> None:
    run = in_groups({1: "stopped", 2: "training"}, {1: TaskStatus("waiting", "7_0", "", "its turn")}, placement=SLURM)
    assert words.list_group_standings(run)[0].activity == "waiting"


def test_nothing_waits_on_this_machine_once_nobody_follows_the_run() -> None:
    run = in_groups(
        {1: "finished", 2: "queued"}, {1: TaskStatus("ended", "1"), 2: TaskStatus("waiting")}, state="stopped"
    )
    assert [one.activity for one in words.list_group_standings(run)] == ["finished", "not begun"]


def test_a_group_whose_task_was_killed_has_failed_and_says_why() -> None:
    killed = {"pid": 2**22 - 1, "host": socket.gethostname()}
    run = in_groups({1: "training", 2: "finished"}, state="failed", told={1: killed})
    [first, _] = words.list_group_standings(run)
    assert first.activity == "failed"
    assert "exited unexpectedly" in words.describe_group_activity(first)


def test_a_worker_that_has_fallen_silent_is_said_to_be() -> None:
    run = in_groups({1: "training", 2: "training"}, told={2: {"updated": time.time() - 45}})
    said = [words.describe_group_activity(one) for one in words.list_group_standings(run)]
    assert said[0] == "epoch 1 of 10"
    assert said[1] == "epoch 1 of 10 · no news for 45 s"


def test_many_groups_are_summed_up_with_the_reason_why_some_wait() -> None:
    states = dict.fromkeys(range(1, 29), "training") | dict.fromkeys(range(29, 32), "queued")
    waiting = {n: TaskStatus("waiting", f"9_{n}", "", "no node is free") for n in range(29, 32)}
    run = in_groups(states | {32: "finished"}, waiting, members=64, placement=SLURM)
    assert words.describe_working_groups(run) == "29 of 32 groups", "also those whose task is over"
    said = words.summarize_group_activities(words.list_group_standings(run))
    assert said == "28 train, 3 queued (no node is free), 1 finished"


def test_the_wait_in_a_clusters_queue_is_no_time_of_training() -> None:
    now = time.time()
    waiting = {1: TaskStatus("waiting", "5_0", "", "no node is free"), 2: TaskStatus("waiting", "5_1")}
    run = in_groups({1: "queued", 2: "queued"}, waiting, state="queued", placement=SLURM, queued=now - 300)
    assert words.describe_cluster_wait(run) == "Queued on Slurm: no node is free"
    assert words.compute_queue_seconds(run) == pytest.approx(300, abs=5)
    begun = in_groups({1: "training", 2: "queued"}, placement=SLURM, queued=now - 300, started=now - 60, seconds=50.0)
    assert words.compute_queue_seconds(begun) == pytest.approx(240)
    again = in_groups({1: "training", 2: "queued"}, placement=SLURM, queued=now, started=now - 60)
    assert words.compute_queue_seconds(again) is None, "that start was of an earlier attempt"


def test_a_run_of_this_machine_waited_in_no_clusters_queue() -> None:
    run = in_groups({1: "training", 2: "training"}, queued=1.0, started=2.0)
    assert words.compute_queue_seconds(run) is None
    assert words.find_scheduler_title(run) == ""
