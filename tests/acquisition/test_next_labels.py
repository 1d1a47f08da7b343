"""What to label next of a file of predictions: by command, with its random arm, or a refusal."""

import csv
import json
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import ensemble
from ensemble.acquisition.learning_job import LearningConfig
from ensemble.acquisition.next_labels import choose_next_labels
from ensemble.analysis.acquisition.image_choice import STRATEGIES
from ensemble.analysis.example_measures import MemberOutputs
from ensemble.cli.label import run_label_learn_command
from ensemble.cli.program import main
from ensemble.datasets.own.pools.pool_arms import BOTH_ARMS
from ensemble.errors import ConfigError, PredictionsError
from ensemble.wording.next_labels import describe_members_answer
from tests.analysis.draws import distributions


def invoke(*words: object) -> str:
    done = CliRunner().invoke(main, ["label", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.stdout


def refuse(*words: object) -> str:
    done = CliRunner().invoke(main, ["label", *map(str, words)])
    assert done.exit_code in (1, 2), done.output
    return done.stderr


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    np.savez(tmp_path / "pool.npz", probabilities=distributions(4, 50, 6))
    return tmp_path / "pool.npz"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_file_without_labels_is_ranked(pool: Path, strategy: str) -> None:
    each = distributions(4, 50, 6)
    found = json.loads(invoke("next", pool, "--by", strategy, "--count", 8, "--json"))
    assert (found["by"], found["images"], found["members"]) == (strategy, 50, 4)
    rows = [row for row in found["next"] if row["arm"] != "random"]
    assert [row["number"] for row in rows] == STRATEGIES[strategy].choose(each, 8, 0).tolist()
    scores = [row["epistemic"] for row in rows]
    np.testing.assert_allclose(scores, MemberOutputs(each).epistemic[[row["number"] for row in rows]])
    drawn = [row for row in found["next"] if row["arm"] in ("random", BOTH_ARMS)]
    assert len(drawn) == (0 if strategy == "random" else 8)
    assert len({row["number"] for row in found["next"]}) == len(found["next"])


def test_lines_for_people_name_the_images_of_a_table(tmp_path: Path) -> None:
    each = distributions(2, 9, 3)
    with (tmp_path / "pool.csv").open("w") as file:
        table = csv.writer(file)
        table.writerow(["member", "example", "cat", "dog", "owl"])
        for member in range(2):
            for number in range(9):
                table.writerow([member, f"{number}.png", *each[member, number]])
    text = invoke("next", tmp_path / "pool.csv", "--count", 2, "--by", "information")
    first = int(MemberOutputs(each).epistemic.argmax())
    assert text.splitlines()[3].split()[0] == str(first)
    assert text.splitlines()[3].endswith(f"{first}.png")
    assert "Label these 2 images of 9 next, chosen by the highest epistemic uncertainty of 2 members" in text
    assert "2 images drawn at random" in text


def test_an_experiment_of_an_earlier_version_has_the_new_name_of_its_strategy() -> None:
    stored = {**LearningConfig().as_dict(), "by": "information"}
    assert LearningConfig.from_disk(stored).by == "epistemic"
    with pytest.raises(ConfigError, match="epistemic"):
        LearningConfig.from_dict(stored)


def test_an_experiment_is_asked_for_by_either_name_of_its_strategy() -> None:
    for word in ("information", "epistemic"):
        assert run_label_learn_command.make_context("learn", ["--by", word]).params["by"] == "epistemic"
    with pytest.raises(click.BadParameter, match="epistemic"):
        run_label_learn_command.make_context("learn", ["--by", "luck"])


def test_an_arm_takes_none_that_it_has_and_ends_with_the_pool() -> None:
    each = distributions(3, 12, 4)
    first = choose_next_labels(each, "epistemic", 5)
    has_chosen, has_random = np.zeros(12, bool), np.zeros(12, bool)
    has_chosen[first.chosen], has_random[first.at_random] = True, True
    second = choose_next_labels(each, "epistemic", 20, 1, has_chosen=has_chosen, has_random=has_random)
    assert sorted([*first.chosen, *second.chosen]) == list(range(12))
    assert sorted([*first.at_random, *second.at_random]) == list(range(12))
    third = choose_next_labels(each, "epistemic", 3, has_chosen=has_chosen)
    left = np.flatnonzero(~has_chosen)
    most = left[np.argsort(-MemberOutputs(each).epistemic[left], kind="stable")[:3]]
    assert third.chosen.tolist() == most.tolist()
    full = np.ones(12, bool)
    assert not len(choose_next_labels(each, has_chosen=full, has_random=full).numbers)


def test_what_cannot_be_chosen_is_refused_with_what_to_do(pool: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "one.npz", probabilities=distributions(1, 9, 3))
    assert "choose “entropy”" in refuse("next", tmp_path / "one.npz", "--by", "power")
    assert len(json.loads(invoke("next", tmp_path / "one.npz", "--by", "entropy", "--json"))["next"])
    assert "count is 0: it has to be" in refuse("next", pool, "--count", 0)
    assert "seed is -1: it has to be" in refuse("next", pool, "--seed", -1)
    np.savez(tmp_path / "flat.npz", probabilities=np.full(9, 0.5))
    assert "flat.npz: `probabilities` has the shape (9,)" in refuse("next", tmp_path / "flat.npz")
    assert "gone.npz: it cannot be read" in refuse("next", tmp_path / "gone.npz")


def test_labels_in_a_file_change_nothing(pool: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "labelled.npz", probabilities=distributions(4, 50, 6), labels=np.arange(50) % 6)
    with_labels = invoke("next", tmp_path / "labelled.npz")
    assert "The labels of the file were not looked at." in with_labels
    assert with_labels.splitlines()[:20] == invoke("next", pool).splitlines()[:20]


def test_a_notebook_chooses_as_the_command_does(pool: Path) -> None:
    each = distributions(4, 50, 6)
    choice = ensemble.choose_labels(each, by="power", count=7, seed=3)
    words = ("--by", "power", "--count", 7, "--seed", 3, "--json")
    assert choice.to_dict()["next"] == json.loads(invoke("next", pool, *words))["next"]
    assert str(choice).startswith("Label these 7 images of 50 next, drawn the likelier")
    assert choice.to_frame()["number"].tolist()[:7] == choice.chosen.tolist()
    for wrong in (each[0], np.log(each), each.astype(str)):
        with pytest.raises(PredictionsError, match=r"give (numbers|probabilities)"):
            ensemble.choose_labels(wrong)


@pytest.mark.parametrize(
    ("votes", "members", "sentence"),
    [
        (4, 4, "All 4 members say “oak”."),
        (3, 4, "3 of 4 members say “oak”."),
        (1, 4, "1 of 4 members says “oak”."),
        (1, 1, "1 of 1 member says “oak”."),
    ],
)
def test_the_members_answer_counts_their_votes(votes: int, members: int, sentence: str) -> None:
    assert describe_members_answer(votes, members, "oak") == sentence


@pytest.mark.parametrize("by", ["information", "diversity", "power"])
def test_members_that_agree_on_all_images_choose_none(tmp_path: Path, by: str) -> None:
    shares = np.random.default_rng(4).dirichlet(np.ones(4), 50).astype(np.float32)
    np.savez(tmp_path / "a.npz", probabilities=np.repeat(shares[None], 4, axis=0))
    said = invoke("next", tmp_path / "a.npz", "--by", by, "--count", 3)
    assert "the choice is arbitrary, because no image has a higher value than another (highest epistemic" in said
    assert "arbitrary" not in invoke("next", tmp_path / "a.npz", "--by", "entropy", "--count", 3)
