"""A run of two processes, stopped and gone on with, has the bits of one process on two devices."""

import subprocess
import sys

import numpy as np
import pytest

from ensemble import runs
from tests.hosts.pair import SETTINGS, train
from tests.runs.test_workers import assert_same_bits

# Compiled in a moment; tests/cluster has the one that people train.
SMALL = ("--network", "mlp", "--members", "3", "--validation", "0.1", "--epochs", "3")


def test_two_processes_stopped_and_resumed_have_the_bits_of_one(monkeypatch, tmp_path):
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "2")
    command = [sys.executable, "-m", "ensemble", "train", *SETTINGS, *SMALL]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    (alone,) = runs.list_runs()
    with train(tmp_path, *SMALL) as both:
        run = both.run(0)
        runs.request_stop(run.id)  # long before anything is compiled
        assert both.statuses() == [130, 130], both.said()
        assert both.answer()["state"] == "stopped"
        assert "{" not in both.log(1), "one answer of all"
    run = runs.find(run.id)
    assert 0 < run.status.step < 30, "stopped too late for this test to mean something"
    with train(tmp_path, "--resume", run.id) as both:
        assert both.statuses() == [0, 0], both.said()
    run = runs.find(run.id)
    assert run.state == "finished"
    assert_same_bits(run, alone)
    for epoch in (1, 2, 3):
        np.testing.assert_array_equal(
            runs.read_validation(run.id, epoch), runs.read_validation(alone.id, epoch)
        )
    assert '"processes": 2' in (run.path / "devices.json").read_text()


def test_more_processes_than_members_are_refused_by_all(tmp_path):
    with train(tmp_path, "--members", "1", "--epochs", "1") as both:
        assert both.statuses() == [1, 1], both.said()
        assert "would have no member to train" in both.log(0)
        assert "Traceback" not in both.said()


@pytest.mark.parametrize("words", [("--learning-rate", "99"), ("--members", "4", "--groups", "2")])
def test_what_cannot_be_is_said_before_anybody_waits(words, tmp_path):
    with train(tmp_path, *words, count=1) as one:
        assert one.statuses(60) == [2], one.said()
        assert "Traceback" not in one.said()
    assert runs.list_runs() == []
