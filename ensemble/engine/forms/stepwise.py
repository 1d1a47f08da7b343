"""Members a step a call: what is fastest on a CPU for networks of stock layers.

Inside a compiled loop XLA's CPU backend falls back to a naive convolution. So here each call is
one step of one member, compiled with no loop in it; calls go out in turn to the devices, which
work at the same time, and nobody waits for a result before all are under way.
"""

import functools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array

from ensemble.engine.augment import Augmentation
from ensemble.engine.figures import Evaluation, StepFigures, Tally, averaged
from ensemble.engine.forms.programs import blocks_of
from ensemble.engine.forms.work import Epoch, Work
from ensemble.engine.networks.arithmetic import Arithmetic, to_unit
from ensemble.engine.networks.network import Network
from ensemble.engine.pace import Pace
from ensemble.engine.step import MemberState, blank_members, one_step
from ensemble.engine.trace_cache import cached

BLOCK = 256  # images of one call of evaluation
ROOM_BYTES = 2**27  # of probabilities on the devices before they are averaged


class Judged(NamedTuple):
    """What members are evaluated on: labels (N,), and blocks (E, …) of images by device."""

    labels: np.ndarray
    blocks: list[list[Array]]


@functools.lru_cache(maxsize=256)
def step_program(
    network: Network, augmentation: Augmentation, arithmetic: Arithmetic
) -> Callable[..., Any]:
    """One step of one member, on whatever device its state is; made once a process."""
    step = functools.partial(one_step, network, augmentation=augmentation, arithmetic=arithmetic)
    return jax.jit(cached("step", step, network, augmentation, arithmetic), donate_argnums=0)


@functools.lru_cache(maxsize=256)
def ask_program(network: Network, arithmetic: Arithmetic) -> Callable[..., Any]:
    """One member's log-probabilities (E, C) of a block of images, uint8 (E, H, W, channels)."""

    def ask(params: Any, images: Array) -> Array:
        return jax.nn.log_softmax(network.apply(params, to_unit(images), arithmetic))

    return jax.jit(cached("ask", ask, network, arithmetic))


class Stepwise:
    """Members a step a call; see `work.Form` for what it does. A state is a list of M."""

    def __init__(self, work: Work) -> None:
        self._work, self._network, layout = work, work.network, work.layout
        self._members = layout.members
        # In turn, so that every device has work soon.
        self._turns = sorted(range(self._members), key=lambda m: (m % layout.lanes, m))
        self._device = [m // layout.lanes for m in range(self._members)]
        self._data = [jax.device_put((work.images, work.labels), one) for one in layout.devices]
        self._step = step_program(work.network, work.augmentation, work.arithmetic)
        self._ask = ask_program(work.network, work.arithmetic)
        kept = 4 * self._members * work.batch_size * work.network.classes
        self.rows = max(1, min(work.steps, ROOM_BYTES // kept))

    def compile(self, epoch: Callable[[], Epoch]) -> None:
        """Compile a training step, by one that is thrown away on each device."""
        loaded = self.load(epoch())
        blank = self.put(blank_members(self._network, self._members))
        first = {self._device[m]: m for m in self._turns}.values()
        jax.block_until_ready([self._stepped(blank[m], m, loaded, 0) for m in first])

    def put(self, state: Any) -> list[MemberState]:
        """A state of arrays (M, …) as M states, each on its device."""
        host = jax.tree.map(np.asarray, state)
        return [
            jax.device_put(jax.tree.map(lambda leaf, m=m: leaf[m], host), self._on(m))
            for m in range(self._members)
        ]

    def get(self, state: Any) -> Any:
        """The inverse of `put`, of states or a part of each."""
        return jax.tree.map(lambda *leaves: np.stack([np.asarray(one) for one in leaves]), *state)

    def params(self, state: list[MemberState]) -> Any:
        """The parameters alone, as NumPy arrays (M, …)."""
        return self.get([one.params for one in state])

    def load(self, epoch: Epoch) -> Any:
        """An epoch's batches and keys, each member's on its device; its numbers on every one."""
        own = [
            jax.device_put((epoch.order[m], epoch.key_data[m]), self._on(m))
            for m in range(self._members)
        ]
        hyper = [jax.device_put(epoch.hyper, one) for one in self._work.layout.devices]
        return own, self._work.labels[epoch.order[0]], hyper

    def train(
        self, state: list[MemberState], epoch: Any, start: int, count: int
    ) -> tuple[list[MemberState], StepFigures]:
        """`count` steps, at most `rows`; gives up `state`."""
        state, raw = list(state), [[] for _ in range(self._members)]  # type: ignore[var-annotated]
        for step in range(start, start + count):
            for m in self._turns:
                state[m], figures = self._stepped(state[m], m, epoch, step)
                raw[m].append(figures)
        raw = jax.device_get(raw) if self._work.own_views else jax.block_until_ready(raw)
        loss = np.array([[one.loss for one in own] for own in raw], np.float32)
        accuracy = np.array([[one.accuracy for one in own] for own in raw], np.float32)
        shape = (self._members, count)
        loss, accuracy = loss.reshape(shape), accuracy.reshape(shape)
        if self._work.own_views:
            return state, StepFigures(loss, accuracy, None, None)
        both = np.array(
            [
                averaged(np.stack([np.asarray(own[n].probabilities) for own in raw]),
                         epoch[1][start + n])
                for n in range(count)
            ],
            np.float32,
        ).reshape(count, 2)  # fmt: skip
        return state, StepFigures(loss, accuracy, both[:, 0], both[:, 1])

    def to_judge(self, images: np.ndarray, labels: np.ndarray) -> Judged:
        """Images (N, …) to be judged on, in blocks on every device, and their labels (N,)."""
        blocks = blocks_of(images, max(1, min(BLOCK, len(images))))
        devices = self._work.layout.devices
        return Judged(labels, [[jax.device_put(one, d) for one in blocks] for d in devices])

    def judge(
        self, state: list[MemberState], judged: Judged, interrupted: Callable[[], bool]
    ) -> Evaluation | None:
        """All members on all the images; None as soon as `interrupted` says yes."""
        tally = Tally(self._members, judged.labels, self._network.classes)
        count, done, pace = len(judged.blocks[0]), 0, Pace()
        most = max(1, ROOM_BYTES // (4 * self._members * BLOCK * self._network.classes))
        while done < count:
            if interrupted():
                return None
            took, units = time.perf_counter(), min(most, pace.next(count - done))
            asked = [self._asked(state, judged, block) for block in range(done, done + units)]
            for one in asked:
                tally.add_members(np.stack([np.asarray(log_p) for log_p in one]))
            pace.took(units, time.perf_counter() - took)
            done += units
        return tally.evaluation()

    def compile_judging(self, state: list[MemberState], judged: Judged) -> None:
        """Compile what `judge` runs."""
        jax.block_until_ready(self._asked(state, judged, 0))

    def _stepped(self, state: MemberState, m: int, epoch: Any, step: int) -> Any:
        own, _, hyper = epoch
        device = self._device[m]
        return self._step(state, *own[m], *self._data[device], hyper[device], np.int32(step))

    def _asked(self, state: list[MemberState], judged: Judged, block: int) -> list[Array]:
        """Every member's log-probabilities (E, C) of a block of images, under way."""
        found: dict[int, Array] = {}
        for m in self._turns:
            found[m] = self._ask(state[m].params, judged.blocks[self._device[m]][block])
        return [found[m] for m in range(self._members)]

    def _on(self, m: int) -> jax.Device:
        return self._work.layout.devices[self._device[m]]
