"""Trains an ensemble that predicts numbers: M members on D devices, all rows lie on each device."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from ensemble.config.numeric_config import NumericConfig
from ensemble.engine.draws import random_keys
from ensemble.engine.draws.batches import sample_member_orders
from ensemble.engine.forms.member_programs import map_over_lanes, split_into_blocks
from ensemble.engine.layout import Layout, choose_devices
from ensemble.engine.networks.compiler_options import choose_compiler_options
from ensemble.engine.numeric.numeric_networks import NumericNetwork, bind_numeric_network
from ensemble.engine.numeric.numeric_step import NumericStepInputs, predict_blocks, run_numeric_steps
from ensemble.engine.optimizer import Hyperparameters, UpdateRule
from ensemble.engine.step import MemberState, create_blank_members, create_members
from ensemble.engine.trace_cache import cache_trace
from ensemble.errors import ConfigError
from ensemble.optimizers import OPTIMIZERS

MOST_BLOCK_ROWS = 1024  # rows of a table that are answered at once
MOST_BLOCKS = 64  # of them a call

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What is learnt from, standardised.

    Attributes:
      features: (N, F) float32.
      targets: (N,) float32.
    """

    features: Floats
    targets: Floats


class NumericMetrics(NamedTuple):
    """Of each member at each step, before its update, in units of the standardised target: (M, S).

    Attributes:
      nll: mean negative log-density of the batch, in nats.
      squared_error: mean of the batch.
    """

    nll: Floats
    squared_error: Floats


class NumericTrainer:
    """The members of one ensemble, and the programs that train and ask them.

    A member's first parameters and batches come from its number and the seed alone:
    `create_members` draws the parameters as for classes, and each member has the rows in an order
    of its own in each epoch. What is left of an epoch beside whole batches is not learnt from.

    Args:
      config: the run's settings.
      rows: what is learnt from.
      devices: where; by default those that the settings name.

    Raises:
      ConfigError: a batch larger than the rows, or a network that does not fit.

    Attributes:
      config: as given.
      network: what each member is.
      layout: where the members are.
      steps_per_epoch: S.
      active: which members go on, bool (M,).
    """

    def __init__(self, config: NumericConfig, rows: TrainingRows, devices: Sequence[jax.Device] | None = None) -> None:
        count, features = rows.features.shape
        if count < config.batch_size:
            raise ConfigError(
                f"batch_size is {config.batch_size:,}, but there are only {count:,} rows to learn "
                f"from: choose at most {count:,}."
            )
        self.config, self._size = config, count
        self.network = build_numeric_network(config, features)
        self.layout = Layout.over_devices(
            config.members, choose_devices(config.devices) if devices is None else list(devices)
        )
        self.steps_per_epoch = count // config.batch_size
        self.active = np.ones(config.members, bool)
        self._rule = _build_numeric_rule(config)
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

    def init_members(self) -> Any:
        """The members before their first step, on their devices."""
        config = self.config
        return self.put(create_members(self.network, config.seed, config.members, optimizer=self._rule.optimizer))

    def create_blank_state(self) -> MemberState:
        """A state in NumPy, leaves (M, …), all zero: of the shapes that `get` gives."""
        return create_blank_members(self.network, self.config.members, self._rule.optimizer)

    def put(self, state: Any) -> Any:
        """A state of arrays (M, …), laid out on the devices."""
        return self.layout.spread(state)

    def get(self, state: Any) -> Any:
        """A state, or a part of it, as NumPy arrays (M, …)."""
        return self.layout.gather(state)

    def compile(self, state: Any, judged: Floats) -> Any:
        """Compile a training step and the answers for rows (N, F), by calls that change nothing.

        Gives up `state`, and returns it.
        """
        state, _ = self.train(state, 1, 0, 0)
        self.predict(state, judged)
        return state

    def train(self, state: Any, epoch: int, start: int, count: int) -> tuple[Any, NumericMetrics]:
        """Steps `start` to `start + count` (from 0) of an epoch (from 1). Gives up `state`.

        How steps are cut into calls does not change what is learnt, to the last bit.
        """
        counts = self.layout.active_lanes(self.active) * np.int32(count)
        spans = (self.layout.put_shards(np.full_like(counts, start)), self.layout.put_shards(counts))
        state, raw = self._train(state, self._epoch(epoch), spans, self._shared)
        nll, squared = self.layout.gather((raw.nll, raw.squared_error))
        return state, NumericMetrics(nll[:, :count], squared[:, :count])

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
        config, steps = self.config, self.steps_per_epoch
        numbers = range(config.members)
        order = sample_member_orders(config.seed, epoch, self._size, numbers)
        order = order[:, : steps * config.batch_size].reshape(-1, steps, config.batch_size)
        keys = np.zeros((config.members, 2), np.uint32)
        if self.network.is_stochastic:
            keys = random_keys.derive_augmentation_keys(config.seed, epoch, config.members)
        each = np.ones(config.members, np.float32)
        hyper = Hyperparameters(
            rates=np.full((config.members, steps), config.learning_rate, np.float32),
            momentum=np.float32(config.momentum) * each,
            weight_decay=np.float32(config.weight_decay) * each,
        )
        return self.layout.spread((order, keys, hyper))


def build_numeric_network(config: NumericConfig, features: int) -> NumericNetwork:
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


def _build_numeric_rule(config: NumericConfig) -> UpdateRule:
    optimizer = OPTIMIZERS[config.optimizer]
    in_gradient = config.weight_decay > 0 and "weight_decay" not in optimizer.hyperparameters
    return UpdateRule(optimizer, in_gradient, has_adversarial_examples=config.adversarial > 0)


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
