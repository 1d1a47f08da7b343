"""One member beside five that predict numbers, over seeds: python -m benchmarks.training.numbers

Two problems that need no network: the diabetes table of Efron and others (2004), as scikit-learn
has it, and Friedman's first (1991), of a formula with noise of its own. Each seed draws a split,
the first parameters and the batches anew; the epoch is chosen on validation rows. The first member
of five is the member alone, to the bit, so that differences are of pairs.
"""

import argparse
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1

from benchmarks import common
from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.numeric.numeric_quality import (
    measure_interval_coverage,
    measure_numeric_quality,
)
from ensemble.config.numeric_config import NumericConfig
from ensemble.engine.numeric import NumericTrainer, TrainingRows
from ensemble.numeric.training.numeric_launch import prepare_numeric_table
from ensemble.tables.prepared_table import PreparedTable
from ensemble.tables.raw_table import NUMBER, RawColumn, RawTable

MEMBERS, SEEDS, LEVEL = 5, 10, 0.9
FRIEDMAN_ROWS = 1000
FIGURES = ("rmse", "nll", "crps", "coverage")


def load_diabetes_table() -> RawTable:
    """442 patients, ten measurements, the progression a year later."""
    data = load_diabetes(scaled=False)
    return build_table("diabetes", data.data, data.target)


def load_friedman_table() -> RawTable:
    """10 sin(πx₁x₂) + 20(x₃ − ½)² + 10x₄ + 5x₅, noise of sd 1, and five idle columns."""
    return build_table("friedman1", *make_friedman1(FRIEDMAN_ROWS, noise=1.0, random_state=0))


def build_table(name: str, features: np.ndarray, target: np.ndarray) -> RawTable:
    """Columns x1, x2 … and y."""
    columns = [
        RawColumn(f"x{place + 1}", NUMBER, np.asarray(column, np.float64))
        for place, column in enumerate(features.T)
    ]
    columns.append(RawColumn("y", NUMBER, np.asarray(target, np.float64)))
    return RawTable(name, len(target), tuple(columns))


def measure_seed(table: RawTable, seed: int) -> dict[str, list[float]]:
    """Figures of one member and of all on the test rows, each at the epoch of its own choice."""
    config = NumericConfig(members=MEMBERS, seed=seed)
    prepared = prepare_numeric_table(config, table, "y")
    split = prepared.split
    trainer = NumericTrainer(config, TrainingRows(*prepared.select_part(split.train)))
    state = trainer.init_members()
    best: dict[str, tuple[float, list[float]]] = {}
    for epoch in range(1, config.epochs + 1):
        state, _ = trainer.train(state, epoch, 0, trainer.steps_per_epoch)
        held, test = (
            predict_part(trainer, state, prepared, rows) for rows in (split.validation, split.test)
        )
        for name, members in (("one", [0]), ("five", list(range(MEMBERS)))):
            own = held.select_members(members)
            nll = measure_numeric_quality(own, prepared.targets[split.validation]).nll
            score = np.inf if nll is None else nll
            if name not in best or score < best[name][0]:
                figures = measure_figures(test.select_members(members), prepared)
                best[name] = score, figures
    return {name: figures for name, (_, figures) in best.items()}


def predict_part(
    trainer: NumericTrainer, state: object, table: PreparedTable, rows: np.ndarray
) -> NormalMixture:
    """What all members say of some rows, in the target's unit."""
    answer = trainer.predict(state, table.features[rows])
    assert answer is not None
    encoding = table.encoding
    return NormalMixture(
        answer[0].astype(np.float64) * encoding.target_scale + encoding.target_mean,
        answer[1].astype(np.float64) * encoding.target_scale**2,
    )


def measure_figures(mixture: NormalMixture, table: PreparedTable) -> list[float]:
    """The figures of `FIGURES` on the test rows."""
    targets = table.targets[table.split.test]
    quality = measure_numeric_quality(mixture, targets)
    held = measure_interval_coverage(mixture, targets, LEVEL).held
    return [quality.rmse, quality.nll or 0.0, quality.crps or 0.0, held]


def compare_sizes(load: Callable[[], RawTable], seeds: int) -> dict[str, object]:
    """Means over seeds of both, and of their differences with the standard error."""
    table = load()
    each = [measure_seed(table, seed) for seed in range(seeds)]
    one, five = (np.array([seed[name] for seed in each]) for name in ("one", "five"))
    told: dict[str, object] = {"rows": table.rows, "seeds": seeds}
    for place, name in enumerate(FIGURES):
        saved = one[:, place] - five[:, place]
        told[name] = {
            "one": round(float(one[:, place].mean()), 4),
            "five": round(float(five[:, place].mean()), 4),
            "difference": round(float(saved.mean()), 4),
            "standard_error": round(float(saved.std(ddof=1) / np.sqrt(seeds)), 4),
            "five_lower": int((saved > 0).sum()),
        }
    return told


def main() -> None:
    """Both problems, as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    seeds = parser.parse_args().seeds
    figures = {
        "diabetes": compare_sizes(load_diabetes_table, seeds),
        "friedman1": compare_sizes(load_friedman_table, seeds),
    }
    common.keep("numbers", figures)


if __name__ == "__main__":
    main()
