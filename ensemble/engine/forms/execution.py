"""What a form of running members is given, and what it does with it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ensemble.engine.forms.image_stream import ImageRows, ImageStream
from ensemble.engine.layout import Layout
from ensemble.engine.metrics import Evaluation, TrainingMetrics
from ensemble.engine.networks.network import Network
from ensemble.engine.optimizer import Hyperparameters, SoftTargets
from ensemble.engine.step import SharedHyperparameters, StepSettings


@dataclass(frozen=True, eq=False)
class TrainingSetup:
    """What is to be learnt, by what, where.

    Attributes:
      layout: members on devices.
      settings: what a step is compiled for.
      images: uint8 (N, H, W, channels), to learn from.
      labels: int32 (N,).
      steps: S, of an epoch.
      batch_size: B.
      has_member_batches: whether members draw batches of their own.
      has_member_views: whether members see different pixels at one step: nothing is averaged then.
      hyper, common: an epoch's numbers, of the right shapes.
      ensembles: T, how many ensembles of as many members each they are, one after the other.
      soft_targets: what a teacher says of the images, (N, C); None without one.
      streamed: the images, where they are too many to lie on a device: `images` has the first alone
        then; None where they lie there.
    """

    layout: Layout
    settings: StepSettings
    images: np.ndarray
    labels: np.ndarray
    steps: int
    batch_size: int
    has_member_batches: bool
    has_member_views: bool
    hyper: Hyperparameters
    common: SharedHyperparameters
    ensembles: int = 1
    soft_targets: SoftTargets | None = None
    streamed: ImageRows | None = None

    @property
    def network(self) -> Network:
        """The network to train."""
        return self.settings.network

    @property
    def last_inputs(self) -> tuple[SoftTargets, ...]:
        """What a step is given last of all: what a teacher says; () without one.

        So that the program of a run without a teacher is the same as if there were no teachers.
        """
        return () if self.soft_targets is None else (self.soft_targets,)

    def open_stream(self) -> ImageStream | None:
        """What hands out the images of some steps; None where all lie on the devices."""
        if self.streamed is None:
            return None
        return ImageStream(
            self.streamed,
            self.labels,
            self.last_inputs,
            batch_size=self.batch_size,
            has_member_batches=self.has_member_batches,
            members=self.layout.members,
        )


class EpochInputs(NamedTuple):
    """An epoch on the host.

    Attributes:
      order: image numbers of every batch, int32 (M, S, B).
      key_data: each member's key, as raw data, uint32 (M, 2).
      hyper: each member's numbers, leaves (M, …).
      common: those that all share.
    """

    order: np.ndarray
    key_data: np.ndarray
    hyper: Hyperparameters
    common: SharedHyperparameters


def create_blank_epoch(work: TrainingSetup) -> EpochInputs:
    """An epoch of the shapes that all have, of nothing but the first image: to compile for.

    So compiling need not wait until the first epoch's order is drawn.
    """
    shape = (work.layout.members, work.steps, work.batch_size)
    order, key_data = np.zeros(shape, np.int32), np.zeros((shape[0], 2), np.uint32)
    return EpochInputs(order, key_data, work.hyper, work.common)


class Execution(Protocol):
    """A way of running members on devices. What a state is on the devices is its own business.

    Attributes:
      max_steps_per_call: the most steps of one call.
      device_count: how many devices have work.
      active: the members that learn and are counted, bool (M,): at first all. The others are
        given no steps, and what is reported of them means nothing.
    """

    max_steps_per_call: int
    device_count: int
    active: np.ndarray

    def compile(self) -> None:
        """Compile a training step, by one that is thrown away."""

    def put(self, state: Any) -> Any:
        """A state of arrays (M, …), laid out on the devices."""

    def get(self, state: Any) -> Any:
        """The inverse of `put`, in NumPy."""

    def get_params(self, state: Any) -> Any:
        """The parameters alone, as NumPy arrays (M, …)."""

    def load_epoch(self, epoch: EpochInputs) -> Any:
        """An epoch on the devices."""

    def train(self, state: Any, epoch: Any, start: int, count: int) -> tuple[Any, TrainingMetrics]:
        """`count` steps, at most `max_steps_per_call`, from step `start` on; gives up `state`.

        The metrics of averages are (T, S) where members are of several ensembles.
        """

    def load_evaluation_data(self, images: np.ndarray | ImageRows, labels: np.ndarray) -> Any:
        """Images (N, H, W, channels) and labels (N,) to be judged on, on the devices."""

    def evaluate(self, state: Any, judged: Any, interrupted: Callable[[], bool]) -> Evaluation | None:
        """All members on all of these; None as soon as `interrupted` says yes."""

    def compile_evaluation(self, state: Any, judged: Any) -> None:
        """Compile what `evaluate` runs."""
