"""Runs that are no better than guessing are said to be, with a cause and something to try."""

from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import ensemble
from ensemble import datasets, runs
from ensemble.analysis.members.broken_members import find_guessing_members
from ensemble.config import EnsembleConfig
from ensemble.datasets.registry import ENTRIES
from ensemble.jobs.status import write_status
from ensemble.runs import Run
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.wording.verdicts import chance_level
from tests.pages import own_images


def ended(
    shares: list[float | None], whole: float | None, *, state: str = "finished", steps: int = 100, **settings: Any
) -> Run:
    """A digits run that ended with these accuracies."""
    run = runs.create_run(EnsembleConfig(members=len(shares), **settings))
    reached = {"member_test_accuracy": shares, "ensemble_test_accuracy": whole}
    write_status(run.path, replace(run.status, state=state, step=steps, **reached))
    return runs.find_run(run.id)


def test_the_most_frequent_class_is_counted_in_the_labels() -> None:
    counted = np.bincount(datasets.load_dataset("digits").test_labels)
    assert counted.max() == ENTRIES["digits"].most_frequent
    assert {name: entry.most_frequent for name, entry in ENTRIES.items() if name != "digits"} == {
        "mnist": 1135,  # the ones, as LeCun's page counts them
        "fashion_mnist": 1000,
        "kmnist": 1000,  # balanced by their makers
    }


@pytest.mark.parametrize("name", ENTRIES)
def test_chance_ends_where_scipys_interval_leaves_the_most_frequent_class(name: str) -> None:
    entry = ENTRIES[name]
    for count in range(0, entry.test_size + 1, 1 + entry.test_size // 199):
        interval = binomtest(count, entry.test_size).proportion_ci(0.95, method="wilson")
        above = interval.low > entry.most_frequent / entry.test_size
        assert chance_level.is_chance_accuracy(count / entry.test_size, entry) == (not above), count


@pytest.mark.parametrize(
    ("share", "state", "said"),
    [
        (0.0, "finished", "finished at chance level"),
        (0.092, "finished", "finished at chance level"),
        (0.128, "finished", "finished at chance level"),
        (0.13, "finished", "finished"),
        (None, "finished", "finished"),
        (0.092, "stopped", "stopped"),
    ],
)
def test_a_run_that_only_guesses_is_no_success(share: float | None, state: str, said: str) -> None:
    run = ended([share], share, state=state)
    assert chance_level.format_chance_state(run, run.state) == said
    assert bool(chance_level.describe_chance_level(run)) == chance_level.is_run_at_chance(run) == (said != state)
    assert chance_level.format_short_state(run) == ("guesses" if said != state else state)


def test_a_run_that_came_in_a_report_is_imported_whatever_its_state_was() -> None:
    run = ended([0.9], 0.9, state="stopped")
    assert chance_level.format_short_state(replace(run, origin="digits-1123-000000")) == "imported"
    guessing = ended([0.0], 0.0)
    assert chance_level.format_short_state(replace(guessing, origin="digits-1123-000000")) == "guesses"


def test_what_is_wrong_is_said_with_the_cause_and_a_rate_to_try() -> None:
    assert chance_level.describe_chance_level(ended([0.092] * 4, 0.092, learning_rate=10.0)) == (
        "At chance level: 9.2 % right, guessing gives 10.2 %. The usual cause is a learning rate "
        "too high for this momentum, at which relu units die and learn no more: try 0.1."
    )


def test_network_advice_is_reported_as_the_likely_cause() -> None:
    run = ended([0.092] * 4, 0.092, learning_rate=10.0)
    (run.path / "network_advice.json").write_text('{"advice": ["Its last layer ends in a ReLU: leave it out."]}')
    assert chance_level.describe_chance_level(run) == (
        "At chance level: 9.2 % right, guessing gives 10.2 %. The likely cause is its network. "
        "Its last layer ends in a ReLU: leave it out."
    )


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ([0.9, 0.91], ""),
        ([0.9, None, 0.098], "Member 3 is at chance level: 9.8 % right, guessing gives 10.2 %."),
        ([0.1, 0.9, 0.102], "Members 1 and 3 are at chance level: 10.0 % and 10.2 % right, guessing gives 10.2 %."),
    ],
)
def test_a_single_member_at_chance_is_named(shares: list[float | None], said: str) -> None:
    assert chance_level.describe_guessing(ended(shares, 0.9)) == said


@pytest.mark.parametrize(
    ("rate", "momentum", "tried"),
    [
        (10.0, 0.9, 0.1),
        (10.0, 0.0, 0.1),
        (0.15, 0.9, 0.05),
        (0.1, 0.9, 0.03),
        (0.1, 0.999, 0.001),
        (3e-5, 0.999, 0.001),
        (1e-5, 0.9, 0.1),
        (0.07, 0.9, 0.02),
        (1.0, 0.99, 0.01),
    ],
)
def test_the_rate_to_try_is_a_third_and_no_more_than_worked(rate: float, momentum: float, tried: float) -> None:
    config = EnsembleConfig(learning_rate=rate, momentum=momentum)
    assert chance_level.suggest_learning_rate(config, 1000) == pytest.approx(tried)


@pytest.mark.parametrize(
    ("rate", "steps", "cause"),
    [
        (0.1, 1, "It made only 1 step: try more epochs, or smaller batches."),
        (1e-5, 100, "a learning rate too low for so few steps: try 0.1."),
        (0.1, 100, "too high for this momentum, at which relu units die and learn no more: try 0.03."),
        (10.0, 1, "too high for this momentum, at which relu units die and learn no more: try 0.1."),
    ],
)
def test_the_cause_is_the_likely_one(rate: float, steps: int, cause: str) -> None:
    assert chance_level.explain_chance_level(EnsembleConfig(learning_rate=rate), steps).endswith(cause)


@pytest.mark.parametrize(
    ("optimizer", "rate", "tried"),
    [
        ("adamw", 0.1, 0.001),
        ("adamw", 0.003, 0.001),
        ("adamw", 0.001, 0.0003),
        ("adamw", 1e-5, 0.001),
        ("nadam", 0.1, 0.002),
        ("lion", 0.1, 0.0001),
    ],
)
def test_of_another_optimizer_than_sgd_the_rate_to_try_is_no_more_than_its_usual_one(
    optimizer: str, rate: float, tried: float
) -> None:
    for momentum in (0.9, 0.99):
        config = EnsembleConfig(optimizer=optimizer, learning_rate=rate, momentum=momentum)
        assert chance_level.suggest_learning_rate(config, 1000) == pytest.approx(tried)


def test_on_colour_no_rate_is_advised_at_which_members_only_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))
    name = own_images.add()
    cnn, lenet5 = (EnsembleConfig(dataset=name, network=one, learning_rate=10.0) for one in ("cnn", "lenet5"))
    assert chance_level.suggest_learning_rate(cnn, 1000) == 0.05
    assert chance_level.suggest_learning_rate(lenet5, 1000) == 0.1
    assert chance_level.suggest_learning_rate(EnsembleConfig(learning_rate=10.0), 1000) == 0.1


@pytest.mark.parametrize(("n", "right", "at_chance"), [(4, 4, False), (20, 4, False), (500, 50, True)])
def test_few_images_do_not_show_that_a_run_only_guesses(n: int, right: int, at_chance: bool) -> None:
    """All of four right is no better than chance might give, and is not said to be chance."""
    entry = replace(ENTRIES["digits"], test_size=n, most_frequent=-(-n // 8))
    assert chance_level.is_chance_accuracy(right / n, entry) is at_chance


def import_rare_class(recall: float, share: float = 0.9) -> Run:
    """Three members with so many rare examples found, right on 90 % of the others, and a guesser.

    They are right less often than the most frequent of two classes, unless they find all.
    """
    rng = np.random.default_rng(4)
    labels = (np.arange(1000) >= 1000 * share).astype(int)
    right = rng.random((4, 1000)) < np.where(labels, recall, 0.9)
    votes = np.where(right, labels, 1 - labels)
    votes[3] = 0
    shares = 0.1 + 0.8 * np.eye(2)[votes] + rng.random((4, 1000, 1)) * [[0.01, -0.01]]
    return runs.find_run(ensemble.import_predictions(shares, labels).id)


def test_members_that_find_a_rare_class_do_not_guess_however_frequent_the_other_is() -> None:
    run = import_rare_class(0.5)
    assert all(share is not None and share <= 0.9 for share in run.status.member_test_accuracy)
    assert not chance_level.is_run_at_chance(run)
    assert chance_level.list_members_at_chance(run) == [4]
    assert chance_level.format_short_state(run) == "imported"
    epoch = evaluate_epoch(run)
    assert epoch.measure(find_guessing_members) == (3,)
    guessing = import_rare_class(0.1)
    assert chance_level.is_run_at_chance(guessing)
    assert chance_level.format_short_state(guessing) == "guesses"
    assert chance_level.list_members_at_chance(guessing) == [1, 2, 3, 4]


def test_without_its_predictions_an_accuracy_decides_among_even_classes_only() -> None:
    run = import_rare_class(0.1)
    rmtree(run.path / "predictions")
    write_status(run.path, replace(run.status, updated=run.status.updated + 1))
    assert not chance_level.is_run_at_chance(runs.find_run(run.id))
    assert chance_level.is_run_at_chance(ended([0.1], 0.1))


@pytest.mark.parametrize(("n", "right"), [(100, 95), (100, 0), (1, 0), (1, 1)])
def test_a_test_set_of_one_class_or_one_image_has_no_chance_level(n: int, right: int) -> None:
    entry = replace(ENTRIES["digits"], test_size=n, most_frequent=n)
    assert not chance_level.is_chance_accuracy(right / n, entry)
