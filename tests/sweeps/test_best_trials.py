"""The best trial against the others: what the images held out show, and how a choice flatters."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import ensemble
from ensemble import runs, sweeps
from ensemble.analysis.inference.paired_intervals import mean_p_value
from ensemble.comparison.trial_verdict import judge_trials
from ensemble.config import EnsembleConfig
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.jobs.status import write_status
from ensemble.runs.history import write_predictions
from ensemble.runs.test_set import load_run_dataset
from ensemble.sweeps import Sweep, Trial
from ensemble.sweeps.best_trials import (
    BestTrialEvidence,
    estimate_selection_optimism,
    find_worse_losses,
    find_worse_trainings,
    judge_best_trial,
    list_edge_settings,
)
from ensemble.sweeps.search_space import parse_search_space
from ensemble.wording.verdicts import best_trial as words
from ensemble.wording.verdicts.settings_verdict import describe_settings_verdict, list_settings_evidence
from tests.sweeps.drawn_trials import repeated, trial
from tests.sweeps.light import light_config


@pytest.fixture
def sweep() -> Sweep:
    return sweeps.create_sweep(light_config())


def judged(sweep: Sweep, *trials: Trial) -> BestTrialEvidence:
    found = judge_best_trial(sweep, trials)
    assert found is not None
    return found


def test_trials_that_may_be_as_good_are_told_from_those_that_are_worse(sweep: Sweep) -> None:
    found = judged(sweep, trial(0, 2.0), trial(1, 2.01), trial(2, 0.5), trial(3, 1.99))
    assert found.best.number in (0, 1, 3)
    assert {one.number for one in found.equivalent} == {0, 1, 3} - {found.best.number}
    assert [one.number for one in found.worse] == [2]
    assert [one.number for one in found.compared] == [0, 1, 2, 3]


def test_one_run_per_trial_gives_no_verdict_on_settings(sweep: Sweep) -> None:
    found = judged(sweep, trial(0, 3.0), trial(1, 0.5), trial(2, 0.4))
    verdict = judge_trials(found, "nll")
    assert (verdict.split, verdict.images, verdict.is_about_settings) == ("validation", found.images, False)
    assert (verdict.cheapest, verdict.more_seeds) == ((), None)
    assert describe_settings_verdict(verdict) == "One run per setting does not show which settings are better."
    evidence = list_settings_evidence(verdict, "digit")
    assert evidence[0].startswith("In these runs, rate 0.1 (trial 1) has the lowest validation NLL, ")
    assert evidence[0].endswith("both others are significantly worse.")
    assert evidence[-1].startswith(f"Measured on {found.images} validation digits, on which the best was chosen.")


def test_what_cannot_be_held_against_the_best_is_left_out(sweep: Sweep) -> None:
    best = trial(0, 3.0)
    other_images = trial(1, 2.0, seed=5)
    without = replace(trial(2, 2.0), run_id="gone")
    pruned = replace(trial(3, 2.0), state="pruned")
    assert judge_best_trial(sweep, [best, other_images, without, pruned]) is None
    assert judge_best_trial(sweep, [best]) is None
    assert judge_best_trial(sweep, []) is None
    assert len(judged(sweep, best, pruned, trial(4, 1.0)).compared) == 2


@pytest.mark.long
def test_a_trial_is_worse_only_by_more_than_its_trainings_differ() -> None:
    """Image by image the second is worse in each training, the third in all but one."""
    sweep = sweeps.create_sweep(light_config(repeats=3))
    best, clear, wavering = repeated(0, 3, 2.9, 3), repeated(1, 1, 1.1, 1), repeated(2, 1, 3.2, 2)
    found = judged(sweep, best, clear, wavering)
    assert (found.best, len(found.compared), found.repeats) == (best, 3, 3)
    assert [one.number for one in found.equivalent] == [2]
    once = sweeps.create_sweep(light_config())
    alone = [replace(one, repeat_run_ids=()) for one in (best, clear, wavering)]
    assert judged(once, *alone).equivalent == (), "of these first trainings it is worse"
    verdict = judge_trials(found, "nll")
    assert [group.key for group in verdict.remaining] == ["0", "2"]
    assert [group.seeds for group in verdict.groups] == [3, 3, 3]
    assert verdict.is_about_settings
    assert verdict.more_seeds is not None
    clear_verdict = judge_trials(judged(sweep, best, clear), "nll")
    assert [group.key for group in clear_verdict.remaining] == ["0"]
    assert "lower validation NLL than" in describe_settings_verdict(clear_verdict)
    held = [one for run_id in best.run_ids for one in held_images(run_id)]
    assert found.images == len(set(held)) < len(held), "an image that is held out twice is one"


def held_images(run_id: str) -> list[int]:
    run = runs.find_run(run_id)
    data = load_run_dataset(run)
    return select_validation_indices(runs.require_training_config(run), data).tolist()


def test_a_trial_without_all_its_trainings_is_left_out() -> None:
    sweep = sweeps.create_sweep(light_config(repeats=2))
    best, other = repeated(0, 3.0, 3.0), repeated(1, 1.0, 1.0)
    lost = replace(other, repeat_run_ids=("gone",))
    other_seed = replace(other, repeat_run_ids=best.repeat_run_ids, run_id=other.repeat_run_ids[0])
    assert judge_best_trial(sweep, [best, lost]) is None
    assert judge_best_trial(sweep, [best, other_seed]) is None
    assert judge_best_trial(sweep, [replace(best, repeat_run_ids=()), other]) is None
    assert len(judged(sweep, best, other, lost).compared) == 2


@pytest.mark.long
def test_two_trials_over_trainings_are_compared_by_students_paired_test() -> None:
    """The studentized range of two is √2 |t|."""
    draw = np.random.default_rng(0)
    for _ in range(8):
        values = draw.normal([[0.0], [1.0]], 1.0, (2, 4)) + draw.normal(0, 5, 4)
        if values[0].mean() < values[1].mean():
            p = stats.ttest_rel(values[0], values[1]).pvalue
            assert find_worse_trainings(values).tolist() == [p < 0.05]


def test_several_trials_over_trainings_are_compared_by_tukeys_test() -> None:
    """Where seeds do nothing to all alike, and all spread the same, it is SciPy's but for df."""
    values = np.array([[0.0, 1.0, 2.0], [3.5, 4.5, 5.5], [11.0, 12.0, 13.0], [8.0, 7.0, 9.0]])
    rest = values - values.mean(1, keepdims=True) - values.mean(0) + values.mean()
    for number, worse in enumerate(find_worse_trainings(values), start=1):
        error = max(2 * (rest**2).sum() / 6, np.var(values[number] - values[0], ddof=1))
        q = np.sqrt(2) * (values[number] - values[0]).mean() / np.sqrt(error / 3)
        assert worse == (stats.studentized_range.sf(q, 4, 6) < 0.05)
    assert find_worse_trainings(values[[2, 0, 1, 3]]).tolist() == [False] * 3, "less is no worse"
    assert find_worse_trainings(np.zeros((3, 2))).tolist() == [False] * 2


@pytest.mark.parametrize(("share", "is_worse"), [(0.97, False), (1.03, True)])
def test_a_trial_over_trainings_is_worse_just_beyond_the_studentized_range(share: float, is_worse: bool) -> None:
    """The two-way residuals of four trials in two trainings have three degrees of freedom."""
    rest = 0.1 * np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])
    error = np.sqrt((rest**2).sum() / 3 / 2)
    critical = 6.825  # the 5 % point of the studentized range of four means, of Tukey's tables
    means = np.array([0.0, 0.0, share * critical * error, 0.0])
    assert find_worse_trainings(means[:, None] + rest).tolist()[1] is is_worse


@pytest.mark.long
def test_equal_trials_are_rarely_called_worse_and_a_clear_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal trials differ by luck with the images, and by luck of each training."""
    quantile = stats.studentized_range.isf(0.05, 8, 14)
    monkeypatch.setattr(stats.studentized_range, "isf", lambda *args: quantile)
    draw = np.random.default_rng(1)

    def is_shown_worse(better: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """By images alone, and by trainings too, where the first trial is so much better."""
        images = draw.exponential(1.0, (1, 3, 100))
        noise = np.sqrt(images) * draw.normal(0, 0.3, (8, 3, 100)) + draw.normal(0, 0.05, (8, 3, 1))
        losses = images + noise - better * (np.arange(8) == 0)[:, None, None]
        losses = losses[np.argsort(losses.mean(axis=(1, 2)), kind="stable")]
        by_images = find_worse_losses(losses.reshape(8, -1))
        return by_images, by_images & find_worse_trainings(losses.mean(axis=2))

    equal = [is_shown_worse(0.0) for _ in range(120)]
    assert sum(worse.any() for _, worse in equal) <= 0.05 * len(equal)
    by_images = sum(worse.any() for worse, _ in equal)
    assert by_images > 0.25 * len(equal), "by images alone luck of a training is a difference"
    assert sum(is_shown_worse(0.5)[1].all() for _ in range(20)) >= 19


def test_losses_are_worse_where_p_holds_for_all_pairs_of_trials() -> None:
    """Bonferroni: of seven trials there are 21 pairs, any of which might have been compared."""
    saved = np.random.default_rng(0).normal(0.0, 1.0, 60) + np.linspace(0.3, 0.55, 6)[:, None]
    p = np.array([mean_p_value(values) for values in saved])
    worse = find_worse_losses(np.vstack([np.zeros(60), saved]))
    assert worse.tolist() == (21 * p < 0.05).tolist()
    assert 0 < worse.sum() < (6 * p < 0.05).sum(), "the cases tell all pairs from those with the best"


def test_by_calibration_or_time_nothing_is_tested() -> None:
    sweep = sweeps.create_sweep(light_config(objectives="seconds"))
    assert judge_best_trial(sweep, [trial(0, 2.0), trial(1, 1.0)]) is None


@pytest.mark.long_cases
@pytest.mark.parametrize("trials", [2, 10])
def test_the_optimism_is_what_the_best_loses_on_new_images(trials: int) -> None:
    draw, told, lost, n = np.random.default_rng(0), [], [], 200
    for _ in range(150):
        losses = draw.exponential(1.0, n) + draw.normal(0, 1.0, (trials, n))
        told.append(estimate_selection_optimism(losses))
        # All are equally good: what the best is below the mean of all is luck.
        means = losses.mean(axis=1)
        lost.append(means.mean() - means.min())
    assert np.mean(told) == pytest.approx(np.mean(lost), rel=0.2)
    assert estimate_selection_optimism(np.zeros((3, 30))) is None
    clear = np.array([[0.0], [1.0]]) + draw.normal(0, 0.1, (2, n))
    assert estimate_selection_optimism(clear) == pytest.approx(0, abs=0.002)


def test_a_best_at_the_end_of_the_search_is_said_to_be() -> None:
    axes = parse_search_space("learning_rate=0.001..1:log momentum=0.5,0.9 members=2..8 optimizer=sgd,adamw epochs=3,3")
    inside = {"learning_rate": 0.03, "momentum": 0.7, "members": 4, "optimizer": "sgd"}
    assert list_edge_settings(axes, inside) == {}
    edge = {"learning_rate": 0.99, "momentum": 0.5, "members": 8, "optimizer": "sgd", "epochs": 3}
    found = list_edge_settings(axes, edge)
    assert found == {"learning_rate": "highest", "momentum": "lowest", "members": "highest"}
    assert words.describe_edge_settings({"learning_rate": "highest"}) == (
        "Learning rate is at the upper end of the search: better values may lie beyond."
    )
    assert words.describe_edge_settings({}) == ""


def test_what_the_choice_costs_is_said_in_its_unit(sweep: Sweep) -> None:
    found = judged(sweep, trial(0, 2.0), trial(1, 2.0))
    assert words.describe_selection_optimism(replace(found, optimism=0.00412), "nll") == (
        "Having been chosen, it is expected to rise by about 0.0041 nats on new images."
    )
    assert "to lose about 1.2 points" in words.describe_selection_optimism(replace(found, optimism=0.012), "accuracy")
    assert words.describe_selection_optimism(replace(found, optimism=None), "nll") == ""
    assert words.describe_selection_optimism(None, "nll") == ""


def test_images_of_one_group_count_once(sweep: Sweep) -> None:
    """Four copies of each image, one of each group: the interval is that of the groups."""
    draw = np.random.default_rng(0)
    images = np.repeat(draw.integers(0, 256, (100, 8, 8), dtype=np.uint8), 4, axis=0)
    images[:, 0, 0] = np.tile(np.arange(4, dtype=np.uint8), 100)
    labels, writers = np.repeat(np.arange(100) % 2, 4), np.repeat(np.arange(100), 4)
    with pytest.warns(UserWarning, match="whole groups"):
        ensemble.add_dataset("writers", images, labels, groups=writers, noun="letter")
    found = judged(sweep, *(_draw_grouped_trial(number, draw) for number in range(2)))
    assert found.groups is not None
    assert found.images == 4 * found.groups
    text = " ".join(words.list_trial_evidence(found, judge_trials(found, "nll"), "letter"))
    assert f"The {found.images} letters form {found.groups} groups, each of which counts as one." in text


def _draw_grouped_trial(number: int, draw: np.random.Generator) -> Trial:
    config = EnsembleConfig(dataset="writers", network="logistic", members=2, epochs=1, validation=0.4)
    run = runs.create_run(config)
    data = load_run_dataset(run)
    held = select_validation_indices(config, data)
    assert data.train_groups is not None
    right = draw.uniform(0.2, 0.9, 100)[data.train_groups[held]]
    labels = data.train_labels[held]
    probabilities = np.where(np.arange(2) == labels[:, None], right[:, None], 1 - right[:, None])
    write_predictions(run.path, 1, np.stack([probabilities, probabilities]), "validation")
    write_status(run.path, replace(run.status, state="finished", best_epoch=1, best_on="validation"))
    return Trial(number, "complete", {"momentum": 0.1 * number}, (float(-np.log(right).mean()),), run_id=run.id)
