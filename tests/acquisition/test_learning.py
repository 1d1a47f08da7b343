"""An experiment with hidden labels: both arms, killed and gone on with, and what it comes to."""

import json
import shlex
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import datasets
from ensemble.acquisition import learning_worker
from ensemble.acquisition.learning_curves import load_curves
from ensemble.acquisition.learning_job import (
    LearningConfig,
    LearningExperiment,
    create_learning,
    find_learning,
    requeue_learning,
)
from ensemble.acquisition.learning_results import (
    RESULTS_FILE,
    LearningResult,
    append_result,
    collect_curves,
    pack_right,
    read_results,
)
from ensemble.acquisition.learning_worker import execute_learning
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.wording import learning_gain as words
from ensemble.wording.provenance import build_rerun_command
from ensemble.wording.run_names import format_run_name

BASE = EnsembleConfig(network="logistic", members=2, epochs=2, batch_size=8, devices=1)
SMALL = LearningConfig(first=10, step=5, rounds=2, seeds=2, candidates=60, base=BASE)


def invoke(*said: object) -> str:
    done = CliRunner().invoke(main, ["label", *map(str, said)])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_two_arms_are_stopped_and_gone_on_with_and_come_to_the_same() -> None:
    experiment = create_learning(SMALL)

    def stop_after_four(status: Any) -> None:
        if status.done == 4:
            (experiment.path / "stop").touch()

    stopped = execute_learning(experiment.id, stop_after_four)
    assert stopped.state == "stopped"
    assert 4 <= stopped.status.done < SMALL.training_count
    with (stopped.path / RESULTS_FILE).open("ab") as file:
        file.write(b'{"place": 0, "arm": "cho')  # as one that was killed leaves it
    requeue_learning(experiment.id)
    ended = execute_learning(experiment.id)
    assert ended.state == "finished"
    whole = execute_learning(create_learning(SMALL).id)
    assert read_results(whole.path) == read_results(ended.path)
    check_arms(ended)
    check_command(ended)
    assert f"{ended.id} is deleted." in invoke("delete", ended.id)
    assert ended.id not in invoke("curves")


def check_arms(ended: LearningExperiment) -> None:
    """Both arms add as many labels, none twice, and share the first."""
    results = read_results(ended.path)
    assert len(results) == SMALL.training_count == 10
    tested = len(datasets.load_dataset("digits").test_labels)
    for place in range(SMALL.seeds):
        first = results[place, "both", 0]
        had = {arm: set(first.added) for arm in ("chosen", "random")}
        assert len(first.added) == 10
        for number in (1, 2):
            for arm, numbers in had.items():
                result = results[place, arm, number]
                assert len(result.added) == 5
                assert not numbers & set(result.added)
                numbers |= set(result.added)
                assert result.labels == len(numbers)
                right = result.unpack_right()
                assert right.mean() == result.accuracy
                assert len(right) == result.images == tested
        assert had["chosen"] != had["random"]
        assert results[place, "chosen", 1].added == first.following
    assert results[0, "both", 0].added != results[1, "both", 0].added


def check_command(ended: LearningExperiment) -> None:
    """What it has come to, as JSON and in sentences."""
    told = json.loads(invoke("curves", ended.id, "--json"))
    assert (told["run_id"], told["state"], told["complete"]) == (ended.id, "finished", 2)
    assert told["label_counts"] == [10, 15, 20]
    accuracy = {arm: np.array(rows) for arm, rows in told["accuracy"].items()}
    np.testing.assert_array_equal(accuracy["chosen"][:, 0], accuracy["random"][:, 0])
    apart = (accuracy["chosen"] - accuracy["random"]).mean(axis=0)
    assert [row["points"] / 100 for row in told["rounds"]] == pytest.approx(list(apart[1:]))
    assert told["area"]["points"] / 100 == pytest.approx(np.trapezoid(apart, [10, 15, 20]) / 10)
    assert told["sign"] is None
    text = invoke("curves", ended.id)
    assert "Too few seeds to tell" in text
    assert "on 500 test digits" in text
    assert format_run_name(ended) == "10 to 20 labels by diversity · digits"
    command = shlex.split(build_rerun_command(ended))[1:]
    assert command[:2] == ["label", "learn"]
    assert "--candidates" in command


def test_a_class_that_the_first_labels_lack_is_asked_for_sooner_than_by_chance() -> None:
    """Planted: no image of a 7 among the first labels, and members that are unsure of what is new.

    The choice of the worker itself, by members that know all other classes.
    """
    dataset = datasets.load_dataset("digits")
    labels = dataset.train_labels
    shares = list[tuple[float, float]]()
    for seed in range(3):
        runner = object.__new__(learning_worker._SeedRunner)
        config = replace(SMALL, by="epistemic", step=20, base=replace(BASE, members=4))
        order = np.random.default_rng(seed).permutation(len(labels))[:300]
        known = order[labels[order] != 7][:60]
        runner._dataset, runner._config, runner._seed = dataset, config, seed
        runner._candidates = order
        told = know_all_but_sevens(labels[order[~np.isin(order, known)]])
        following = runner._choose_following(known, 0, lambda images, told=told: told)
        drawn = runner._draw_following(known, 0)
        shares.append(((labels[following] == 7).mean(), (labels[drawn] == 7).mean()))
    chosen, at_random = np.mean(shares, axis=0)
    assert chosen > 0.9
    assert at_random < 0.4


def know_all_but_sevens(labels: Any) -> Any:
    """(4, N, 10): members that are sure of every digit but a 7, which each takes for another."""
    said = np.random.default_rng(1).dirichlet(np.ones(10), (4, len(labels)))
    sure = np.flatnonzero(labels != 7)
    said[:, sure] = 0.01
    said[:, sure, labels[sure]] = 0.91
    return said.astype(np.float32)


def build_results(gain: float, seeds: int, images: int = 400) -> dict[Any, LearningResult]:
    """Results of SMALL with so many seeds, the arm that chooses better by a share of images."""
    draws, results = np.random.default_rng(0), {}
    for place in range(seeds):
        for number in range(3):
            for arm in ("chosen", "random") if number else ("both",):
                share = 0.7 + gain * (arm == "chosen")
                right = draws.random(images) < share
                result = LearningResult(
                    place, arm, number, 10 + 5 * number, images, float(right.mean()), 0.5, pack_right(right)
                )
                results[result.key] = result
    return results


@pytest.mark.parametrize(
    ("gain", "seeds", "sentence"),
    [
        (0.25, 5, "Better than chance: +"),
        (-0.25, 5, "Worse than chance: −"),
        (0.0, 6, "No difference from chance is shown so far (−"),
        (0.25, 3, "Too few seeds to tell: +"),
        (0.25, 1, "1 seed of 9 has all rounds: two are needed"),
        (0.25, 0, "0 seeds of 9 have all rounds: two are needed"),
    ],
)
def test_the_sentence_says_what_the_area_says(gain: float, seeds: int, sentence: str) -> None:
    config = replace(SMALL, seeds=9)
    curves = collect_curves(config, build_results(gain, seeds))
    assert words.describe_learning_answer(curves, config).startswith(sentence)
    assert bool(words.describe_last_round(curves)) is (seeds > 1)
    basis = words.describe_learning_basis(curves, config, "digit")
    assert "the same first labels, network and epochs" in basis
    told = words.serialize_learning_curves(curves, config, "digit")
    assert json.loads(json.dumps(told, allow_nan=False))["complete"] == seeds
    assert told["sign"] == (None if seeds < 5 else int(np.sign(gain)))


def test_half_a_seed_counts_for_nothing(tmp_path: Any) -> None:
    results = build_results(0.3, 3)
    for result in results.values():
        if result.key != (2, "random", 2):
            append_result(tmp_path, result)
    curves = collect_curves(replace(SMALL, seeds=3), read_results(tmp_path))
    assert curves.complete == 2
    assert np.isnan(curves.at_random).sum() == 1
    assert curves.gain is not None
    assert curves.gain.seeds == 2


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"candidates": 15}, "come to 20 labels, and candidates is 15"),
        ({"base": replace(BASE, members=1)}, "One member alone cannot disagree"),
        ({"base": replace(BASE, validation=0.2)}, "validation is 0.2, which goes with no"),
        ({"by": "chance"}, "by is 'chance': it has to be one of"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        replace(SMALL, **changes)


def test_more_labels_than_images_fail_with_what_to_do() -> None:
    config = replace(SMALL, first=1200, step=100, candidates=2000)
    experiment = execute_learning(create_learning(config).id)
    assert experiment.state == "failed"
    assert "digits has 1,297 training images, and the rounds come to 1,400" in experiment.message
    assert load_curves(find_learning(experiment.id)).complete == 0
