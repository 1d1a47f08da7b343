"""The best trial of a sweep of a table: judged on its validation rows, group by group."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from ensemble import runs, sweeps
from ensemble.analysis.inference.image_groups import collapse_groups
from ensemble.analysis.inference.paired_intervals import mean_interval, mean_p_value
from ensemble.comparison.regression_groups import compare_regression_groups
from ensemble.comparison.run_groups import group_runs
from ensemble.comparison.trial_verdict import judge_trials
from ensemble.jobs.status import write_status
from ensemble.runs.annotations.tags import write_tags
from ensemble.runs.numeric.numeric_launch import create_numeric_run, prepare_numeric_table
from ensemble.runs.numeric.numeric_predictions import read_numeric_targets, write_numeric_arrays
from ensemble.sweeps import Sweep, SweepConfig, Trial
from ensemble.sweeps.best_trials import BestTrialEvidence, estimate_selection_optimism, judge_best_trial
from ensemble.sweeps.test_figures import measure_test_figures
from ensemble.tables.prepared_table import PreparedTable, read_prepared_table, write_prepared_table
from ensemble.tables.raw_table import TEXT, RawColumn, RawTable
from ensemble.wording.verdicts import best_trial as words
from tests.runs.numeric.conftest import build_config, build_table

CONFIG = build_config(validation=0.4)


def prepare(group: str = "") -> PreparedTable:
    """Some 200 validation rows, three of each street."""
    table = build_table(640)
    streets = RawColumn("street", TEXT, np.array([f"street {row // 3}" for row in range(640)], object))
    return prepare_numeric_table(
        CONFIG, RawTable(table.name, 640, (*table.columns, streets)), "price", leave_out=("street",), group=group
    )


def draw_trial(table: PreparedTable, number: int, noise: float, seed: int = 0, goal: str = "rmse") -> Trial:
    """A complete trial whose members err by so much; rows of one group err together."""
    run = create_numeric_run(replace(CONFIG, seed=seed), table)
    groups = np.arange(len(table.targets)) if table.groups is None else table.groups
    draw = np.random.default_rng(10 * number + seed)
    errors = noise * draw.normal(size=len(table.targets))[groups] + draw.normal(size=(3, len(groups)))
    losses = {}
    for what, rows in (("validation", table.split.validation), ("predictions", table.split.test)):
        mean = table.targets[rows] + errors[:, rows]
        write_numeric_arrays(run.path, 1, {"mean": mean, "variance": np.full(mean.shape, 25.0)}, what)
        squared = errors[:, rows].mean(axis=0) ** 2
        losses[what] = float(np.sqrt(squared.mean()))
    write_status(run.path, replace(run.status, state="finished", epoch=1, best_epoch=1, best_on="validation"))
    return Trial(number, "complete", {"learning_rate": 0.001 * (number + 1)}, (losses["validation"],), run_id=run.id)


def create_sweep(table: PreparedTable, objectives: str = "rmse", repeats: int = 1) -> Sweep:
    config = SweepConfig(base=CONFIG, objectives=objectives, repeats=repeats)
    return sweeps.create_sweep(config, table=table)


def judge(sweep: Sweep, *trials: Trial) -> BestTrialEvidence:
    evidence = judge_best_trial(sweep, trials)
    assert evidence is not None
    return evidence


def read_squared_errors(table: PreparedTable, trial: Trial) -> np.ndarray:
    with np.load(runs.find_run(trial.run_id).path / "validation" / "epoch-0001.npz") as arrays:
        return (arrays["mean"].mean(axis=0) - table.targets[table.split.validation]) ** 2


@pytest.mark.parametrize("group", ["", "street"])
def test_trials_are_compared_row_by_row_or_group_by_group(group: str) -> None:
    table = prepare(group)
    trials = [draw_trial(table, number, noise) for number, noise in enumerate((5.0, 5.4, 20.0))]
    evidence = judge(create_sweep(table), *trials)
    held = table.split.validation
    assert evidence.images == len(held)
    assert evidence.groups == (len(set(table.groups[held])) if table.groups is not None else None)
    best, *others = sorted(trials, key=lambda trial: trial.values)
    collapse = (
        (lambda values: values)
        if table.groups is None
        else partial(collapse_groups, index=np.unique(table.groups[held], return_inverse=True)[1])
    )
    own = read_squared_errors(table, best)
    worse = [trial for trial in others if 3 * mean_p_value(collapse(read_squared_errors(table, trial) - own)) < 0.05]
    assert (evidence.best, list(evidence.worse)) == (best, worse)
    assert trials[2] in worse
    second = evidence.next
    assert (second.trial, second.difference) == (others[0], others[0].values[0] - best.values[0])
    low, high = mean_interval(collapse(read_squared_errors(table, second.trial) - own), 1 - 0.05 / 3)
    assert (second.low, second.high) == pytest.approx(
        [end / (best.values[0] + second.trial.values[0]) for end in (low, high)]
    )
    assert (second.low > 0) == (second.trial in worse)


def test_rows_of_a_group_count_once_so_that_less_is_significant() -> None:
    """What errs together in a group is one draw: as independent rows the same errors show more."""
    grouped = prepare("street")
    trials = [draw_trial(grouped, number, noise) for number, noise in enumerate((5.0, 6.0))]
    evidence = judge(create_sweep(grouped), *trials)
    for trial in trials:
        folder = runs.find_run(trial.run_id).path
        write_prepared_table(folder, replace(read_prepared_table(folder), groups=None, train_groups=None))
    alone = judge(create_sweep(grouped), *trials)
    assert (evidence.next.trial, evidence.next.difference) == (alone.next.trial, alone.next.difference)
    assert evidence.next.low < alone.next.low < alone.next.high < evidence.next.high


def test_the_sentences_name_the_rows_the_groups_and_the_next_trial() -> None:
    table = prepare("street")
    trials = [draw_trial(table, number, noise) for number, noise in enumerate((5.0, 5.1, 30.0))]
    sweep = create_sweep(table)
    evidence = judge(sweep, *trials)
    best, second = evidence.best, evidence.next.trial
    text = words.list_best_trial_sentences(sweep, best, evidence)
    assert text[0] == "One run per setting does not show which settings are better."
    assert "has the lowest validation RMSE" in text[1]
    assert f"(trial {second.number + 1}): its validation RMSE is " in text[2]
    assert "higher, which is not significant (95 % interval over all pairs: −" in text[2]
    rows = len(table.split.validation)
    assert f"Measured on {rows} validation rows, on which the best was chosen" in " ".join(text)
    assert f"The {rows} rows form {evidence.groups} groups, each of which counts as one." in text
    assert "image" not in " ".join(text)
    clear = judge(sweep, trials[0], trials[2])
    assert (
        "higher, a significant difference (95 % interval"
        in words.list_trial_evidence(clear, judge_trials(clear, "rmse"), "row")[1]
    )


def test_what_the_choice_costs_is_said_in_the_unit_of_the_target() -> None:
    table = prepare()
    evidence = judge(create_sweep(table), *(draw_trial(table, number, 5.0) for number in range(4)))
    for goal, unit in (("rmse", " km"), ("nll", " nats")):
        text = words.describe_selection_optimism(replace(evidence, optimism=1.5, unit="km"), goal, "row")
        assert text == f"Having been chosen, it is expected to rise by about 1.5{unit} on new rows."
    assert words.describe_selection_optimism(replace(evidence, optimism=1e-4), "rmse", "row") == ""


def test_several_trainings_of_the_same_rows_are_judged_over_seeds() -> None:
    table = prepare()

    def train_twice(number: int, noise: float) -> Trial:
        first, other = (draw_trial(table, number, noise, seed) for seed in (0, 1))
        return replace(first, values=((first.values[0] + other.values[0]) / 2,), repeat_run_ids=(other.run_id,))

    evidence = judge(create_sweep(table, repeats=2), *(train_twice(n, noise) for n, noise in enumerate((5, 5.1, 30))))
    assert (evidence.images, evidence.groups, evidence.repeats) == (len(table.split.validation), None, 2)
    verdict = judge_trials(evidence, "rmse")
    assert verdict.is_about_settings
    assert [group.key for group in verdict.worse] == ["2"]
    assert evidence.next.low < 0 < evidence.next.high
    (rmse, nll) = measure_test_figures(evidence.best.run_ids)
    assert (rmse.trainings, nll.trainings) == (2, 2)
    assert rmse.low < rmse.mean < rmse.high


def test_halves_share_no_group() -> None:
    """Copies of each example say nothing more of how the choice flatters."""
    draw = np.random.default_rng(0)
    losses = draw.exponential(1.0, (8, 100)) + draw.normal(0, 0.3, (8, 100))
    copies, groups = np.repeat(losses, 5, axis=1), np.repeat(np.arange(100), 5)
    assert estimate_selection_optimism(copies, groups) == pytest.approx(estimate_selection_optimism(losses))
    assert estimate_selection_optimism(copies[:, :100], groups[:100]) is None, "20 groups are too few"


def test_test_figures_are_those_of_the_test_rows() -> None:
    table = prepare("street")
    trial = draw_trial(table, 0, 5.0)
    rmse, nll = measure_test_figures(trial.run_ids)
    run = runs.find_run(trial.run_id)
    with np.load(run.path / "predictions" / "epoch-0001.npz") as arrays:
        errors = arrays["mean"].mean(axis=0) - table.targets[table.split.test]
    assert rmse.mean == pytest.approx(np.sqrt((errors**2).mean()))
    groups = read_numeric_targets(run).groups
    low, high = mean_interval(collapse_groups(errors**2, groups))
    assert (rmse.low, rmse.high) == pytest.approx((np.sqrt(max(0, low)), np.sqrt(high)))
    (label, figure), (other, _) = words.list_test_figures([rmse._replace(unit="km"), nll])
    assert label == f"Its ensemble on {len(errors)} test rows, RMSE in km"
    assert " (95 %: " in figure
    assert other == f"Its ensemble on {len(errors)} test rows, NLL in nats"
    assert measure_test_figures(["gone"]) == []


def test_a_comparison_of_trials_names_the_rows_that_tune_judges_by() -> None:
    table = prepare()
    trials = [draw_trial(table, number, noise) for number, noise in enumerate((5.0, 20.0))]
    trained = []
    for trial in trials:
        write_tags(trial.run_id, ["sweep-0101-000000"])
        run = runs.find_run(trial.run_id)
        trained.append(replace(run, config=replace(run.config, learning_rate=trial.params["learning_rate"])))
    verdict = compare_regression_groups(group_runs(trained)).verdict
    assert verdict
    assert words.list_settings_evidence(verdict, "row")[-1].endswith(
        "Tune compares the trials of sweep-0101-000000 on validation rows, so its answer may differ."
    )
