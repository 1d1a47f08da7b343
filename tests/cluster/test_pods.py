"""Pods of a run on Kubernetes: real processes, told their index as Kubernetes tells it."""

import signal
from dataclasses import replace

import numpy as np
import pytest

from ensemble import runs
from ensemble.runs.groups.part import groups_of
from ensemble.runs.groups.pod import DONE, FAILED, GO_ON, work_pod
from tests.runs.pods import CONFIG, RUN, ended, pod, soon
from tests.workers import wait_until


@pytest.mark.usefixtures("two_devices_a_worker", "no_worker_left")
def test_a_pod_whose_node_is_drained_goes_on_to_the_bits_of_one_process():
    first, second = pod(0), pod(1)
    soon(lambda: RUN in [run.id for run in runs.list_runs()])
    run = runs.find(RUN)
    wait_until(run, lambda run: groups_of(run)[1].status.step > 0)
    second.send_signal(signal.SIGTERM)
    assert ended(second) == [GO_ON]
    assert groups_of(run)[1].status.state == "stopped"
    assert runs.find(RUN).active

    assert ended(pod(1), first) == [DONE, DONE]
    run = runs.find(RUN)
    assert run.state == "finished"
    # As many members on a device, in one process.
    alone = runs.work(runs.create(replace(CONFIG, groups=1, devices=2)).id)
    there, here = (runs.read_predictions(one.id, CONFIG.epochs) for one in (run, alone))
    np.testing.assert_array_equal(there, here)


def test_a_pod_whose_group_fails_ends_what_merges_so_that_both_are_begun_anew():
    # No pod has a dataset that nobody has prepared.
    assert work_pod(RUN, replace(CONFIG, dataset="mnist"), 0, "first") == FAILED
    run = runs.find(RUN)
    assert "prepare mnist" in groups_of(run)[0].message
    assert run.status.state == "stopped"
    assert "begins it anew" in run.message
