"""Members in compiled loops: many steps a call, all lanes of all devices in one program."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ensemble.engine.call_pacer import CallPacer
from ensemble.engine.forms.ensembles import MultiEnsembleAccumulator, map_over_ensembles
from ensemble.engine.forms.execution import EpochInputs, TrainingSetup, create_blank_epoch
from ensemble.engine.forms.frozen_members import FrozenMembers
from ensemble.engine.forms.image_stream import WINDOW_BYTES, ImageBlocks, ImageRows
from ensemble.engine.forms.member_programs import EVALUATION_BLOCK_SIZE, build_member_programs, is_sequential_execution
from ensemble.engine.forms.split_member_layout import SplitMemberLayout
from ensemble.engine.forms.split_member_schedule import ScheduleSegment, SplitMemberSchedule
from ensemble.engine.metrics import Evaluation, TrainingMetrics, build_average_metrics
from ensemble.engine.step import MemberState, create_blank_members

# What a device may hold of probabilities before they are averaged: with many classes fewer images
# are judged at once.
PROBABILITY_BUFFER_BYTES = 2**28
# The same of training steps: every call fills, gives back and averages all the room there is, and
# of many members a second has time for a step or two.
STEP_BUFFER_BYTES = 2**24


class _LoopedEvaluationData(NamedTuple):
    """What members are evaluated on: labels (N,), and shares of it as laid out on the devices.

    Of images that are streamed a share is read when it is needed, `ImageBlocks` until then.
    """

    labels: np.ndarray
    shares: list[tuple[Any, Any]]


class _TrainingResult(NamedTuple):
    """What steps leave behind.

    Attributes:
      state: the members, on their devices.
      loss, accuracy: of each member at each step, (M, S).
      probabilities: as the ensemble's metrics are taken from them, on the plain layout's devices;
        None where they are not.
    """

    state: Any
    loss: np.ndarray
    accuracy: np.ndarray
    probabilities: Any


class LoopedExecution:
    """Members in loops on their devices; see `execution.Execution` for what it does.

    On a CPU the members of one device run one after the other (each has the caches to itself),
    elsewhere side by side (a small network leaves a GPU idle). One after the other, members that
    the devices do not divide are shared (split_member_schedule.py); the ensemble's metrics are
    taken as if they were not, so that they are the same to the last bit.

    Args:
      work: what is to be learnt.
      share: whether members may be shared.
    """

    def __init__(self, work: TrainingSetup, share: bool = True) -> None:
        self._work, self._plain, self._network = work, work.layout, work.network
        sequential = is_sequential_execution(work.settings.arithmetic.execution)
        share = share and sequential
        self._layout = SplitMemberLayout.from_layout(work.layout) if share else work.layout
        self._sharing = SplitMemberSchedule(self._layout) if isinstance(self._layout, SplitMemberLayout) else None
        self._unmoved = FrozenMembers(
            self._layout, together=not is_sequential_execution(work.settings.arithmetic.execution)
        )
        self.device_count = len(self._layout.devices)
        self.active = np.ones(work.layout.members, bool)
        classes, lanes = work.network.classes, self._layout.lanes
        step_bytes = 4 * lanes * work.batch_size * classes
        self.max_steps_per_call = max(1, min(work.steps, STEP_BUFFER_BYTES // step_bytes))
        if stream := work.open_stream():
            self.max_steps_per_call = stream.limit_steps(self.max_steps_per_call)
        self._stream = stream
        self._blocks = max(1, PROBABILITY_BUFFER_BYTES // (4 * lanes * EVALUATION_BLOCK_SIZE * classes))
        self._train, self._evaluate = build_member_programs(
            self._layout.devices,
            work.settings,
            self.max_steps_per_call,
            # One after the other each lane reads its own, and one program serves both.
            shares_order=not (work.has_member_batches or sequential),
        )
        self._data = self._last = ()
        if stream is None:
            self._data = self._layout.replicate((work.images, work.labels))
            self._last = self._layout.replicate(work.last_inputs)
        self._of_each = map_over_ensembles(work.ensembles, build_average_metrics(self._plain))

    def compile(self) -> None:
        """Compile a training step, by a call that takes none."""
        work, blank = self._work, create_blank_epoch(self._work)
        members = create_blank_members(self._network, work.layout.members, work.settings.rule.optimizer)
        state, nothing = self.put(members), self._layout.occupied_lanes * 0
        if self._sharing:
            state = self._sharing.return_to_first_devices(state)
        epoch = self._load_window(self.load_epoch(blank), 0, 0)
        _, raw = jax.block_until_ready(self._run_steps(state, epoch, nothing, nothing))
        probabilities = raw.probabilities
        if self._sharing:
            probabilities = self._plain.spread(self._layout.gather(probabilities))
        self._average_probabilities(probabilities, work.labels[blank.order[0]], 0)

    def put(self, state: Any) -> Any:
        """A state of arrays (M, …), laid out on the devices."""
        return self._layout.spread(state)

    def get(self, state: Any) -> Any:
        """The inverse of `put`, of a state or a part of it."""
        return self._layout.gather(state)

    def get_params(self, state: MemberState) -> Any:
        """The parameters alone, as NumPy arrays (M, …)."""
        return self._layout.gather(state.params)

    def load_epoch(self, epoch: EpochInputs) -> Any:
        """An epoch's batches, keys and numbers on the devices, with the labels of its batches."""
        own = self._layout.spread((epoch.order, epoch.key_data, epoch.hyper))
        labels = self._work.labels[epoch.order[0]]
        return own, labels, self._layout.replicate(epoch.common), epoch.order

    def _load_window(self, epoch: Any, start: int, count: int) -> Any:
        if self._stream is None:
            return epoch
        own, labels, common, order = epoch
        window = self._stream.load_window(order, start, count)
        self._data = self._layout.replicate((window.images, window.labels))
        self._last = self._layout.replicate(window.targets)
        return (self._layout.spread(window.order), *own[1:]), labels, common, order

    def train(self, state: Any, epoch: Any, start: int, count: int) -> tuple[Any, TrainingMetrics]:
        """`count` steps, at most `max_steps_per_call`; gives up `state`."""
        epoch = self._load_window(epoch, start, count)
        if self._sharing:
            split_steps = self._run_split_steps(self._sharing, state, epoch, start, count)
        else:
            split_steps = self._run_plain_steps(state, epoch, start, count)
        nll, right = self._average_probabilities(split_steps.probabilities, epoch[1], start)
        if nll is None or right is None:
            return split_steps.state, TrainingMetrics(split_steps.loss, split_steps.accuracy, None, None)
        metrics = TrainingMetrics(split_steps.loss, split_steps.accuracy, nll[..., :count], right[..., :count])
        return split_steps.state, metrics

    def _run_plain_steps(self, state: Any, epoch: Any, start: int, count: int) -> _TrainingResult:
        """`train` where each device does its own members."""
        working = self._layout.active_lanes(self.active)
        counts = working * np.int32(count)
        starts = np.full_like(counts, start)
        aside = self._layout.occupied_lanes & ~working
        kept = self._unmoved.copy_state(state, aside)
        state, raw = jax.block_until_ready(self._run_steps(state, epoch, starts, counts))
        state = self._unmoved.restore_members(state, kept, aside)
        loss, accuracy = self._layout.gather((raw.loss, raw.accuracy))
        return _TrainingResult(state, loss[:, :count], accuracy[:, :count], raw.probabilities)

    def _run_split_steps(
        self, sharing: SplitMemberSchedule, state: Any, epoch: Any, start: int, count: int
    ) -> _TrainingResult:
        """`train` where two devices take turns at a member: part by part, put together here."""
        work, shape = self._work, (self._layout.members, count)
        loss, accuracy = np.zeros((2, *shape), np.float32)
        rows = 0 if work.has_member_views else self.max_steps_per_call  # There the averages are of no use.
        room = (shape[0], rows, work.batch_size, self._network.classes)
        probabilities = np.zeros(room, np.float32)
        for part in sharing.build_segments(count, self.active):
            state = sharing.move_to_next_devices(state, part.receiving_devices)
            state, raw = self._run_steps(state, epoch, start + part.starts, part.counts)
            jax.block_until_ready(raw)
            sharing.collect_rows(loss, raw.loss, part, relative=True)
            sharing.collect_rows(accuracy, raw.accuracy, part, relative=True)
            if rows:
                sharing.collect_rows(probabilities, raw.probabilities, part, relative=True)
        state, spread = sharing.return_to_first_devices(state), self._plain.spread
        return _TrainingResult(state, loss, accuracy, spread(probabilities) if rows else None)

    def load_evaluation_data(self, images: np.ndarray | ImageRows, labels: np.ndarray) -> _LoopedEvaluationData:
        """Images (N, …) to be judged on, in blocks on every device, and their labels (N,)."""
        count, most = -(-len(images) // EVALUATION_BLOCK_SIZE), self._blocks
        if isinstance(images, ImageRows):
            block_bytes = EVALUATION_BLOCK_SIZE * int(np.prod(images.shape[1:]))
            most = min(most, max(1, WINDOW_BYTES // block_bytes))
        size, shares = min(most, max(count, 1)), []
        for at in range(0, max(count, 1), size):
            span = slice(at * EVALUATION_BLOCK_SIZE, (at + size) * EVALUATION_BLOCK_SIZE)
            # One program serves the last share, too.
            here = ImageBlocks(images, span, EVALUATION_BLOCK_SIZE, size)
            place = here if isinstance(images, ImageRows) else self._layout.replicate(here.load())
            shares.append((place, labels[span]))
        return _LoopedEvaluationData(labels, shares)

    def _place_blocks(self, blocks: Any) -> Array:
        """Blocks of images on the devices; read now where they are streamed."""
        if isinstance(blocks, ImageBlocks):
            return self._layout.replicate(blocks.load())
        return blocks

    def evaluate(
        self, state: MemberState, judged: _LoopedEvaluationData, interrupted: Callable[[], bool]
    ) -> Evaluation | None:
        """All members on all the images; None as soon as `interrupted` says yes."""
        tally = MultiEnsembleAccumulator(self._work.ensembles, self.active, judged.labels, self._network.classes)
        pace = CallPacer()
        for share, truth in judged.shares:
            blocks = self._place_blocks(share)
            count = -(-len(truth) // EVALUATION_BLOCK_SIZE)
            log_p, done, spans = (self._allocate_log_probabilities(blocks), 0, list[ScheduleSegment]())
            while done < count:
                if interrupted():
                    return None
                took, units = time.perf_counter(), pace.choose_units(count - done)
                spans.append(self._select_blocks(done, units))
                log_p = self._predict_blocks(blocks, log_p, state, spans[-1])
                pace.record_duration(units, time.perf_counter() - took)
                done += units
            host, nll, right = self._gather_predictions(log_p, truth, spans)
            tally.add_batch(host, nll, right)
        return tally.compute_evaluation()

    def compile_evaluation(self, state: MemberState, judged: _LoopedEvaluationData) -> None:
        """Compile what `evaluate` runs."""
        for share, truth in {share[1].shape: share for share in judged.shares}.values():
            blocks = self._place_blocks(share)
            nothing = self._select_blocks(0, 0)
            log_p = self._predict_blocks(blocks, self._allocate_log_probabilities(blocks), state, nothing)
            self._gather_predictions(log_p, truth, [nothing])

    def _allocate_log_probabilities(self, blocks: Array) -> Array:
        """Room for every lane's log-probabilities, by blocks of images."""
        count = int(blocks.shape[1])
        room = (self._layout.lanes, count, EVALUATION_BLOCK_SIZE, self._network.classes)
        return self._layout.replicate(np.zeros(room, np.float32))

    def _select_blocks(self, start: int, count: int) -> ScheduleSegment:
        """Who asks about which blocks: `count` of each member, from block `start` (from 0)."""
        if self._sharing:
            return self._sharing.build_unordered_segment(start, count, self.active)
        counts = self._layout.active_lanes(self.active) * np.int32(count)
        return ScheduleSegment((), np.full_like(counts, start), counts)

    def _predict_blocks(self, blocks: Array, log_p: Array, state: MemberState, span: ScheduleSegment) -> Array:
        """Log-probabilities with some more blocks filled in."""
        spans = self._layout.put_shards(span.starts), self._layout.put_shards(span.counts)
        log_p, _ = self._evaluate(log_p, (state.params,), spans, (blocks,))
        return jax.block_until_ready(log_p)

    def _gather_predictions(
        self, log_p: Array, truth: np.ndarray, spans: list[ScheduleSegment]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Log-probabilities image by image (M, …, C), and NLL and accuracy of their average."""
        host = self._layout.gather(log_p)
        if self._sharing:
            for span in spans:
                self._sharing.collect_rows(host, log_p, span, relative=False)
            log_p = self._plain.spread(host)
        log_p = log_p.reshape(*log_p.shape[:2], -1, self._network.classes)
        labels = self._plain.replicate(truth)
        nll, right = self._of_each(jnp.exp(log_p), labels, self.active)
        return host.reshape(len(host), -1, self._network.classes), nll, right

    def _run_steps(self, state: MemberState, epoch: Any, starts: np.ndarray, counts: np.ndarray) -> Any:
        """New members and raw metrics, on the devices: each lane's own steps, (D, K)."""
        own, _, common, _ = epoch
        spans = self._layout.put_shards(starts), self._layout.put_shards(counts)
        return self._train(state, own, spans, (*self._data, common, *self._last))

    def _average_probabilities(
        self, probabilities: Any, labels: np.ndarray, start: int
    ) -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
        """NLL and accuracy of the averaged probabilities by steps, or None twice: own views."""
        if self._work.has_member_views:
            return None, None
        rows = self._plain.replicate(np.roll(labels, -start, axis=0)[: self.max_steps_per_call])
        return self._of_each(probabilities, rows, self.active)
