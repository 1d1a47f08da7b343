"""One member next to five that predict numbers, over splits: python -m benchmarks.training.numbers

Five problems that need no network: the diabetes table of Efron and others (2004) and the Linnerud
table (20 men), as scikit-learn has them, and Friedman's three (1991), of formulas with noise of
their own. Each of 20 splits draws the rows, the first parameters and the batches anew; the epoch is
chosen on validation rows, or is the last one if there are too few. The first member of five is the
member alone, to the bit, so that differences are of pairs. A plain loop in Flax and Optax, with its
own draws, trains on the same rows: both means are compared with the standard error of the paired
differences.
"""

import argparse
from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_diabetes, load_linnerud, make_friedman1, make_friedman2, make_friedman3

from benchmarks import common
from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.numeric.numeric_quality import measure_interval_coverage, measure_numeric_quality
from ensemble.config import RegressionConfig
from ensemble.engine.numeric import NumericTrainer, TrainingRows
from ensemble.runs.numeric.numeric_launch import fit_config_to_table, prepare_numeric_table
from ensemble.tables.prepared_table import PreparedTable
from ensemble.tables.raw_table import NUMBER, RawColumn, RawTable

MEMBERS, SPLITS, LEVEL = 5, 20, 0.9
FRIEDMAN_ROWS = 1000
FIGURES = ("rmse", "nll", "crps", "coverage")


def load_diabetes_table() -> RawTable:
    """442 patients, ten measurements, the progression a year later."""
    data = load_diabetes(scaled=False)
    return build_table("diabetes", data.data, data.target)


def load_linnerud_table() -> RawTable:
    """20 men, three exercises, the weight."""
    data = load_linnerud()
    return build_table("linnerud", data.data, data.target[:, 0])


# By name: 10 sin(πx₁x₂) + 20(x₃ − ½)² + 10x₄ + 5x₅ with noise of sd 1 and five idle columns; and
# Friedman's second and third with a signal-to-noise ratio of about 3.
PROBLEMS: dict[str, Callable[[], RawTable]] = {
    "diabetes": load_diabetes_table,
    "linnerud": load_linnerud_table,
    "friedman1": lambda: build_table("friedman1", *make_friedman1(FRIEDMAN_ROWS, noise=1.0, random_state=0)),
    "friedman2": lambda: build_table("friedman2", *make_friedman2(FRIEDMAN_ROWS, noise=125.0, random_state=0)),
    "friedman3": lambda: build_table("friedman3", *make_friedman3(FRIEDMAN_ROWS, noise=0.1, random_state=0)),
}


def build_table(name: str, features: np.ndarray, target: np.ndarray) -> RawTable:
    """Columns x1, x2 … and y."""
    columns = [
        RawColumn(f"x{place + 1}", NUMBER, np.asarray(column, np.float64)) for place, column in enumerate(features.T)
    ]
    columns.append(RawColumn("y", NUMBER, np.asarray(target, np.float64)))
    return RawTable(name, len(target), tuple(columns))


def measure_split(table: RawTable, split: int) -> dict[str, list[float]]:
    """Figures of one member and of all on the test rows, each at the epoch of its own choice."""
    config = RegressionConfig(members=MEMBERS, seed=split, split_seed=split)
    prepared = prepare_numeric_table(config, table, "y")
    config = fit_config_to_table(config, prepared)
    trainer = NumericTrainer(config, TrainingRows(*prepared.select_part(prepared.split.train)))
    state = trainer.init_members()
    best = BestEpochs(prepared)
    for epoch in range(1, config.epochs + 1):
        state, _ = trainer.train(state, epoch, 0, trainer.steps_per_epoch)
        best.record(*(predict_part(trainer, state, prepared, rows) for rows in best.rows))
    figures = best.figures
    plain = train_plain_loop(config, prepared, split)
    return {**figures, **{f"plain {name}": values for name, values in plain.items()}}


class BestEpochs:
    """The figures on the test rows at the epoch with the lowest NLL on validation rows."""

    def __init__(self, table: PreparedTable) -> None:
        self.rows = table.split.validation, table.split.test
        self.figures = dict[str, list[float]]()
        self._table, self._lowest = table, dict[str, float]()

    def record(self, held: NormalMixture | None, test: NormalMixture | None) -> None:
        """Take an epoch if it is the best so far, or if there are no validation rows."""
        assert test is not None
        for name, members in (("one", [0]), ("five", list(range(MEMBERS)))):
            score = -np.inf
            if held is not None:
                own = held.select_members(members)
                targets = self._table.targets[self._table.split.validation]
                nll = measure_numeric_quality(own, targets).nll
                score = np.inf if nll is None else nll
            if name not in self._lowest or score < self._lowest[name] or held is None:
                self._lowest[name] = score
                self.figures[name] = measure_figures(test.select_members(members), self._table)


class PlainNetwork(nn.Module):
    """Two dense layers with relu, a mean and a variance."""

    width: int

    @nn.compact
    def __call__(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        for _ in range(2):
            x = nn.relu(nn.Dense(self.width)(x))
        out = nn.Dense(2)(x)
        return out[:, 0], jax.nn.softplus(out[:, 1]) + 1e-6


def train_plain_loop(config: RegressionConfig, table: PreparedTable, seed: int) -> dict[str, list[float]]:
    """Train the same members by a plain loop with draws of its own."""
    features, targets = map(jnp.asarray, table.select_part(table.split.train))
    network, optimizer = PlainNetwork(config.width), optax.adam(config.learning_rate)

    def compute_loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        mean, variance = network.apply(params, x)
        return 0.5 * jnp.mean(jnp.log(variance) + (y - mean) ** 2 / variance)

    @jax.jit
    @jax.vmap
    def run_epoch(params: Any, state: Any, order: jax.Array) -> tuple[Any, Any]:
        def step(carry: tuple[Any, Any], batch: jax.Array) -> tuple[tuple[Any, Any], None]:
            grads = jax.grad(compute_loss)(carry[0], features[batch], targets[batch])
            updates, state = optimizer.update(grads, carry[1], carry[0])
            return (optax.apply_updates(carry[0], updates), state), None

        return jax.lax.scan(step, (params, state), order)[0]

    rng = np.random.default_rng([seed, 1])
    keys = jax.random.split(jax.random.key(seed + 10**6), MEMBERS)
    params = jax.vmap(lambda key: network.init(key, features[:1]))(keys)
    state = jax.vmap(optimizer.init)(params)
    steps, best = len(features) // config.batch_size, BestEpochs(table)
    answer = jax.jit(jax.vmap(network.apply, (0, None)))
    for _ in range(config.epochs):
        orders = np.stack([rng.permutation(len(features)) for _ in range(MEMBERS)])
        orders = orders[:, : steps * config.batch_size].reshape(MEMBERS, steps, -1)
        params, state = run_epoch(params, state, jnp.asarray(orders))
        best.record(
            *(scale_answer(answer(params, table.features[rows]), table) if len(rows) else None for rows in best.rows)
        )
    return best.figures


def predict_part(
    trainer: NumericTrainer, state: object, table: PreparedTable, rows: np.ndarray
) -> NormalMixture | None:
    """What all members predict for some rows, in the target's unit; None without rows."""
    if not len(rows):
        return None
    answer = trainer.predict(state, table.features[rows])
    assert answer is not None
    return scale_answer(answer, table)


def scale_answer(answer: Any, table: PreparedTable) -> NormalMixture:
    """Bring standardized means and variances (M, N) to the target's unit."""
    mean, variance = (np.asarray(part, np.float64) for part in answer)
    scale = table.encoding.target_scale
    return NormalMixture(mean * scale + table.encoding.target_mean, variance * scale**2)


def measure_figures(mixture: NormalMixture, table: PreparedTable) -> list[float]:
    """The figures of `FIGURES` on the test rows."""
    targets = table.targets[table.split.test]
    quality = measure_numeric_quality(mixture, targets)
    held = measure_interval_coverage(mixture, targets, LEVEL).held
    return [quality.rmse, quality.nll or 0.0, quality.crps or 0.0, held]


def compare_sizes(load: Callable[[], RawTable], splits: int) -> dict[str, object]:
    """Means ± standard errors over splits, of both sizes, both loops and their differences."""
    table = load()
    each = [measure_split(table, split) for split in range(splits)]
    told: dict[str, object] = {"rows": table.rows, "splits": splits}
    for place, name in enumerate(FIGURES):
        values = {who: np.array([split[who][place] for split in each]) for who in each[0]}
        values["saved"] = values["one"] - values["five"]
        for who in ("one", "five"):
            values[f"{who} less plain"] = values[who] - values[f"plain {who}"]
        told[name] = {
            who: [round(float(v.mean()), 4), round(float(v.std(ddof=1) / np.sqrt(splits)), 4)]
            for who, v in values.items()
        }
    return told


def main() -> None:
    """All problems, as JSON: each pair is a mean and its standard error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--problem", action="append", choices=list(PROBLEMS))
    args = parser.parse_args()
    names = args.problem or list(PROBLEMS)
    figures = {name: compare_sizes(PROBLEMS[name], args.splits) for name in names}
    common.keep("numbers", figures)


if __name__ == "__main__":
    main()
