"""Trains an ensemble that predicts numbers: M members on D devices, all rows lie on each device."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.typing import ArrayLike
from numpy.typing import NDArray

from ensemble.config import RegressionConfig
from ensemble.datasets.partition.folds import count_images_per_member
from ensemble.engine.draws import random_keys
from ensemble.engine.draws.batches import sample_epoch_batches
from ensemble.engine.forms.member_programs import map_over_lanes, split_into_blocks
from ensemble.engine.layout import Layout, choose_devices
from ensemble.engine.learning_rate_schedule import compute_learning_rates
from ensemble.engine.networks.compiler_options import choose_compiler_options
from ensemble.engine.numeric.numeric_networks import NumericNetwork, bind_numeric_network
from ensemble.engine.numeric.numeric_step import NumericStepInputs, predict_blocks, run_numeric_steps
from ensemble.engine.optimizer import Hyperparameters, UpdateRule, build_update_rule, resolve_member_values
from ensemble.engine.step import MemberState, create_blank_members, create_members
from ensemble.engine.trace_cache import cache_trace
from ensemble.errors import ConfigError

MOST_BLOCK_ROWS = 1024  # rows of a table that are answered at once
MOST_BLOCKS = 64  # of them a call

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Rows that members are judged on after each epoch.

    Attributes:
      features: (n, F) float32, standardized.
      targets: (n,) float64, in their unit.
    """

    features: Floats
    targets: Doubles


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What is learned from, standardized, and what members are judged on.

    Attributes:
      features: (N, F) float32.
      targets: (N,) float32.
      judged: by split, "validation" and "test".
      curve: (P, F) float32, further rows that members predict after each epoch.
      folds: (N,) int64, the fold of each row, for a run with folds.
      center, scale: a standardized target times `scale` plus `center` is in its unit.
    """

    features: Floats
    targets: Floats
    judged: Mapping[str, JudgedRows] = field(default_factory=dict)
    curve: Floats | None = None
    folds: NDArray[np.int64] | None = None
    center: float = 0.0
    scale: float = 1.0


class NumericMetrics(NamedTuple):
    """Of each member at each step, before its update, in units of the standardized target: (M, S).

    Attributes:
      loss: mean negative log-density of the batch, in nats; NaN of members set aside.
      squared_error: mean of the batch; likewise.
    """

    loss: Floats
    squared_error: Floats


class NumericEvaluation(NamedTuple):
    """What members predict of rows, in the targets' unit; NaN of members set aside.

    Attributes:
      mean: (M, n).
      variance: (M, n), in the square of the unit.
      loss: (M,) the mean negative log-density, in nats; NaN where a prediction is none.
      curve: mean and variance, (M, P) each, of the rows of the curve; None without any.
    """

    mean: Doubles
    variance: Doubles
    loss: Doubles
    curve: tuple[Doubles, Doubles] | None = None


class NumericTrainer:
    """The members of one ensemble, and the programs that train and ask them: `Trainer` for tables.

    A member's first parameters and batches come from its number and the seed alone:
    `create_members` draws the parameters as for classes, and each member has the rows in an order
    of its own in each epoch. What is left of an epoch beside whole batches is not learned from, nor,
    in a run with folds, the member's own fold.

    Args:
      config: the run's settings.
      rows: what is learned from.
      devices: where; by default those that the settings name.
      numbers: which members, from 0, where others are trained elsewhere; by default all.
      values: as of `Trainer`.

    Raises:
      ConfigError: a batch larger than the rows, or a network that does not fit.

    Attributes:
      config: as given.
      rows: as given.
      network: what each member is.
      layout: where the members are.
      steps_per_epoch: S.
      active: which members go on, bool (M,).
      products: as of `Trainer`: none.
    """

    products = None

    def __init__(
        self,
        config: RegressionConfig,
        rows: TrainingRows,
        devices: Sequence[jax.Device] | None = None,
        numbers: Sequence[int] | None = None,
        values: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        count, features = rows.features.shape
        seen = count_images_per_member(count, config.folds)
        if seen < config.batch_size:
            raise ConfigError(
                f"batch_size is {config.batch_size:,}, but there are only {seen:,} rows to learn "
                f"from: choose at most {seen:,}."
            )
        self.config, self.rows = config, rows
        self.network = build_numeric_network(config, features)
        self.numbers = range(config.members) if numbers is None else numbers
        self._values = resolve_member_values(config, self.numbers, values)
        self.layout = Layout.over_devices(
            len(self.numbers), choose_devices(config.devices) if devices is None else list(devices)
        )
        self.steps_per_epoch = seen // config.batch_size
        self.active = np.ones(len(self.numbers), bool)
        self._rule = build_update_rule(config, self._values)
        self._train, self._predict = _build_numeric_programs(
            self.layout.devices, self.network, self.steps_per_epoch, self._rule
        )
        self._shared = self.layout.replicate(
            (
                np.asarray(rows.features, np.float32),
                np.asarray(rows.targets, np.float32),
                np.float32(config.beta),
                np.float32(config.adversarial) * np.ptp(rows.features, axis=0),
            )
        )
        self._epoch = functools.lru_cache(maxsize=1)(self._load_epoch)

    @property
    def device_count(self) -> int:
        """How many devices have work."""
        return len(self.layout.devices)

    @property
    def test_size(self) -> int:
        """How many rows each epoch is tested on."""
        return len(self.rows.judged["test"].targets)

    @property
    def has_validation_set(self) -> bool:
        """Whether rows are held out, to choose by."""
        return "validation" in self.rows.judged

    def start(self, state: Any = None) -> Any:
        """The members on their devices: before their first step, or from `state` (M, …)."""
        state = self.init_members() if state is None else self.put(state)
        return self.train(state, 1, 0, 0)[0]  # compiles it; no step is done

    def init_members(self) -> Any:
        """The members before their first step, on their devices."""
        config, optimizer = self.config, self._rule.optimizer
        return self.put(create_members(self.network, config.seed, config.members, self.numbers, optimizer))

    def create_blank_state(self) -> MemberState:
        """A state in NumPy, leaves (M, …), all zero: of the shapes that `get` gives."""
        return create_blank_members(self.network, len(self.numbers), self._rule.optimizer)

    def put(self, state: Any) -> Any:
        """A state of arrays (M, …), laid out on the devices."""
        return self.layout.spread(state)

    def get(self, state: Any) -> Any:
        """A state, or a part of it, as NumPy arrays (M, …)."""
        return self.layout.gather(state)

    def get_params(self, state: Any) -> Any:
        """The parameters alone, as NumPy arrays (M, …)."""
        return self.layout.gather(state.params)

    def compile_evaluation(self, state: Any) -> None:
        """Compile what `evaluate` and `validate` run, so that its time can be told apart."""
        for split in self.rows.judged:
            self._evaluate(state, split)

    def train(self, state: Any, epoch: int, start: int, count: int) -> tuple[Any, NumericMetrics]:
        """Steps `start` to `start + count` (from 0) of an epoch (from 1). Gives up `state`.

        How steps are cut into calls does not change what is learnt, to the last bit.
        """
        counts = self.layout.active_lanes(self.active) * np.int32(count)
        spans = (self.layout.put_shards(np.full_like(counts, start)), self.layout.put_shards(counts))
        state, raw = self._train(state, self._epoch(epoch), spans, self._shared)
        loss, squared = (
            np.where(self.active[:, None], values[:, :count], np.float32(np.nan))
            for values in self.layout.gather((raw.nll, raw.squared_error))
        )
        return state, NumericMetrics(loss, squared)

    def evaluate(self, state: Any, interrupted: Callable[[], bool] = lambda: False) -> NumericEvaluation | None:
        """Every member on the test rows; None as soon as `interrupted` says yes."""
        return self._evaluate(state, "test", interrupted)

    def validate(self, state: Any, interrupted: Callable[[], bool] = lambda: False) -> NumericEvaluation | None:
        """`evaluate` on the rows that are held out."""
        return self._evaluate(state, "validation", interrupted)

    def _evaluate(
        self, state: Any, split: str, interrupted: Callable[[], bool] = lambda: False
    ) -> NumericEvaluation | None:
        rows, further = self.rows.judged[split], self.rows.curve if split == "test" else None
        count = len(rows.targets)
        asked = rows.features if further is None else np.concatenate([rows.features, further])
        answer = self.predict(state, asked, interrupted)
        if answer is None:
            return None
        mean = answer[0].astype(np.float64) * self.rows.scale + self.rows.center
        variance = answer[1].astype(np.float64) * self.rows.scale**2
        usable = self.active & np.isfinite(mean).all(axis=1) & (variance > 0).all(axis=1)
        usable &= np.isfinite(variance).all(axis=1)
        mean[~usable] = variance[~usable] = np.nan
        own, spread = mean[:, :count], variance[:, :count]
        loss = _compute_mean_nll(own, spread, rows.targets)
        curve = None if further is None else (mean[:, count:], variance[:, count:])
        return NumericEvaluation(own, spread, loss, curve)

    def predict(
        self, state: Any, features: Floats, interrupted: Callable[[], bool] = lambda: False
    ) -> tuple[Floats, Floats] | None:
        """Means and variances, (M, N) each, of rows (N, F), in units of the standardised target.

        None as soon as `interrupted`, which is asked between compiled calls, says yes.
        """
        size = min(MOST_BLOCK_ROWS, max(len(features), 1))
        blocks = split_into_blocks(np.asarray(features, np.float32), size)
        step = min(MOST_BLOCKS, max(len(blocks), 1))
        means, variances = list[Floats](), list[Floats]()
        for at in range(0, len(blocks), step):
            if interrupted():
                return None
            here = blocks[at : at + step]
            if short := step - len(here):  # One program serves the last call, too.
                here = np.concatenate([here, np.zeros((short, *here.shape[1:]), here.dtype)])
            answer = self._predict(state.params, self.layout.replicate(here))
            mean, variance = self.layout.gather(answer)
            means.append(mean.reshape(len(mean), -1))
            variances.append(variance.reshape(len(variance), -1))
        count = len(features)
        return np.concatenate(means, 1)[:, :count], np.concatenate(variances, 1)[:, :count]

    def freeze_members(self, members: Sequence[int]) -> None:
        """Train these no more, by their places from 0; the others go on."""
        active = self.active.copy()
        active[list(members)] = False
        self.active = active

    def _load_epoch(self, epoch: int) -> Any:
        config, steps, values = self.config, self.steps_per_epoch, self._values
        order = sample_epoch_batches(config, epoch, len(self.rows.targets), self.numbers, self.rows.folds)
        keys = np.zeros((len(self.numbers), 2), np.uint32)
        if self.network.is_stochastic:
            every = random_keys.derive_augmentation_keys(config.seed, epoch, config.members)
            keys = every[np.asarray(self.numbers)]
        hyper = Hyperparameters(
            rates=compute_learning_rates(config, steps, values["learning_rate"], epoch),
            momentum=values["momentum"].astype(np.float32),
            weight_decay=values["weight_decay"].astype(np.float32),
        )
        return self.layout.spread((order, keys, hyper))


def _compute_mean_nll(mean: Doubles, variance: Doubles, targets: Doubles) -> Doubles:
    """(M,) the mean negative log-density of targets (n,) by each member alone, in nats."""
    each = 0.5 * ((targets - mean) ** 2 / variance + np.log(2 * np.pi * variance))
    return np.asarray(each.mean(axis=1))


def build_numeric_network(config: RegressionConfig, features: int) -> NumericNetwork:
    """The network of a run for rows of F features; it raises what `bind_numeric_network` does."""
    width, depth = (0, 0) if config.is_own_network else (config.width, config.depth)
    return bind_numeric_network(str(config.network), features, width, depth)


def predict_rows(network: NumericNetwork, params: Any, features: Floats) -> tuple[Floats, Floats]:
    """Means and variances, (M, N) each, of members whose parameters (M, …) were kept.

    In units of the standardised target.

    Args:
      network: what they are.
      params: the tree of their parameters.
      features: (N, F).
    """
    count = len(features)
    blocks = split_into_blocks(np.asarray(features, np.float32), min(MOST_BLOCK_ROWS, max(count, 1)))
    means, variances = (np.asarray(each) for each in _build_row_prediction_program(network)(params, blocks))
    members = len(means)
    return means.reshape(members, -1)[:, :count], variances.reshape(members, -1)[:, :count]


@functools.lru_cache(maxsize=64)
def _build_row_prediction_program(network: NumericNetwork) -> Callable[..., Any]:
    return jax.jit(_map_prediction(network), compiler_options=choose_compiler_options(network))


def _map_prediction(network: NumericNetwork) -> Callable[..., Any]:
    """From members (K, …) and blocks of rows (n, B, F) their means and variances, (K, n, B) each."""

    def predict_members(params: Any, blocks: Any) -> Any:
        return jax.lax.map(lambda member: predict_blocks(network, member, blocks), params)

    return cache_trace("numeric_predict", predict_members, network)


@functools.lru_cache(maxsize=64)
def _build_numeric_programs(
    devices: tuple[jax.Device, ...], network: NumericNetwork, rows: int, rule: UpdateRule
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Training steps, at most `rows` a call, and answers, on these devices: (train, predict).

    One member after the other on a CPU, side by side elsewhere, as with images.
    """
    layout = Layout(len(devices), devices)
    form = "scan" if jax.default_backend() == "cpu" else "grouped"

    def train_member(state: MemberState, own: Any, span: Any, shared: Any) -> Any:
        return run_numeric_steps(network, rule, rows, state, NumericStepInputs(*own, *shared), *span)

    train = cache_trace("numeric_train", map_over_lanes(train_member, form), network, rows, rule, form)

    options = choose_compiler_options(network)
    return (
        layout.pmap(train, donate_argnums=0, compiler_options=options),
        layout.pmap(_map_prediction(network), compiler_options=options),
    )
