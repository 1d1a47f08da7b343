"""Figures of a sweep: the best so far, what a setting explains, the front of two objectives."""

import math
from dataclasses import replace

import numpy as np
import pytest

from ensemble.figures.comparison import importances, pareto_front, search_progress, slices
from ensemble.figures.comparison.trial_columns import format_objective, list_trial_columns
from ensemble.figures.palette import LIGHT
from ensemble.sweeps import SweepConfig, Trial

SPACE = "learning_rate=0.001..1:log momentum=0.0..0.9 optimizer=sgd,adamw"


def sweep(**changes: object) -> SweepConfig:
    return SweepConfig.from_dict({"space": SPACE, "base": {"validation": 0.1}, **changes})


def trials(count: int, *values: tuple[float, ...]) -> list[Trial]:
    """Trials whose first value depends on the rate alone; the second goes the other way."""
    draws = np.random.default_rng(0)
    made = []
    for number in range(count):
        params = {
            "learning_rate": float(10 ** draws.uniform(-3, 0)),
            "momentum": float(draws.uniform(0, 0.9)),
            "optimizer": str(draws.choice(["sgd", "adamw"])),
        }
        own = values[number] if values else (abs(math.log10(params["learning_rate"]) + 1),)
        made.append(Trial(number, "complete" if own else "pruned", params, own, f"run-{number}"))
    return made


@pytest.mark.parametrize(("goal", "running"), [("nll", np.minimum.accumulate), ("accuracy", np.maximum.accumulate)])
def test_the_best_so_far_is_the_running_extreme_of_the_complete_trials(goal: str, running: np.ufunc) -> None:
    values = [(0.5,), (), (0.7,), (0.2,), (0.2,), (0.9,), (0.1,), ()]
    config = sweep(objectives=goal)
    found = search_progress.trace_search_history(config, trials(8, *values), goal)
    assert found.trials == ([1, 3, 4, 5, 6, 7], [0.5, 0.7, 0.2, 0.2, 0.9, 0.1])
    truth = running([0.5, 0.7, 0.2, 0.2, 0.9, 0.1])
    x, y = found.best
    at_end = [y[max(place for place, one in enumerate(x) if one <= number)] for number in found.trials[0]]
    np.testing.assert_array_equal(at_end, truth)
    assert x == sorted(x)
    assert x[-1] == 8, "it holds to the last trial"


def test_a_search_without_a_complete_trial_has_no_best() -> None:
    assert search_progress.trace_search_history(sweep(), trials(2, (), ()), "nll") == (([], []), ([], []))


def test_the_trials_at_work_are_always_among_those_whose_epochs_are_drawn() -> None:
    every = [replace(one, epochs={1: 0.5, 2: math.nan}) for one in trials(9)]
    every[0] = replace(every[0], state="running")
    every[1] = replace(every[1], epochs={})
    found = search_progress.list_trial_epochs(every, most=3)
    assert [one.number for one in found] == [8, 9, 1]
    assert found[0].points == ([1, 2], [0.5, None])


def test_importance_goes_to_the_setting_that_alone_decides() -> None:
    shares = importances.compute_setting_importances(sweep(), trials(40), "nll")
    assert next(iter(shares)) == "learning_rate"
    assert shares["learning_rate"] > 0.9
    assert math.isclose(sum(shares.values()), 1, rel_tol=1e-6)
    drawn = importances.plot_setting_importances(shares, "t", LIGHT).data[0]
    assert drawn.y[-1] == "learning rate", "the largest stands on top"


def test_importance_says_nothing_of_few_trials_or_of_equal_ones() -> None:
    few = trials(importances.MIN_TRIALS - 1)
    assert importances.compute_setting_importances(sweep(), few, "nll") == {}
    assert importances.compute_setting_importances(sweep(), trials(12, *[(0.5,)] * 12), "nll") == {}


def test_a_slice_is_log_where_the_range_was_and_in_words_where_those_were_tried() -> None:
    every = trials(6)
    rate, momentum, optimizer, nll = list_trial_columns(sweep(), every)
    kinds = [
        slices.plot_setting_slice(one, nll, range(1, 7), 2, "t", LIGHT).layout.xaxis.type
        for one in (rate, momentum, optimizer)
    ]
    assert kinds == ["log", "linear", "category"]
    assert optimizer.categories == ["AdamW", "SGD"]
    points, best = slices.plot_setting_slice(rate, nll, range(1, 7), 2, "t", LIGHT).data
    np.testing.assert_allclose(points.x, [one.params["learning_rate"] for one in every])
    np.testing.assert_allclose(points.y, [one.values[0] for one in every])
    assert best.x == (every[2].params["learning_rate"],)


def test_the_front_is_joined_from_left_to_right() -> None:
    config = sweep(objectives="nll,seconds")
    every = trials(4, (0.1, 9.0), (0.3, 2.0), (0.4, 5.0), (0.2, 4.0))
    *_, nll, seconds = list_trial_columns(config, every)
    on_front = [True, True, False, True]
    beaten, joined = pareto_front.build_front_traces(seconds, nll, on_front, ["a", "b", "c", "d"], LIGHT)
    assert (beaten["x"], beaten["y"]) == ([5.0], [0.4])
    assert (joined["x"], joined["y"]) == ([2.0, 4.0, 9.0], [0.3, 0.2, 0.1])


def test_values_are_said_in_the_units_of_their_objective() -> None:
    said = [
        format_objective("nll", 0.08123),
        format_objective("accuracy", 0.9721),
        format_objective("ece", 0.0123),
        format_objective("seconds", 0.142),
        format_objective("seconds", 80.0),
        format_objective("nll", None),
    ]
    assert said == ["0.0812", "97.21 %", "1.23 %", "0.142 s", "1 min 20 s", "–"]


def test_a_trial_of_yesterdays_settings_has_a_gap_and_no_fault() -> None:
    old = Trial(0, "complete", {"learning_rate": 0.1}, (0.5,), "run-0")
    found = list_trial_columns(sweep(), [old])
    assert [one.values[0] for one in found] == [0.1, None, None, 0.5]
