"""What is said of jobs: who they wait for, how far they are, and that one has fallen silent."""

import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from ensemble import regression, runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.kinds import TRAINING
from ensemble.jobs.queue import QueuedJob, list_jobs_ahead
from ensemble.jobs.status import JobStatus
from ensemble.regression import LbfgsConfig, RegressionStatus
from ensemble.wording import jobs as jobs_words
from ensemble.wording.run_names import format_run_name
from tests.workers import at_work_here

NOW = 5000.0


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_words, "time", SimpleNamespace(time=lambda: NOW))


def status(**changes: object) -> RegressionStatus:
    return RegressionStatus(**{"updated": NOW, "state": "solving", **changes})


def test_those_that_wait_name_the_next_and_count_the_others() -> None:
    first = runs.create_run(EnsembleConfig())
    second = regression.create_regression(LbfgsConfig())
    third = runs.create_run(EnsembleConfig())
    said = [jobs_words.describe_queue_wait(list_jobs_ahead(job)) for job in (first, second, third)]
    after = f"Waiting for its turn, after {format_run_name(first)}"
    turns = ": jobs take turns on this machine"
    assert said == ["Starting", after + turns, f"{after} and 1 more{turns}"]
    places = [jobs_words.describe_queue_position(list_jobs_ahead(job)) for job in (first, second, third)]
    assert places == ["queued, next", "queued, 1 before it", "queued, 2 before it"]
    assert (
        jobs_words.describe_start_order(list_jobs_ahead(third)) == f"Starts after {format_run_name(first)} and 1 more."
    )
    assert jobs_words.describe_start_order([]) == ""


@pytest.mark.parametrize(
    ("changes", "detail", "said"),
    [
        ({"message": "Solving."}, "", "Solving"),
        ({"message": "Solving."}, "iteration 4 of 6", "Solving · iteration 4 of 6"),
        ({}, "", "Regression"),
        ({"message": "Solving.", "seconds_left": 75.0}, "", "Solving · 1 min 15 s left"),
        ({"message": "Solving.", "seconds_left": 75.0, "updated": NOW - 15}, "", "Solving · 1 min left"),
        ({"message": "Solving.", "updated": NOW - 30}, "", "Solving"),
        ({"message": "Solving.", "updated": NOW - 31}, "", "Solving · no news for 31 s"),
        ({"state": "starting"}, "", "Starting"),
        ({"state": "starting", "message": "Drawing the samples."}, "", "Drawing the samples"),
    ],
)
def test_what_a_job_is_doing(changes: dict[str, object], detail: str, said: str) -> None:
    solve = regression.create_regression(LbfgsConfig())
    mine = status(**at_work_here(solve.path), **changes)
    assert jobs_words.describe_job_stage(replace(solve, status=mine), [], detail) == said


def test_one_in_the_queue_says_what_it_waits_for_and_not_what_it_said_last() -> None:
    first = runs.create_run(EnsembleConfig())
    solve = regression.create_regression(LbfgsConfig())
    mine = at_work_here(solve.path)
    waits = replace(solve, status=status(state="queued", message="Queued: x.", **mine))
    assert jobs_words.describe_job_stage(waits, [first]).startswith(
        f"Waiting for its turn, after {format_run_name(first)}"
    )
    # Whom nobody here knows, the worker names.
    assert jobs_words.describe_job_stage(waits, []) == "Queued: x"


@pytest.mark.parametrize(
    ("state", "number", "left", "said"),
    [
        ("queued", 2, None, "queued, 2 jobs before it"),
        ("queued", 0, None, "starting"),
        ("starting", 0, None, "starting"),
        ("training", 0, 30.0, "training · 40 % · 30 s left"),
        ("training", 0, None, "training · 40 %"),
    ],
)
def test_how_one_stands_in_a_list(state: str, number: int, left: float | None, said: str) -> None:
    run = runs.create_run(EnsembleConfig())
    now = JobStatus(state, **at_work_here(run.path), updated=NOW)
    job = QueuedJob(TRAINING, run.id, run.name, run.path, replace(now, seconds_left=left), 0.4)
    assert jobs_words.describe_queued_job(job, number) == said
    assert time.time() > NOW
