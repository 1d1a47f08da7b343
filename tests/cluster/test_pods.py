"""Pods of a run on Kubernetes: real processes, told their index as Kubernetes tells it."""

import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from ensemble import runs
from ensemble.runs.groups.array_task import EXIT_DONE, EXIT_FAILED, EXIT_RESTART, execute_array_task
from ensemble.runs.groups.group import list_run_groups
from tests.runs.pods import CONFIG, ON, RUN, ended, pod, soon
from tests.workers import wait_until

Start = Callable[[int], "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts the pod of an index; none outlives the test, also where it fails."""
    started: list[subprocess.Popen[str]] = []

    def begin(index: int) -> "subprocess.Popen[str]":
        started.append(pod(index))
        return started[-1]

    yield begin
    for one in started:
        if one.poll() is None:
            one.kill()
            one.communicate()


@pytest.mark.usefixtures("two_devices_a_worker", "no_worker_left")
def test_a_pod_whose_node_is_drained_goes_on_to_the_bits_of_one_process(start: Start):
    first, second = start(0), start(1)
    soon(lambda: RUN in [run.id for run in runs.list_runs()])
    run = runs.find_run(RUN)
    wait_until(run, lambda run: list_run_groups(run)[1].status.step > 0)
    second.send_signal(signal.SIGTERM)
    assert ended(second) == [EXIT_RESTART]
    assert list_run_groups(run)[1].status.state == "stopped"
    assert runs.find_run(RUN).active

    assert ended(start(1), first) == [EXIT_DONE, EXIT_DONE]
    run = runs.find_run(RUN)
    assert run.state == "finished"
    # As many members on a device, in one process.
    alone = runs.execute_run(runs.create_run(replace(CONFIG, groups=1, devices=2)).id)
    there, here = (runs.read_run_predictions(one.id, CONFIG.epochs) for one in (run, alone))
    np.testing.assert_array_equal(there, here)


def test_a_pod_whose_group_fails_ends_what_merges_so_that_both_are_begun_anew():
    # No pod has a dataset that nobody has prepared.
    assert execute_array_task(RUN, replace(CONFIG, dataset="mnist"), 0, "first", ON) == EXIT_FAILED
    run = runs.find_run(RUN)
    assert "prepare mnist" in list_run_groups(run)[0].message
    assert run.status.state == "stopped"
    assert "coordinator was told to end" in run.message
