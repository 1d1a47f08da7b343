"""Groups that are processes of this machine: struck down, or with a fault of their own."""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import pytest

from ensemble import runs
from ensemble.engine import Trainer
from ensemble.runs.groups.group import Group, list_run_groups
from tests.runs.groups.inline import InlineTasks, arrays, follow, in_groups, trained
from tests.workers import wait_for_end, wait_until

CONFIG = in_groups(2, members=4, network="logistic", epochs=60)


def killed(pid: int | None) -> None:
    assert pid
    os.kill(pid, signal.SIGKILL)


def test_a_group_its_coordinator_or_both_are_killed_and_no_bit_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "1")
    run = runs.launch_run(CONFIG)
    wait_until(run, lambda run: max(one.status.epoch for one in list_run_groups(run)) > 2)
    first = next(one for one in list_run_groups(run) if one.status.epoch > 2)
    killed(first.status.pid)
    run = wait_until(run, lambda run: list_run_groups(run)[first.number - 1].status.pid not in (None, first.status.pid))
    killed(run.status.pid)
    killed(list_run_groups(run)[first.number - 1].status.pid)
    run = wait_for_end(run)
    assert run.state == "failed"
    assert "Each group has its own checkpoint; resume" in run.message
    run = wait_for_end(runs.resume_run(run.id))
    assert run.state == "finished", run.message
    whole = trained(replace(CONFIG, groups=1))
    for what in ("predictions", "parameters"):
        assert arrays(run.path, what) == arrays(whole.path, what)
    ended = [line["epoch"] for line in runs.read_history(run.id) if line["kind"] == "epoch"]
    assert ended == list(range(1, CONFIG.epochs + 1))


class Lenient(InlineTasks):
    """Tasks whose errors are their own, as those of processes."""

    def start_tasks(self, groups: Sequence[Group]) -> None:
        for group in groups:
            with suppress(ValueError):
                super().start_tasks([group])


def test_an_exception_in_one_group_is_told_and_that_group_alone_is_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    config = replace(CONFIG, epochs=3)
    plain = Trainer.train

    def train(self: Trainer, state: object, epoch: int, start: int, count: int) -> object:
        if self.numbers[0] == 2 and epoch == 2:
            raise ValueError("boom")
        return plain(self, state, epoch, start, count)

    run = runs.create_run(config)
    with monkeypatch.context() as faulty:
        faulty.setattr(Trainer, "train", train)
        ended = follow(run, Lenient())
    assert ended.state == "failed"
    assert "Group 2 of 2 (members 3–4): An unexpected error" in ended.message
    assert "ValueError('boom')" in ended.message
    assert list_run_groups(ended)[0].state == "finished"
    runs.requeue_run(run.id)
    again = Lenient()
    assert follow(runs.find_run(run.id), again).state == "finished"
    assert again.started == [2]
    assert arrays(run.path, "parameters") == arrays(trained(config).path, "parameters")
