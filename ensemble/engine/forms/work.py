"""What a form of running members is given, and what it does with it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ensemble.engine.draws.augment import Augmentation
from ensemble.engine.figures import Evaluation, StepFigures
from ensemble.engine.layout import Layout
from ensemble.engine.networks.arithmetic import Arithmetic
from ensemble.engine.networks.network import Network
from ensemble.engine.optimizer import Hyper, Rule
from ensemble.engine.step import Common


@dataclass(frozen=True, eq=False)
class Work:
    """What is to be learnt, by what, where.

    Attributes:
      layout: members on devices.
      network: what learns.
      augmentation: what is done to the images.
      rule: what moves members.
      arithmetic: how sums are done.
      images: uint8 (N, H, W, channels), to learn from.
      labels: int32 (N,).
      steps: S, of an epoch.
      batch_size: B.
      own_views: whether members see different pixels at one step: nothing is averaged then.
      hyper, common: an epoch's numbers, of the right shapes.
      ensembles: T, how many ensembles of as many members each they are, one after the other.
    """

    layout: Layout
    network: Network
    augmentation: Augmentation
    rule: Rule
    arithmetic: Arithmetic
    images: np.ndarray
    labels: np.ndarray
    steps: int
    batch_size: int
    own_views: bool
    hyper: Hyper
    common: Common
    ensembles: int = 1


class Epoch(NamedTuple):
    """An epoch on the host.

    Attributes:
      order: image numbers of every batch, int32 (M, S, B).
      key_data: each member's key, as raw data, uint32 (M, 2).
      hyper: each member's numbers, leaves (M, …).
      common: those that all share.
    """

    order: np.ndarray
    key_data: np.ndarray
    hyper: Hyper
    common: Common


def blank_epoch(work: Work) -> Epoch:
    """An epoch of the shapes that all have, of nothing but the first image: to compile for.

    So compiling need not wait until the first epoch's order is drawn.
    """
    shape = (work.layout.members, work.steps, work.batch_size)
    order, key_data = np.zeros(shape, np.int32), np.zeros((shape[0], 2), np.uint32)
    return Epoch(order, key_data, work.hyper, work.common)


class Form(Protocol):
    """A way of running members on devices. What a state is on the devices is its own business.

    Attributes:
      rows: the most steps of one call.
      devices: how many devices have work.
      active: the members that learn and are counted, bool (M,): at first all. The others are
        given no steps, and what is reported of them means nothing.
    """

    rows: int
    devices: int
    active: np.ndarray

    def compile(self) -> None:
        """Compile a training step, by one that is thrown away."""

    def put(self, state: Any) -> Any:
        """A state of arrays (M, …), laid out on the devices."""

    def get(self, state: Any) -> Any:
        """The inverse of `put`, in NumPy."""

    def params(self, state: Any) -> Any:
        """The parameters alone, as NumPy arrays (M, …)."""

    def load(self, epoch: Epoch) -> Any:
        """An epoch on the devices."""

    def train(self, state: Any, epoch: Any, start: int, count: int) -> tuple[Any, StepFigures]:
        """`count` steps, at most `rows`, from step `start` (from 0); gives up `state`.

        The figures of averages are (T, S) where members are of several ensembles.
        """

    def to_judge(self, images: np.ndarray, labels: np.ndarray) -> Any:
        """Images (N, H, W, channels) and labels (N,) to be judged on, on the devices."""

    def judge(self, state: Any, judged: Any, interrupted: Callable[[], bool]) -> Evaluation | None:
        """All members on all of these; None as soon as `interrupted` says yes."""

    def compile_judging(self, state: Any, judged: Any) -> None:
        """Compile what `judge` runs."""
