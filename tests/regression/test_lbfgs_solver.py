"""L-BFGS against SciPy's, on one device and on several, on any number of samples.

Against JAXopt's: python -m benchmarks.training.lbfgs
"""

from functools import cache
from typing import Any

import jax
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp
from sklearn.datasets import make_classification

from ensemble.regression.lbfgs_solver import LbfgsSolver, SolverIteration
from ensemble.regression.logistic_objective import (
    PADDING_LABEL,
    BlockedSamples,
    build_logistic_objective,
    choose_block_size,
    count_blocks,
    cut_into_shards,
)
from ensemble.regression.regression_job import LbfgsConfig
from tests.conftest import variant

FEATURES, CLASSES = 24, 4


@cache
def problem(samples: int = 700) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    x, labels = make_classification(samples, FEATURES, n_informative=8, n_classes=CLASSES, random_state=1)
    return x.astype(np.float32), labels.astype(np.int32)


@cache
def solver(devices: int, **chosen: Any) -> LbfgsSolver:
    """One that is compiled once for all tests."""
    config = LbfgsConfig(**chosen)
    return LbfgsSolver(*problem(), CLASSES, config, jax.local_devices()[:devices])


def solve(devices: int, iterations: int, **chosen: Any) -> tuple[list[SolverIteration], NDArray[np.float32]]:
    made = solver(devices, **chosen)
    point, found = made.start(), []
    for _ in range(iterations):
        point, one = made.iterate(point)
        found.append(one)
    return found, made.gather_weights(point)


def loss_and_slope(weights: NDArray[np.float64], l2: float = 0.0) -> tuple[float, NDArray[np.float64]]:
    """The definition, in float64."""
    x, labels = problem()
    weights = weights.reshape(FEATURES, CLASSES)
    logits = x.astype(np.float64) @ weights
    residual = np.exp(log_softmax(logits, axis=1)) - np.eye(CLASSES)[labels]
    loss = (logsumexp(logits, axis=1) - logits[np.arange(len(x)), labels]).mean()
    slope = x.astype(np.float64).T @ residual / len(x) + l2 * weights
    return float(loss + l2 / 2 * (weights**2).sum()), slope


@pytest.mark.long_cases
@pytest.mark.parametrize("l2", [0.0, 0.3])
@pytest.mark.parametrize("block", [16, 48, 704])
def test_value_and_gradient_are_the_definitions(block: int, l2: float) -> None:
    x, labels = problem()
    samples = BlockedSamples(*cut_into_shards(x, labels, block, shards=1)[0])
    weights = np.random.default_rng(0).standard_normal((FEATURES, CLASSES)).astype(np.float32)
    value, slope = jax.value_and_grad(build_logistic_objective(samples, len(x), l2))(weights)
    right, right_slope = loss_and_slope(weights.astype(np.float64), l2)
    assert float(value) == pytest.approx(right, rel=1e-6)
    np.testing.assert_allclose(slope, right_slope, rtol=1e-4, atol=1e-6)


@pytest.mark.long_cases
@pytest.mark.parametrize(("linesearch", "devices"), [("zoom", 1), ("backtracking", 2)])
def test_scipy_reaches_the_same_objective(linesearch: str, devices: int) -> None:
    made, weights = solve(devices, 60, linesearch=linesearch, l2=0.01)
    best = minimize(
        lambda w: (loss_and_slope(w, 0.01)[0], loss_and_slope(w, 0.01)[1].ravel()),
        np.zeros(FEATURES * CLASSES),
        jac=True,
        method="L-BFGS-B",
    )
    assert made[-1].objective == pytest.approx(best.fun, rel=1e-4)
    value, slope = loss_and_slope(weights[0].astype(np.float64).ravel(), 0.01)
    assert made[-1].objective == pytest.approx(value, rel=1e-5)
    assert made[-1].error == pytest.approx(np.linalg.norm(slope), abs=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("devices", [3, variant(8)])
def test_on_several_devices_the_path_is_that_of_one(devices: int) -> None:
    alone, _ = solve(1, 20, linesearch="zoom", l2=0.01)
    together, weights = solve(devices, 20, l2=0.01)
    np.testing.assert_allclose([one.error for one in together], [one.error for one in alone], rtol=1e-3)
    assert [one.evaluations for one in together] == [one.evaluations for one in alone]
    assert len(weights) == devices
    assert np.ptp(weights, axis=0).max() == 0.0  # replicas are the same to the bit


@pytest.mark.parametrize("samples", [5, 16, 701])
def test_any_number_of_samples_on_any_number_of_devices(samples: int) -> None:
    x, labels = problem(701)
    shards = cut_into_shards(x[:samples], labels[:samples], 16, shards=8)
    assert {block.shape[0] for block, _ in shards} == {count_blocks(samples, 16, shards=8)}
    kept = [block.transpose(0, 2, 1)[named != PADDING_LABEL] for block, named in shards]
    np.testing.assert_array_equal(np.concatenate(kept), x[:samples])
    assert all((block.transpose(0, 2, 1)[named == PADDING_LABEL] == 0).all() for block, named in shards)


@pytest.mark.long
def test_a_fixed_step_is_taken_as_it_is() -> None:
    made, _ = solve(1, 3, stepsize=0.05)
    assert [(one.step_size, one.evaluations) for one in made] == [(pytest.approx(0.05), 1)] * 3
    assert made[0].objective > made[1].objective > made[2].objective


def test_a_block_fits_a_cache_on_a_cpu_and_is_everything_elsewhere() -> None:
    assert choose_block_size(50_000, 784, on_cpu=True) == 160
    assert choose_block_size(50_000, 784, on_cpu=True, shared=True) == 1328
    assert choose_block_size(50_000, 784, on_cpu=False) == 50_000
    assert choose_block_size(3, 784, on_cpu=True) == 16
    assert choose_block_size(50_000, 10_000_000, on_cpu=True) == 16


def test_a_small_share_of_a_device_is_one_block() -> None:
    assert solver(2)._block == 352  # 350 of 700 samples, filled up to a multiple of 16
