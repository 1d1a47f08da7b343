"""What other runs say of the one that is shown: its seed's luck, and all comparisons at once."""

from dataclasses import replace

import numpy as np

from ensemble.analysis.members.gain import PairedGain, paired_gain
from ensemble.comparison.seed_spread import SeedSpread, measure_seed_spread
from ensemble.ui.inspect import all_runs_comparison
from ensemble.ui.inspect.all_runs_comparison import RunGain
from tests.pages.ensembles import trained


def finished(seed: int, accuracy: float, nll: float, **more: object):
    return trained(seed=seed, ensemble_test_accuracy=accuracy, ensemble_test_nll=nll, **more)


def test_seeds_are_of_finished_runs_that_differ_in_nothing_else_each_seed_once() -> None:
    run = finished(0, 0.9, 0.3)
    others = [
        finished(1, 0.91, 0.31),
        finished(2, 0.92, 0.32),
        finished(2, 0.92, 0.32),
        finished(3, 0.5, 0.9, members=2),
        finished(4, 0.5, 0.9, epochs=1),
        finished(5, 0.5, 0.9, state="stopped"),
        trained(seed=6),
    ]
    assert measure_seed_spread(run, [*others, run]) == SeedSpread((0.9, 0.91, 0.92), (0.3, 0.31, 0.32))
    stopped = finished(0, 0.9, 0.3, state="stopped")
    assert measure_seed_spread(stopped, others).accuracies == (0.91, 0.92)
    assert measure_seed_spread(others[-1], []) == SeedSpread()


def test_a_run_that_was_trained_in_groups_counts_as_another_seed_like_any_other() -> None:
    run, other = (finished(seed, 0.9 + seed / 100, 0.3, members=4) for seed in (0, 1))
    in_groups = replace(other, config=replace(other.config, groups=2))
    assert measure_seed_spread(run, [in_groups]).accuracies == (0.9, 0.91)


def won(count: int, lost: int = 2) -> PairedGain:
    hits, others = np.zeros((2, 500), bool)
    hits[:count], others[count : count + lost] = True, True
    return paired_gain(hits, others, np.sin(np.arange(500)))


def test_against_all_runs_what_one_alone_would_show_is_not_shown() -> None:
    """12 to 2 have p = 0.013 alone; among five runs, of two figures each, 0.13."""
    alone = all_runs_comparison.tabulate_run_gains([RunGain("one", won(12))], "digit")
    assert alone["this run"].tolist() == ["better: more right"]
    five = [RunGain(f"run {k}", won(12 if k else 30)) for k in range(5)]
    frame = all_runs_comparison.tabulate_run_gains(five, "digit")
    assert frame["this run"].tolist() == ["better: more right", *["not shown"] * 4]
    assert frame["p"].tolist() == ["< 0.001", *[f"{won(12).p * 9:.2f}"] * 4]
    assert frame["its NLL"].tolist() == ["not shown"] * 5


def test_what_is_left_out_of_all_runs_is_said() -> None:
    assert "adjusted for all 8 tests" in all_runs_comparison.describe_multiple_tests(4, 4, 0)
    assert "The newest 20 of 1,000 runs" in all_runs_comparison.describe_multiple_tests(19, 1_000, 1)
    assert "predictions of 1 run cannot be read" in all_runs_comparison.describe_multiple_tests(19, 1_000, 1)
