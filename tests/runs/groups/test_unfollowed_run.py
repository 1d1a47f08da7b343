"""A run at a scheduler that nobody follows: how it stands by what its groups wrote."""

import pytest

from ensemble.runs.groups.unfollowed_run import read_unfollowed_run
from tests.pages.grouped import SLURM, in_groups


@pytest.mark.parametrize(("step", "state"), [(0, "starting"), (5, "training")])
def test_a_run_trains_when_one_of_its_groups_has_done_a_step(step: int, state: str) -> None:
    run = in_groups({1: "training", 2: "queued"}, placement=SLURM, told={1: {"step": step}})
    found = read_unfollowed_run(run)
    assert found is not None
    assert found.state == state
    assert found.message.startswith("Its tasks on Slurm go on")


@pytest.mark.parametrize(
    ("states", "steps", "message"),
    [
        ({1: "finished", 2: "finished"}, {1: 100, 2: 100}, "Its groups have finished: resume merges"),
        ({1: "finished", 2: "stopped"}, {1: 100, 2: 50}, "Stopped. Resume continues from here."),
        ({1: "stopped", 2: "queued"}, {1: 50}, "Stopped. Resume continues from here."),
        ({1: "queued", 2: "queued"}, {}, "Stopped while queued on Slurm."),
    ],
    ids=["all have finished", "one has finished", "one has begun", "none has begun"],
)
def test_a_run_without_tasks_is_stopped_where_its_groups_are(
    states: dict[int, str], steps: dict[int, int], message: str
) -> None:
    told = {number: {"step": step} for number, step in steps.items()}
    found = read_unfollowed_run(in_groups(states, placement=SLURM, told=told))
    assert found is not None
    assert found.state == "stopped"
    assert found.message.startswith(message)
