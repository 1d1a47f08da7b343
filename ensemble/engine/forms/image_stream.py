"""Images that are more than devices should hold: those of the next steps, read ahead.

Otherwise all training images lie on each device. Here a device has those of some steps alone, in
the order in which the steps take them; the next ones are gathered meanwhile. What is computed of
them is the same to the last bit: only where an image lies is another.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from ensemble.engine.optimizer import SoftTargets
from ensemble.machine.resident_images import read_resident_limit

WINDOW_BYTES = 2**26  # of images on a device at once, while streaming


class ImageRows:
    """Some rows of an array that may lie on the disk, read when they are asked for.

    Args:
      images: (N, H, W, channels), a memory map for one.
      rows: (R,), which of them, in their order.
    """

    def __init__(self, images: np.ndarray, rows: np.ndarray) -> None:
        self._images, self._rows = images, rows
        self.shape = (len(rows), *images.shape[1:])

    def __len__(self) -> int:
        return len(self._rows)

    def take(self, places: np.ndarray | slice) -> np.ndarray:
        """The images at these places among the rows."""
        taken: np.ndarray = self._images[self._rows[places]]
        return taken


@dataclass(frozen=True, eq=False)
class ImageBlocks:
    """Blocks of images to be judged on, made when they are needed.

    Attributes:
      images: (N, H, W, channels).
      span: which of them.
      block: E, how many stand in one.
      count: how many blocks; what the images do not fill is zero.
    """

    images: "np.ndarray | ImageRows"
    span: slice
    block: int
    count: int

    def load(self) -> np.ndarray:
        """uint8 (count, E, H, W, channels)."""
        here = self.images.take(self.span) if isinstance(self.images, ImageRows) else self.images[self.span]
        whole = np.zeros((self.count * self.block, *here.shape[1:]), here.dtype)
        whole[: len(here)] = here
        return whole.reshape(self.count, self.block, *here.shape[1:])


class _ImageWindow(NamedTuple):
    """What some steps learn from, on the host.

    Attributes:
      order: where each step finds its images below, int32 (M, S, B); of other steps 0.
      images: uint8 (W, H, W, channels).
      labels: int32 (W,).
      targets: what a teacher says of them; () without one.
    """

    order: np.ndarray
    images: np.ndarray
    labels: np.ndarray
    targets: tuple[SoftTargets, ...]


@dataclass(frozen=True, eq=False)
class _WantedSteps:
    order: np.ndarray
    start: int
    count: int

    def matches(self, order: np.ndarray, start: int, count: int) -> bool:
        return self.order is order and (self.start, self.count) == (start, count)


class ImageStream:
    """Hands out windows of training images, and reads the one ahead that probably comes next.

    Args:
      images: those that are learnt from.
      labels: int32 (N,).
      targets: what a teacher says of them; () without one.
      batch_size: B.
      has_member_batches: whether members draw batches of their own.
      members: M.
    """

    def __init__(
        self,
        images: ImageRows,
        labels: np.ndarray,
        targets: tuple[SoftTargets, ...],
        *,
        batch_size: int,
        has_member_batches: bool,
        members: int,
    ) -> None:
        self._images, self._labels, self._targets = images, labels, targets
        self._orders = members if has_member_batches else 1
        nbytes = int(np.prod(images.shape[1:])) * batch_size * self._orders
        self.max_steps = max(1, WINDOW_BYTES // nbytes)
        self._pool = ThreadPoolExecutor(1, "images")
        self._ahead: tuple[_WantedSteps, Future[_ImageWindow]] | None = None
        self._steps = 1

    def limit_steps(self, most: int) -> int:
        """The most steps of a window, where a call takes at most `most`; asked for once."""
        self._steps = min(self.max_steps, most)
        return self._steps

    def load_window(self, order: np.ndarray, start: int, count: int) -> _ImageWindow:
        """What `count` steps learn from, from step `start` (from 0) of an epoch.

        Args:
          order: of the epoch, int32 (M, S, B): the same array for all its windows.
          start: the first step.
          count: at most as many as `limit_steps` said.
        """
        if self._ahead and self._ahead[0].matches(order, start, count):
            window = self._ahead[1].result()
        else:
            window = self._gather(order, start, count)
        following = start + count
        self._ahead = None
        if count and (left := min(self._steps, order.shape[1] - following)) > 0:
            wanted = _WantedSteps(order, following, min(count, left))
            self._ahead = (wanted, self._pool.submit(self._gather, order, following, wanted.count))
        return window

    def _gather(self, order: np.ndarray, start: int, count: int) -> _ImageWindow:
        batch, room = order.shape[2], self._steps * order.shape[2]
        rows = np.zeros((self._orders, room), np.int64)
        steps = order[: self._orders, start : start + count]
        rows[:, : count * batch] = steps.reshape(self._orders, -1)
        places = np.zeros(order.shape, np.int32)
        here = np.arange(count * batch, dtype=np.int32).reshape(count, batch)
        own = np.arange(len(order)) if self._orders > 1 else np.zeros(len(order), np.int64)
        places[:, start : start + count] = here + (own * room).astype(np.int32)[:, None, None]
        wanted = rows.ravel()
        targets = tuple(each._replace(probabilities=each.probabilities[wanted]) for each in self._targets)
        return _ImageWindow(places, self._images.take(wanted), self._labels[wanted], targets)


def exceeds_device_memory(nbytes: int, devices: int, device: jax.Device) -> bool:
    """Whether so many bytes of images are too many to lie on each of these devices.

    Raises:
      ConfigError: `ENSEMBLE_RESIDENT_GB` is no number above 0.
    """
    stats: dict[str, Any] = {} if device.platform == "cpu" else device.memory_stats() or {}
    return nbytes > read_resident_limit(devices, stats.get("bytes_limit"))
