"""Other ways to Winograd's transforms in float32: python -m benchmarks.speed.transforms

The HOWTO's tower (engine/networks/cpu_windows.py) on 128 images, gradients of kernels and biases,
on one core, by other ways to what lies between its products, in turns in one process:

    fused           what one layer leaves is not written down before the next takes its taps
    two steps       transforms along rows are written down, then those along columns
    kept            the transformed taps of the forward pass are kept for the backward pass
    spots written   each spot's gradient, and each spot, is written down before its transform

Each gives the same gradients, up to rounding. Printed are the medians, and how fast each is beside
the way that is built; the exit status is 1 where another is more than a twentieth faster: then it
is to be built.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import common
from ensemble.engine.networks import cpu_products, cpu_windows
from ensemble.engine.networks.conv_tower import apply_conv_tower
from ensemble.engine.networks.cpu_products import (
    A2,
    B2,
    SPOTS,
    A,
    B,
    combine_signed,
    materialize_arrays,
    multiply_matrices,
    multiply_transposed,
)
from ensemble.machine.jax_settings import prepare_jax

BATCH, STEPS, ROUNDS = 128, 10, 24
FEATURES = ((1, 32), (32, 64))  # of the HOWTO's two convolutions
WORTH_BUILDING = 1.05  # times as fast
BUILT = "built"
Arrays = list[jax.Array]
Layers = list[tuple[jax.Array, jax.Array]]


@contextmanager
def replace_functions(module: Any, **functions: Any) -> Iterator[None]:
    """Other functions in place of a module's, where the tower is traced within."""
    with mock.patch.multiple(module, **functions) if functions else nullcontext():
        register_gradient()
        yield
    register_gradient()


def register_gradient() -> None:
    """Have the layer differentiated by its module's functions, as they are now."""
    cpu_products.choose_product_method.cache_clear()
    cpu_windows.conv_relu_pool.defvjp(cpu_windows._conv_relu_pool_forward, cpu_windows._conv_relu_pool_backward)


def find_spots(z: Arrays, bias: jax.Array) -> Arrays:
    """The spots with their bias."""
    return [spot + bias[:, None, None, None] for spot in z]


def pool_spots(z: Arrays, grid: Any, level: int) -> tuple[jax.Array, jax.Array]:
    """The mean of the spots that are positive, and which those are, one byte a window."""
    positive = [jnp.maximum(spot, 0) for spot in z]
    bits = [(spot > 0) * float(1 << n) for n, spot in enumerate(z)]
    weights = cpu_windows.compute_pooling_weights(grid, level)
    return sum(positive[1:], positive[0]) * weights, sum(bits[1:], bits[0]).astype(jnp.uint8)


def split_gradient(dy: jax.Array, positive: jax.Array, grid: Any, level: int) -> Arrays:
    """The gradient of each spot."""
    dmean = dy * cpu_windows.compute_pooling_weights(grid, level)
    return [jnp.where(positive & (1 << n) != 0, dmean, 0.0) for n in range(len(SPOTS))]


def build_forward(write_spots: bool, write_result: bool) -> Callable[..., tuple[Any, Any]]:
    """As built, with the spots written down or not, and what the layer leaves."""

    def forward(x: Any, weights: Any, bias: Any, grid: Any, level: int, method: Any) -> tuple[Any, Any]:
        bordered = cpu_windows.add_plane_border(x, grid, level)
        taps = cpu_windows.extract_taps(bordered, grid, level)
        z = find_spots(method.forward(taps, weights[0]), bias)
        y, positive = pool_spots(materialize_arrays(z) if write_spots else z, grid, level)
        y, positive = materialize_arrays((y, positive)) if write_result else (y, positive)
        return y, (bordered, weights[1], materialize_arrays(positive))

    return forward


def backward_written(grid: Any, level: int, method: Any, residuals: Any, dy: Any) -> Any:
    """As built, and each spot's gradient written down."""
    x, weights, positive = residuals
    dz = materialize_arrays(split_gradient(dy, positive, grid, level))
    dtaps, dweights = method.backward(cpu_windows.extract_taps(x, grid, level), weights, dz)
    dbias = sum(dz[1:], dz[0]).sum((1, 2, 3))
    return cpu_windows.accumulate_tap_gradients(dtaps, grid, level), (dweights, None), dbias


FORWARD, BACKWARD = cpu_windows._conv_relu_pool_forward, cpu_windows._conv_relu_pool_backward


def forward_kept(x: Any, weights: Any, bias: Any, grid: Any, level: int, method: Any) -> tuple[Any, Any]:
    """As built; of the second layer the transformed taps are kept."""
    if level + 1 == grid.layers:
        return FORWARD(x, weights, bias, grid, level, method)
    taps = cpu_windows.extract_taps(cpu_windows.add_plane_border(x, grid, level), grid, level)
    v = materialize_arrays(combine_signed(B2, taps))
    m = [multiply_matrices(weights[0][n], matrix) for n, matrix in enumerate(v)]
    z = find_spots(combine_signed(A2, materialize_arrays(m)), bias)
    y, positive = materialize_arrays(pool_spots(z, grid, level))
    return y, (v, weights[1], positive)


def backward_kept(grid: Any, level: int, method: Any, residuals: Any, dy: Any) -> Any:
    """As built, from the transformed taps."""
    if level + 1 == grid.layers:
        return BACKWARD(grid, level, method, residuals, dy)
    v, u, positive = residuals
    dz = split_gradient(dy, positive, grid, level)
    dm = materialize_arrays(combine_signed(A2.T, dz))
    du = [multiply_transposed(d, matrix) for d, matrix in zip(dm, v, strict=True)]
    dv = [multiply_matrices(matrix, d) for matrix, d in zip(u, dm, strict=True)]
    dtaps = combine_signed(B2.T, materialize_arrays(dv))
    dx = cpu_windows.accumulate_tap_gradients(dtaps, grid, level)
    return dx, (materialize_arrays(jnp.stack(du)), None), sum(dz[1:], dz[0]).sum((1, 2, 3))


def combine_in_two_steps(weights: np.ndarray, arrays: Arrays) -> Arrays:
    """`combine_signed` along rows, written down, and then along columns."""
    [one] = [each for each in (A, B, A.T, B.T) if np.array_equal(np.kron(each, each), weights)]
    side = one.shape[1]
    columns = [combine_signed(one, arrays[column::side]) for column in range(side)]
    rows = materialize_arrays([list(row) for row in zip(*columns, strict=True)])
    return [combined for row in rows for combined in combine_signed(one, row)]


VARIANTS: dict[str, dict[str, Any]] = {
    BUILT: {},
    "fused": {"_conv_relu_pool_forward": build_forward(False, False)},
    "two steps": {"combine_signed": combine_in_two_steps},
    "kept": {"_conv_relu_pool_forward": forward_kept, "_conv_relu_pool_backward": backward_kept},
    "spots written": {
        "_conv_relu_pool_forward": build_forward(True, True),
        "_conv_relu_pool_backward": backward_written,
    },
}


def compile_steps(images: jax.Array, layers: Layers) -> Callable[[jax.Array, Layers], Layers]:
    """Steps that each follow the gradients of the one before, compiled."""

    def lose(layers: Layers, images: jax.Array) -> jax.Array:
        return (apply_conv_tower(images, layers, "tower", "float32") ** 2).sum()

    def run_steps(images: jax.Array, layers: Layers) -> Layers:
        def step(layers: Layers, _: None) -> tuple[Layers, None]:
            gradients = jax.grad(lose)(layers, images)
            return jax.tree.map(lambda each, by: each - 1e-9 * by, layers, gradients), None

        return jax.lax.scan(step, layers, length=STEPS)[0]

    return jax.jit(run_steps).lower(images, layers).compile()


def measure_variants(rounds: int) -> dict[str, float]:
    """Milliseconds of a step by each way: the medians of so many turns."""
    draws = np.random.default_rng(0)

    def draw(*shape: int) -> jax.Array:
        return jnp.array(draws.normal(size=shape, scale=0.1), jnp.float32)

    images = draw(BATCH, 28, 28, 1)
    layers = [(draw(3, 3, *features), draw(features[1])) for features in FEATURES]
    programs, results = {}, {}
    for name, functions in VARIANTS.items():
        module = cpu_products if "combine_signed" in functions else cpu_windows
        with replace_functions(module, **functions):
            programs[name] = compile_steps(images, layers)
        results[name] = programs[name](images, layers)
        for ours, theirs in zip(*map(jax.tree.leaves, (results[name], results[BUILT])), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5, err_msg=name)
    seconds: dict[str, list[float]] = {name: [] for name in VARIANTS}
    for _ in range(rounds):
        for name, program in programs.items():
            began = time.perf_counter()
            jax.block_until_ready(program(images, layers))
            seconds[name].append(time.perf_counter() - began)
    return {name: statistics.median(each) / STEPS * 1000 for name, each in seconds.items()}


def main() -> int:
    """Measure, print; 1 where another way is worth building."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.transforms")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns of each way")
    parser.add_argument("--json", action="store_true", help="keep the figures in results/")
    args = parser.parse_args()
    prepare_jax()
    milliseconds = measure_variants(args.rounds)
    figures = {
        name: {"ms": round(ms, 2), "times_as_fast": round(milliseconds[BUILT] / ms, 3)}
        for name, ms in milliseconds.items()
    }
    for name, figure in figures.items():
        print(f"{name:14}  {figure['ms']:6.2f} ms  {figure['times_as_fast']:.3f} times as fast")
    if args.json:
        common.keep("transforms", figures)
    return int(max(figure["times_as_fast"] for figure in figures.values()) > WORTH_BUILDING)


if __name__ == "__main__":
    raise SystemExit(main())
