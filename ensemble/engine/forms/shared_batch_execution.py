"""Members whose batches are learnt in parts (batch_parts.py), a part a call.

With fewer members than devices, the devices of a member compute parts of its gradient at the same
time, hand them to each other, and each moves its own copy of the member by all of them, in order.
No program waits for another device from within: on a CPU such waits keep threads from the work that
is waited for.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ensemble.engine.batch_parts import apply_mean_gradient, compute_part_gradients
from ensemble.engine.forms.execution import TrainingSetup
from ensemble.engine.forms.image_stream import ImageBlocks
from ensemble.engine.forms.shared_batch_layout import SharedBatchLayout
from ensemble.engine.forms.stepwise_execution import StepwiseExecution
from ensemble.engine.layout import Layout
from ensemble.engine.networks.compiler_options import choose_compiler_options
from ensemble.engine.step import MemberState, StepSettings
from ensemble.engine.trace_cache import cache_trace


@functools.lru_cache(maxsize=256)
def _build_part_programs(
    layout: Layout, settings: StepSettings, parts: int
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    compute_part = functools.partial(compute_part_gradients, settings, parts)
    gradients = cache_trace("part", compute_part, *settings, parts)
    apply_mean = functools.partial(apply_mean_gradient, settings.rule, settings.network.classes)
    update = cache_trace("mean", apply_mean, settings.network, parts, settings.rule)
    options = choose_compiler_options(settings.network)
    return (
        layout.pmap(gradients, compiler_options=options),
        layout.pmap(update, donate_argnums=0, compiler_options=options),
    )


class SharedBatchExecution(StepwiseExecution):
    """Members a part of a step a call; see `execution.Execution` for what it does.

    A state is a list of K lanes, each with one member of every device, (D, …); the copies of a
    member are the same to the last bit.

    Args:
      work: what is to be learnt, by a network without collections beside its parameters.
      parts: P, of each batch.
    """

    def __init__(self, work: TrainingSetup, parts: int) -> None:
        self._shared = SharedBatchLayout.from_layout(work.layout, parts)
        super().__init__(work, self._shared)
        plain = Layout(len(self._shared.devices), self._shared.devices)
        self._compute_part, self._update = _build_part_programs(plain, work.settings, parts)
        copies = self._shared.copies
        # Which part each device computes at each of its turns.
        self._turns = [
            self._shared.put_shards((self._shared.copy_numbers + turn * copies).astype(np.int32))
            for turn in range(parts // copies)
        ]

    def _run_lane_step(self, member: MemberState, k: int, epoch: Any, step: int) -> Any:
        inputs = self._build_step_inputs(k, epoch)
        # From the host as it is: laid out by hand it would cost more than the call itself.
        number = np.full(len(self._shared.devices), step, np.int32)
        by_turn = [self._compute_part(member.params, inputs, number, part) for part in self._turns]
        if self._shared.copies > 1:
            jax.block_until_ready(by_turn)
        parts = [
            self._shared.fetch_from_copy(gradients, copy)
            for gradients in by_turn
            for copy in range(self._shared.copies)
        ]
        return self._update(member, inputs.hyper, number, *parts)

    @property
    def _blocks_per_call(self) -> int:
        return self._shared.copies

    def _place_blocks(self, blocks: ImageBlocks) -> Any:
        images = blocks.load()
        return self._layout.put_shards([images[copy] for copy in self._shared.copy_numbers])

    def _collect_blocks(self, lanes: list[Any]) -> list[np.ndarray]:
        by_copy = [[self._shared.fetch_from_copy(lane, copy) for lane in lanes] for copy in range(self._shared.copies)]
        return [self.get(each) for each in by_copy]
