"""L-BFGS by optax on logistic regression, on one device or data-parallel under `pmap`.

The solver is `optax.lbfgs` (Liu and Nocedal 1989, "On the Limited Memory BFGS Method for Large
Scale Optimization") with its zoom line search (Nocedal and Wright, "Numerical Optimization",
algorithms 3.5 and 3.6) or its backtracking one. JAXopt's example
`custom_loop_pmap_example` is the model: the samples are spread over the devices, the weights
and the solver's memory are on each of them, and every device takes the same step.

One program makes one iteration, line search included, with one collective per evaluation. On
several CPU devices such a program could wait for itself for ever; `cpu_devices` says why it does
not.
"""

import contextlib
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from numpy.typing import NDArray

from ensemble.engine.layout import AXIS, Layout
from ensemble.regression.logistic_objective import (
    BlockedSamples,
    build_logistic_objective,
    choose_block_size,
    count_blocks,
    cut_into_shards,
)
from ensemble.regression.regression_job import LbfgsConfig

_ZOOM_STEPS, _BACKTRACKING_STEPS = 20, 30


class _SolverState(NamedTuple):
    """Where the solver stands.

    Attributes:
      weights: (F, C).
      memory: optax's state.
      value: the objective here, in nats per sample.
      gradient: of the objective here, (F, C).
    """

    weights: Array
    memory: Any
    value: Array
    gradient: Array


class SolverIteration(NamedTuple):
    """What one iteration came to.

    Attributes:
      objective: after it, in nats per sample.
      error: the Euclidean norm of the gradient after it, JAXopt's measure of how far to go.
      step_size: what the line search took, as a share of the quasi-Newton step.
      evaluations: how often the objective was computed.
      seconds: how long it took, until the devices had finished.
    """

    objective: float
    error: float
    step_size: float
    evaluations: int
    seconds: float


class LbfgsSolver:
    """One problem, laid out on devices and compiled.

    Args:
      x: float32 (N, F).
      labels: int32 (N,) in [0, C).
      classes: C.
      config: the settings.
      devices: where to solve it; more than one solves it under `pmap`.

    Attributes:
      compile_seconds: what tracing and compiling one iteration and the start took.
    """

    def __init__(
        self,
        x: NDArray[np.float32],
        labels: NDArray[np.int32],
        classes: int,
        config: LbfgsConfig,
        devices: Sequence[jax.Device],
    ) -> None:
        self._config, self._shape = config, (x.shape[1], classes)
        self._count, self._layout = len(x), Layout(len(devices), tuple(devices))
        self._optimizer = _create_lbfgs_optimizer(config)
        self._block = self._choose_block_size()
        # Compiled before the samples are there: both want memory for themselves.
        self._begin, self._iterate, self.compile_seconds = self._compile_programs()
        self._samples = self._place_samples(x, labels)

    def start(self) -> _SolverState:
        """The beginning: weights of zero."""
        return jax.block_until_ready(self._begin(self._samples))

    def iterate(self, point: _SolverState) -> tuple[_SolverState, SolverIteration]:
        """One iteration from `point`; both are whole when it returns."""
        began = time.perf_counter()
        point, figures = jax.block_until_ready(self._iterate(point, self._samples))
        seconds = time.perf_counter() - began
        numbers = [np.ravel(np.asarray(figure))[0] for figure in figures]
        value, error, step_size, evaluations = numbers
        solver_iteration = SolverIteration(float(value), float(error), float(step_size), int(evaluations), seconds)
        return point, solver_iteration

    def gather_weights(self, point: _SolverState) -> NDArray[np.float32]:
        """Every device's weights, (D, F, C): they are the same."""
        return np.asarray(point.weights).reshape(-1, *self._shape)

    def _choose_block_size(self) -> int:
        devices = self._layout.devices
        share, alone = -(-self._count // len(devices)), len(devices) == 1
        return choose_block_size(share, self._shape[0], devices[0].platform == "cpu", shared=alone)

    def _place_samples(self, x: NDArray[np.float32], labels: NDArray[np.int32]) -> BlockedSamples:
        devices = self._layout.devices
        shards = cut_into_shards(x, labels, self._block, len(devices))
        if len(devices) == 1:
            return BlockedSamples(*(jax.device_put(part, devices[0]) for part in shards[0]))
        return BlockedSamples(*(self._layout.put_shards(parts) for parts in zip(*shards, strict=True)))

    def _compile_programs(self) -> tuple[Any, Any, float]:
        began = time.perf_counter()
        devices = self._layout.devices
        blocks = count_blocks(self._count, self._block, len(devices))
        make: Any = self._layout.pmap
        spread: tuple[int, ...] = (len(devices),)
        if len(devices) == 1:
            place = jax.sharding.SingleDeviceSharding(devices[0])
            make, spread = partial(jax.jit, in_shardings=place), ()
        x: Any = jax.ShapeDtypeStruct((*spread, blocks, self._shape[0], self._block), jnp.float32)
        labels: Any = jax.ShapeDtypeStruct((*spread, blocks, self._block), jnp.int32)
        samples = BlockedSamples(x, labels)
        begin, iterate = make(self._begin_solve), make(self._run_iteration)
        point = jax.eval_shape(begin, samples)
        # By default a GPU multiplies float32 by 10 bits of each factor: no search would get far.
        precise = jax.default_matmul_precision("highest")
        with contextlib.nullcontext() if devices[0].platform == "cpu" else precise:
            programs = begin.lower(samples).compile(), iterate.lower(point, samples).compile()
        return *programs, time.perf_counter() - began

    def _build_loss(self, samples: BlockedSamples) -> Any:
        axis = AXIS if len(self._layout.devices) > 1 else None
        return build_logistic_objective(samples, self._count, self._config.l2, axis)

    def _begin_solve(self, samples: BlockedSamples) -> _SolverState:
        weights = jnp.zeros(self._shape)
        value, gradient = jax.value_and_grad(self._build_loss(samples))(weights)
        return _SolverState(weights, self._optimizer.init(weights), value, gradient)

    def _run_iteration(self, point: _SolverState, samples: BlockedSamples) -> tuple[_SolverState, tuple[Array, ...]]:
        loss = self._build_loss(samples)
        updates, memory = self._optimizer.update(
            point.gradient, point.memory, point.weights, value=point.value, grad=point.gradient, value_fn=loss
        )
        weights = optax.apply_updates(point.weights, updates)
        if self._config.stepsize:
            step_size, evaluations = jnp.float32(self._config.stepsize), jnp.int32(1)
            value, gradient = jax.value_and_grad(loss)(weights)
        else:
            search = memory[-1]  # The line search has been at the new weights already.
            step_size, value, gradient = search.learning_rate, search.value, search.grad
            evaluations = search.info.num_linesearch_steps
        point = _SolverState(weights, memory, value, gradient)
        return point, (value, jnp.linalg.norm(gradient), step_size, evaluations)


def _create_lbfgs_optimizer(config: LbfgsConfig) -> optax.GradientTransformationExtraArgs:
    """Create Optax's L-BFGS with the line search, or the fixed step, of the settings."""
    if config.stepsize:
        return optax.lbfgs(config.stepsize, config.history, linesearch=None)
    if config.linesearch == "backtracking":
        search = optax.scale_by_backtracking_linesearch(_BACKTRACKING_STEPS, store_grad=True)
        return optax.lbfgs(None, config.history, linesearch=search)
    search = optax.scale_by_zoom_linesearch(_ZOOM_STEPS, initial_guess_strategy="one")
    return optax.lbfgs(None, config.history, linesearch=search)
