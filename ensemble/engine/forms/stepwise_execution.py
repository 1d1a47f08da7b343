"""Members a step a call: what is fastest on a CPU for networks of stock layers.

Inside a compiled loop XLA's CPU backend falls back to a naive convolution. So here each call is
one step of one member a device, compiled with no loop in it, and nobody waits for a result before
all are under way.
"""

import functools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array

from ensemble.engine.call_pacer import CallPacer
from ensemble.engine.forms.ensembles import MultiEnsembleAccumulator, map_over_ensembles
from ensemble.engine.forms.execution import EpochInputs, TrainingSetup, create_blank_epoch
from ensemble.engine.forms.frozen_members import FrozenMembers
from ensemble.engine.forms.image_stream import ImageBlocks, ImageRows
from ensemble.engine.layout import Layout
from ensemble.engine.metrics import Evaluation, TrainingMetrics, compute_average_metrics
from ensemble.engine.networks.arithmetic import Arithmetic, scale_to_unit
from ensemble.engine.networks.compiler_options import choose_compiler_options
from ensemble.engine.networks.network import Network
from ensemble.engine.step import MemberState, StepInputs, StepSettings, create_blank_members, run_epoch_step
from ensemble.engine.trace_cache import cache_trace

EVALUATION_CALL_SIZE = 256  # images of one call of evaluation
PROBABILITY_BUFFER_BYTES = 2**27  # of probabilities on the devices before they are averaged


class _StepwiseEvaluationData(NamedTuple):
    """What members are evaluated on: labels (N,), and blocks of images (D, E, …).

    Of images that are streamed a block is read when it is needed, `ImageBlocks` until then.
    """

    labels: np.ndarray
    blocks: list[Any]


@functools.lru_cache(maxsize=256)
def _build_step_program(layout: Layout, settings: StepSettings) -> Callable[..., Any]:
    """One step of one member on each device; made once a process."""
    program = cache_trace("step", functools.partial(run_epoch_step, settings), *settings)
    return layout.pmap(program, donate_argnums=0, compiler_options=choose_compiler_options(settings.network))


@functools.lru_cache(maxsize=256)
def build_prediction_program(layout: Layout, network: Network, arithmetic: Arithmetic) -> Callable[..., Any]:
    """A member's log-probabilities (E, C) of a block of images (E, H, W, channels), by device."""

    def predict_block(params: Any, images: Array) -> Array:
        return jax.nn.log_softmax(network.apply(params, scale_to_unit(images), arithmetic))

    return layout.pmap(
        cache_trace("ask", predict_block, network, arithmetic), compiler_options=choose_compiler_options(network)
    )


class StepwiseExecution:
    """Members a step a call; see `execution.Execution` for what it does.

    A state is a list of K lanes, each with one member of every device, (D, …).
    """

    def __init__(self, work: TrainingSetup, layout: Layout | None = None) -> None:
        self._work, self._network, self._layout = work, work.network, layout or work.layout
        # Programs do not depend on how many members there are.
        plain = Layout(len(self._layout.devices), self._layout.devices)
        self._step = _build_step_program(plain, work.settings)
        self._unmoved = FrozenMembers(plain)
        self.active = np.ones(work.layout.members, bool)
        self._ask = build_prediction_program(plain, work.network, work.settings.arithmetic)
        self._stream = work.open_stream()
        self._data = self._last = ()
        if self._stream is None:
            self._data = self._layout.replicate((work.images, work.labels))
            self._last = self._layout.replicate(work.last_inputs)
        self._of_each = map_over_ensembles(work.ensembles, compute_average_metrics)
        kept = 4 * self._layout.occupied_lanes.size * work.batch_size * work.network.classes
        self.device_count = len(self._layout.devices)
        self.max_steps_per_call = max(1, min(work.steps, PROBABILITY_BUFFER_BYTES // kept))
        if self._stream:
            self.max_steps_per_call = self._stream.limit_steps(self.max_steps_per_call)

    def compile(self) -> None:
        """Compile a training step, by one that is thrown away."""
        loaded = self._load_window(self.load_epoch(create_blank_epoch(self._work)), 0, 0)
        optimizer = self._work.settings.rule.optimizer
        blank = self.put(create_blank_members(self._network, self._layout.members, optimizer))
        jax.block_until_ready(self._run_lane_step(blank[0], 0, loaded, 0))

    def put(self, state: Any) -> list[MemberState]:
        """A state of arrays (M, …) by lanes, each member on its device."""
        number = self._layout.lane_members
        host = jax.tree.map(np.asarray, state)
        return [
            jax.tree.map(lambda leaf, k=k: self._layout.put_shards([leaf[m] for m in number[:, k]]), host)
            for k in range(self._layout.lanes)
        ]

    def get(self, state: Any) -> Any:
        """The inverse of `put`, of a state or a part of each lane."""

        def join_lanes(*lanes: Any) -> np.ndarray:
            whole = np.stack([np.asarray(lane) for lane in lanes], axis=1)  # (D, K, …)
            return whole.reshape(-1, *whole.shape[2:])[self._layout.member_lanes]

        return jax.tree.map(join_lanes, *state)

    def get_params(self, state: list[MemberState]) -> Any:
        """The parameters alone, as NumPy arrays (M, …)."""
        return self.get([member.params for member in state])

    def load_epoch(self, epoch: EpochInputs) -> Any:
        """Batches, keys and numbers by lanes, the batches' labels, and the numbers of all."""
        own = self.put((epoch.order, epoch.key_data, epoch.hyper))
        labels = self._work.labels[epoch.order[0]]
        return own, labels, self._layout.replicate(epoch.common), epoch.order

    def _load_window(self, epoch: Any, start: int, count: int) -> Any:
        if self._stream is None:
            return epoch
        own, labels, common, order = epoch
        window = self._stream.load_window(order, start, count)
        self._data = self._layout.replicate((window.images, window.labels))
        self._last = self._layout.replicate(window.targets)
        places = self.put(window.order)
        own = [(place, *rest) for place, (_, *rest) in zip(places, own, strict=True)]
        return own, labels, common, order

    def train(
        self, state: list[MemberState], epoch: Any, start: int, count: int
    ) -> tuple[list[MemberState], TrainingMetrics]:
        """`count` steps, at most `max_steps_per_call`; gives up `state`."""
        epoch = self._load_window(epoch, start, count)
        working = self._layout.active_lanes(self.active).T  # (K, D)
        aside = ~self.active[self._layout.lane_members].T
        lanes = range(len(state))
        moving = [k for k in lanes if working[k].any()] or lanes
        kept = {k: self._unmoved.copy_state(state[k], aside[k]) for k in moving}
        state, raw = list(state), list[list[Any]]()
        for step in range(start, start + count):
            done = {}
            for k in moving:
                state[k], done[k] = self._run_lane_step(state[k], k, epoch, step)
            # Of a lane that stands still any other's stand in: nobody looks at them.
            raw.append([done.get(k, done[moving[0]]) for k in lanes])
        jax.block_until_ready(raw)
        for k in moving:
            state[k] = self._unmoved.restore_members(state[k], kept[k], aside[k])
        steps = [self.get([(figure.loss, figure.accuracy) for figure in metrics]) for metrics in raw]
        shape = (count, 2, self._layout.members)
        loss, accuracy = np.array(steps, np.float32).reshape(shape).transpose(1, 2, 0)
        if self._work.has_member_views:
            return state, TrainingMetrics(loss, accuracy, None, None)
        both = []
        for n, metrics in enumerate(raw):
            probabilities = self.get([figure.probabilities for figure in metrics])
            both.append(self._of_each(probabilities, epoch[1][start + n], self.active))
        nll, right = np.moveaxis(np.array(both, np.float32), 0, -1)
        return state, TrainingMetrics(loss, accuracy, nll, right)

    def load_evaluation_data(self, images: np.ndarray | ImageRows, labels: np.ndarray) -> _StepwiseEvaluationData:
        """Images (N, …) to be judged on, in blocks on every device, and their labels (N,)."""
        size, count = max(1, min(EVALUATION_CALL_SIZE, len(images))), self._blocks_per_call
        blocks = [
            ImageBlocks(images, slice(at, at + size * count), size, count) for at in range(0, len(images), size * count)
        ]
        if isinstance(images, ImageRows):
            return _StepwiseEvaluationData(labels, blocks)
        return _StepwiseEvaluationData(labels, [self._place_blocks(block) for block in blocks])

    def evaluate(
        self, state: list[MemberState], judged: _StepwiseEvaluationData, interrupted: Callable[[], bool]
    ) -> Evaluation | None:
        """All members on all the images; None as soon as `interrupted` says yes."""
        tally = MultiEnsembleAccumulator(self._work.ensembles, self.active, judged.labels, self._network.classes)
        count, done, pace, asked = len(judged.blocks), 0, CallPacer(), 0
        most = max(
            1,
            PROBABILITY_BUFFER_BYTES
            // (4 * self._layout.occupied_lanes.size * EVALUATION_CALL_SIZE * self._network.classes),
        )
        while done < count:
            if interrupted():
                return None
            took, units = time.perf_counter(), min(most, pace.choose_units(count - done))
            for lanes in [self._predict_lanes(state, judged.blocks[done + n]) for n in range(units)]:
                for log_p in self._collect_blocks(lanes):
                    if asked < len(judged.labels):  # The last call may have blocks of nothing.
                        tally.add_and_average(log_p)
                    asked += log_p.shape[1]
            pace.record_duration(units, time.perf_counter() - took)
            done += units
        return tally.compute_evaluation()

    def compile_evaluation(self, state: list[MemberState], judged: _StepwiseEvaluationData) -> None:
        """Compile what `evaluate` runs."""
        jax.block_until_ready(self._predict_lanes(state[:1], judged.blocks[0]))

    def _run_lane_step(self, member: MemberState, k: int, epoch: Any, step: int) -> Any:
        number = self._layout.replicate(np.int32(step))
        return self._step(member, self._build_step_inputs(k, epoch), number)

    def _build_step_inputs(self, k: int, epoch: Any) -> StepInputs:
        own, _, common, _ = epoch
        return StepInputs(*(*own[k], *self._data, common, *self._last))

    @property
    def _blocks_per_call(self) -> int:
        """How many blocks of images are asked about at once."""
        return 1

    def _place_blocks(self, blocks: ImageBlocks) -> Any:
        """These blocks on the devices, (D, E, …)."""
        return self._layout.replicate(blocks.load()[0])

    def _collect_blocks(self, lanes: list[Array]) -> list[np.ndarray]:
        """The members' answers for each block of a call, (M, E, C), in the order of blocks."""
        return [self.get(lanes)]

    def _predict_lanes(self, state: list[MemberState], block: Any) -> list[Array]:
        """Every lane's log-probabilities (D, E, C) of a block of images, under way."""
        if isinstance(block, ImageBlocks):
            block = self._place_blocks(block)
        return [self._ask(member.params, block) for member in state]
