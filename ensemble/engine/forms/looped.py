"""Members in compiled loops: many steps a call, all lanes of all devices in one program."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ensemble.engine.figures import Evaluation, StepFigures, ensemble_figures
from ensemble.engine.forms.ensembles import Tallies, of_each
from ensemble.engine.forms.programs import EVALUATION_BLOCK, blocks_of, programs, takes_turns
from ensemble.engine.forms.setting_aside import Unmoved
from ensemble.engine.forms.shared import Shared
from ensemble.engine.forms.sharing import Part, Sharing
from ensemble.engine.forms.work import Epoch, Work, blank_epoch
from ensemble.engine.pace import Pace
from ensemble.engine.step import MemberState, blank_members

# What a device may hold of probabilities before they are averaged: with many classes fewer images
# are judged at once.
ROOM_BYTES = 2**28
# The same of training steps: every call fills, gives back and averages all the room there is, and
# of many members a second has time for a step or two.
STEPS_BYTES = 2**24


class Judged(NamedTuple):
    """What members are evaluated on: labels (N,), and shares of it as laid out on the devices."""

    labels: np.ndarray
    shares: list[tuple[Any, Any]]


class Trained(NamedTuple):
    """What steps leave behind.

    Attributes:
      state: the members, on their devices.
      loss, accuracy: of each member at each step, (M, S).
      probabilities: as the ensemble's figures are taken from them, on the plain layout's devices;
        None where they are not.
    """

    state: Any
    loss: np.ndarray
    accuracy: np.ndarray
    probabilities: Any


class Looped:
    """Members in loops on their devices; see `work.Form` for what it does.

    On a CPU the members of one device run one after the other (each has the caches to itself),
    elsewhere side by side (a small network leaves a GPU idle). One after the other, members that
    the devices do not divide are shared (sharing.py); the ensemble's figures are taken as if they
    were not, so that they are the same to the last bit.

    Args:
      work: what is to be learnt.
      share: whether members may be shared.
    """

    def __init__(self, work: Work, share: bool = True) -> None:
        self._work, self._plain, self._network = work, work.layout, work.network
        share = share and takes_turns(work.arithmetic.form)
        self._layout = Shared.of(work.layout) if share else work.layout
        self._sharing = Sharing(self._layout) if isinstance(self._layout, Shared) else None
        self._unmoved = Unmoved(self._layout, together=not takes_turns(work.arithmetic.form))
        self.devices = len(self._layout.devices)
        self.active = np.ones(work.layout.members, bool)
        classes, lanes = work.network.classes, self._layout.lanes
        step_bytes = 4 * lanes * work.batch_size * classes
        self.rows = max(1, min(work.steps, STEPS_BYTES // step_bytes))
        self._blocks = max(1, ROOM_BYTES // (4 * lanes * EVALUATION_BLOCK * classes))
        self._train, self._evaluate = programs(
            self._layout.devices,
            work.network,
            self.rows,
            work.augmentation,
            work.rule,
            work.arithmetic,
        )
        self._data = self._layout.replicate((work.images, work.labels))
        self._of_each = of_each(work.ensembles, ensemble_figures(self._plain))

    def compile(self) -> None:
        """Compile a training step, by a call that takes none."""
        work, blank = self._work, blank_epoch(self._work)
        members = blank_members(self._network, work.layout.members, work.rule.optimizer)
        state, nothing = self.put(members), self._layout.real * 0
        if self._sharing:
            state = self._sharing.go_home(state)
        _, raw = jax.block_until_ready(self._steps(state, self.load(blank), nothing, nothing))
        probabilities = raw.probabilities
        if self._sharing:
            probabilities = self._plain.spread(self._layout.gather(probabilities))
        self._averaged(probabilities, work.labels[blank.order[0]], 0)

    def put(self, state: Any) -> Any:
        """A state of arrays (M, …), laid out on the devices."""
        return self._layout.spread(state)

    def get(self, state: Any) -> Any:
        """The inverse of `put`, of a state or a part of it."""
        return self._layout.gather(state)

    def params(self, state: MemberState) -> Any:
        """The parameters alone, as NumPy arrays (M, …)."""
        return self._layout.gather(state.params)

    def load(self, epoch: Epoch) -> Any:
        """An epoch's batches, keys and numbers on the devices, with the labels of its batches."""
        own = self._layout.spread((epoch.order, epoch.key_data, epoch.hyper))
        return own, self._work.labels[epoch.order[0]], self._layout.replicate(epoch.common)

    def train(self, state: Any, epoch: Any, start: int, count: int) -> tuple[Any, StepFigures]:
        """`count` steps, at most `rows`; gives up `state`."""
        if self._sharing:
            found = self._shared_steps(self._sharing, state, epoch, start, count)
        else:
            found = self._plain_steps(state, epoch, start, count)
        nll, right = self._averaged(found.probabilities, epoch[1], start)
        if nll is None or right is None:
            return found.state, StepFigures(found.loss, found.accuracy, None, None)
        figures = StepFigures(found.loss, found.accuracy, nll[..., :count], right[..., :count])
        return found.state, figures

    def _plain_steps(self, state: Any, epoch: Any, start: int, count: int) -> Trained:
        """`train` where each device does its own members."""
        working = self._layout.working(self.active)
        counts = working * np.int32(count)
        starts = np.full_like(counts, start)
        aside = self._layout.real & ~working
        kept = self._unmoved.copy(state, aside)
        state, raw = jax.block_until_ready(self._steps(state, epoch, starts, counts))
        state = self._unmoved.put_back(state, kept, aside)
        loss, accuracy = self._layout.gather((raw.loss, raw.accuracy))
        return Trained(state, loss[:, :count], accuracy[:, :count], raw.probabilities)

    def _shared_steps(
        self, sharing: Sharing, state: Any, epoch: Any, start: int, count: int
    ) -> Trained:
        """`train` where two devices take turns at a member: part by part, put together here."""
        work, shape = self._work, (self._layout.members, count)
        loss, accuracy = np.zeros((2, *shape), np.float32)
        rows = 0 if work.own_views else self.rows  # There the averages are of no use.
        room = (shape[0], rows, work.batch_size, self._network.classes)
        probabilities = np.zeros(room, np.float32)
        for part in sharing.parts(count, self.active):
            state = sharing.arrive(state, part.arriving)
            state, raw = self._steps(state, epoch, start + part.starts, part.counts)
            jax.block_until_ready(raw)
            sharing.collect(loss, raw.loss, part, relative=True)
            sharing.collect(accuracy, raw.accuracy, part, relative=True)
            if rows:
                sharing.collect(probabilities, raw.probabilities, part, relative=True)
        state, spread = sharing.go_home(state), self._plain.spread
        return Trained(state, loss, accuracy, spread(probabilities) if rows else None)

    def to_judge(self, images: np.ndarray, labels: np.ndarray) -> Judged:
        """Images (N, …) to be judged on, in blocks on every device, and their labels (N,)."""
        blocks = blocks_of(images)
        size = min(self._blocks, max(len(blocks), 1))
        shares = []
        for at in range(0, max(len(blocks), 1), size):
            here = blocks[at : at + size]
            if short := size - len(here):  # One program serves the last share, too.
                here = np.concatenate([here, np.zeros((short, *here.shape[1:]), here.dtype)])
            truth = labels[at * EVALUATION_BLOCK : (at + size) * EVALUATION_BLOCK]
            shares.append((self._layout.replicate(here), truth))
        return Judged(labels, shares)

    def judge(
        self, state: MemberState, judged: Judged, interrupted: Callable[[], bool]
    ) -> Evaluation | None:
        """All members on all the images; None as soon as `interrupted` says yes."""
        tally = Tallies(self._work.ensembles, self.active, judged.labels, self._network.classes)
        pace = Pace()
        for blocks, truth in judged.shares:
            count = -(-len(truth) // EVALUATION_BLOCK)
            log_p, done, spans = self._unasked(blocks), 0, list[Part]()
            while done < count:
                if interrupted():
                    return None
                took, units = time.perf_counter(), pace.next(count - done)
                spans.append(self._span(done, units))
                log_p = self._ask(blocks, log_p, state, spans[-1])
                pace.took(units, time.perf_counter() - took)
                done += units
            host, nll, right = self._answered(log_p, truth, spans)
            tally.add(host, nll, right)
        return tally.evaluation()

    def compile_judging(self, state: MemberState, judged: Judged) -> None:
        """Compile what `judge` runs."""
        for blocks, truth in {one[1].shape: one for one in judged.shares}.values():
            nothing = self._span(0, 0)
            log_p = self._ask(blocks, self._unasked(blocks), state, nothing)
            self._answered(log_p, truth, [nothing])

    def _unasked(self, blocks: Array) -> Array:
        """Room for every lane's log-probabilities, by blocks of images."""
        count = int(blocks.shape[1])
        room = (self._layout.lanes, count, EVALUATION_BLOCK, self._network.classes)
        return self._layout.replicate(np.zeros(room, np.float32))

    def _span(self, start: int, count: int) -> Part:
        """Who asks about which blocks: `count` of each member, from block `start` (from 0)."""
        if self._sharing:
            return self._sharing.at_once(start, count, self.active)
        counts = self._layout.working(self.active) * np.int32(count)
        return Part((), np.full_like(counts, start), counts)

    def _ask(self, blocks: Array, log_p: Array, state: MemberState, span: Part) -> Array:
        """Log-probabilities with some more blocks filled in."""
        spans = self._layout.put(span.starts), self._layout.put(span.counts)
        log_p, _ = self._evaluate(log_p, (state.params,), spans, (blocks,))
        return jax.block_until_ready(log_p)

    def _answered(
        self, log_p: Array, truth: np.ndarray, spans: list[Part]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Log-probabilities image by image (M, …, C), and NLL and accuracy of their average."""
        host = self._layout.gather(log_p)
        if self._sharing:
            for span in spans:
                self._sharing.collect(host, log_p, span, relative=False)
            log_p = self._plain.spread(host)
        log_p = log_p.reshape(*log_p.shape[:2], -1, self._network.classes)
        labels = self._plain.replicate(truth)
        nll, right = self._of_each(jnp.exp(log_p), labels, self.active)
        return host.reshape(len(host), -1, self._network.classes), nll, right

    def _steps(self, state: MemberState, epoch: Any, starts: np.ndarray, counts: np.ndarray) -> Any:
        """New members and raw figures, on the devices: each lane's own steps, (D, K)."""
        own, _, common = epoch
        spans = self._layout.put(starts), self._layout.put(counts)
        return self._train(state, own, spans, (*self._data, common))

    def _averaged(
        self, probabilities: Any, labels: np.ndarray, start: int
    ) -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
        """NLL and accuracy of the averaged probabilities by steps, or None twice: own views."""
        if self._work.own_views:
            return None, None
        rows = self._plain.replicate(np.roll(labels, -start, axis=0)[: self.rows])
        return self._of_each(probabilities, rows, self.active)
