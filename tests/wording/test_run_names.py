"""What a run is called: by its name, else by what it is, never by a time alone."""

import shutil

import pytest

from ensemble import regression, runs
from ensemble.acquisition.learning_job import LearningConfig, create_learning
from ensemble.config import EnsembleConfig
from ensemble.jobs.queue import list_queued_jobs
from ensemble.regression import LbfgsConfig
from ensemble.runs import Run
from ensemble.wording.run_names import format_run_name, format_unique_run_name
from tests.workers import at_work_here


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (EnsembleConfig(), "4 members · rate 0.1 · digits"),
        (EnsembleConfig(members=1, learning_rate=1e-05), "1 member · rate 0.00001 · digits"),
        (EnsembleConfig(learning_rate=0.4502738963), "4 members · rate 0.4503 · digits"),
        (EnsembleConfig(dataset="mnist", members=16), "16 members · rate 0.1 · MNIST"),
        (EnsembleConfig(dataset="fashion_mnist"), "4 members · rate 0.1 · Fashion-MNIST"),
    ],
)
def test_a_run_is_called_by_what_it_is(config: EnsembleConfig, said: str) -> None:
    assert format_run_name(runs.create_run(config)) == said


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (LbfgsConfig(), "50,000 × 784 · 100 iterations · synthetic"),
        (LbfgsConfig(dataset="digits", iterations=1), "1,297 × 784 · 1 iteration · digits"),
    ],
)
def test_a_regression_is_called_by_what_it_is(config: LbfgsConfig, said: str) -> None:
    assert format_run_name(regression.create_regression(config)) == said


def test_the_name_that_a_person_gave_leads() -> None:
    run = runs.rename_run(runs.create_run(EnsembleConfig()).id, "wide")
    assert format_run_name(run) == "wide"
    assert format_unique_run_name(run) == f"wide · {run.id}"


def test_tabs_that_offer_the_same_runs_share_their_names() -> None:
    for run in (with_id("digits-1127-140506"), runs.rename_run(with_id("b-1127-140507").id, "wide")):
        again = runs.find_run(run.id)
        assert again is not run
        assert format_unique_run_name(again) is format_unique_run_name(run)


def with_id(run_id: str) -> Run:
    """A run of that id, as a copied folder makes one."""
    run = runs.create_run(EnsembleConfig())
    shutil.move(run.path, run.path.with_name(run_id))
    return runs.find_run(run_id)


@pytest.mark.parametrize(
    ("run_id", "when"),
    [
        ("digits-1122-140512", "22 Nov 14:05:12"),
        ("digits-1122-140512-2", "22 Nov 14:05:12 (2)"),
        ("digits-0101-000000", "1 Jan 00:00:00"),
        ("digits-9901-000000", "digits-9901-000000"),
        ("digits-mine", "digits-mine"),
    ],
)
def test_runs_of_equal_words_are_told_apart_by_when_they_were_made(run_id: str, when: str) -> None:
    assert format_unique_run_name(with_id(run_id)) == f"4 members · rate 0.1 · digits · {when}"


def test_no_two_runs_of_one_second_read_the_same() -> None:
    made = [runs.create_run(EnsembleConfig()) for _ in range(4)]
    assert len({format_unique_run_name(run) for run in made}) == 4


def test_who_stands_in_the_queue_is_called_the_same_as_on_its_own_page() -> None:
    run, solve = runs.create_run(EnsembleConfig()), regression.create_regression(LbfgsConfig())
    experiment = create_learning(LearningConfig())
    at_work_here(run.path)
    assert {format_run_name(job) for job in list_queued_jobs()} == set(map(format_run_name, (run, solve, experiment)))


def test_one_whose_settings_cannot_be_read_goes_by_its_id() -> None:
    run = runs.create_run(EnsembleConfig())
    (waiting,) = list_queued_jobs()
    (run.path / "config.json").write_text('{"settings": {"members": "many"}}')
    assert format_run_name(waiting) == run.id
