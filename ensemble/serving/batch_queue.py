"""Images of concurrent requests, shown to the members together.

Each device has a task that takes what waits as soon as the device is free: a lone request waits for
nothing, and while a batch is computed the next one gathers by itself. Only where several requests
came in the last batches does a device wait, for a moment, for as many again: clients that have just
been answered ask anew. Batches are padded to sizes whose programs were compiled before the first
request; one of 33 images is computed as 32, and one waits, for 64 would take as long as two.
"""

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ensemble.engine import Activations
from ensemble.errors import EnsembleError
from ensemble.serving import limits
from ensemble.serving.request_errors import build_busy_error

Pixels = NDArray[np.uint8]

MAX_WAIT_S = 0.002  # that a device waits for further requests
MAX_WAIT_SHARE = 0.25  # of the time that the last batch took, of the same
FORGET_AFTER_S = 0.05  # without a batch, after which the next request is taken for a lone one
_FULL_SHARE = 0.75  # of a size, from which on a batch is padded to it rather than cut to the half
_STOPPED_MESSAGE = "The server is being stopped: ask another, or try again once it is up."
_FULL_MESSAGE = "Too many images wait for an answer: try again in a moment, or send fewer at once."


@dataclass(eq=False)
class _WaitingImages:
    """One request's images, N of them, and what the members have said so far.

    Attributes:
      images: uint8 (N, H, W, channels).
      answered: set once all have an answer, or with the error of one.
      taken: how many are in a batch, or have been.
      done: how many have an answer.
      logits: float32 (M, N, C), made with the first answer.
      features: float32 (M, N, F), likewise.
    """

    images: Pixels
    answered: "asyncio.Future[None]"
    taken: int = 0
    done: int = 0
    logits: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0, 0), np.float32))
    features: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0, 0), np.float32))

    def write_answer(self, first: int, part: Activations) -> None:
        """Keep what the members say of the images from `first` on."""
        if not self.logits.size:
            N = len(self.images)
            self.logits, self.features = (np.empty((len(array), N, array.shape[2]), np.float32) for array in part)
        count = part.logits.shape[1]
        self.logits[:, first : first + count] = part.logits
        self.features[:, first : first + count] = part.features
        self.done += count
        if self.done == len(self.images) and not self.answered.done():
            self.answered.set_result(None)

    def write_error(self, error: BaseException) -> None:
        """End the request with an error."""
        if not self.answered.done():
            self.answered.set_exception(error)


Batch = list[tuple[_WaitingImages, int, int]]  # whose images, from which, to which


class BatchQueue:
    """Asks the members about the images of many requests at a time; used in one event loop.

    Args:
      compute: what the members make of images (N, H, W, channels) on a device, by its place; called
        in threads, for one batch a device at a time.
      devices: how many there are.
      sizes: of batches, rising: powers of two.
      most: how many images may wait at once.
      observe: told the number of images of each batch.
    """

    def __init__(
        self,
        compute: Callable[[int, Pixels], Activations],
        devices: int,
        sizes: Sequence[int] = limits.BATCH_SIZES,
        most: int = limits.MAX_QUEUED_IMAGES,
        observe: Callable[[int], None] = lambda images: None,
    ) -> None:
        self._compute, self._sizes, self._most, self._observe = compute, sizes, most, observe
        self._waiting: deque[_WaitingImages] = deque()
        self._images = 0
        self._changed = asyncio.Event()
        self._threads = ThreadPoolExecutor(devices, "members")
        self._usual_requests, self._last_end, self._last_seconds = 1.0, 0.0, 0.0
        self._stopped = False
        self._tasks = [asyncio.create_task(self._serve_device(at)) for at in range(devices)]

    @property
    def waiting_images(self) -> int:
        """How many images wait for a device."""
        return self._images

    async def compute_activations(self, images: Pixels) -> Activations:
        """What the members make of one request's images, uint8 (N, H, W, channels), N from 1 on.

        Raises:
          RequestError: too many wait already, or the server is being stopped.
          EnsembleError: the members have no answer to these images.
        """
        if self._stopped:
            raise build_busy_error(_STOPPED_MESSAGE, limits.RETRY_AFTER_SECONDS)
        if self._images + len(images) > self._most:
            raise build_busy_error(_FULL_MESSAGE, limits.RETRY_AFTER_SECONDS)
        waiting = _WaitingImages(images, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._images += len(images)
        self._changed.set()
        try:
            await waiting.answered
        except asyncio.CancelledError:
            self._forget(waiting)
            raise
        return Activations(waiting.logits, waiting.features)

    async def close(self) -> None:
        """End the devices' tasks; what still waits is answered that the server stops."""
        self._stopped = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for waiting in self._waiting:
            waiting.write_error(build_busy_error(_STOPPED_MESSAGE, limits.RETRY_AFTER_SECONDS))
        self._waiting.clear()
        self._images = 0
        await asyncio.to_thread(self._threads.shutdown)

    def _forget(self, waiting: _WaitingImages) -> None:
        with contextlib.suppress(ValueError):
            self._waiting.remove(waiting)
            self._images -= len(waiting.images) - waiting.taken

    async def _serve_device(self, device: int) -> None:
        while True:
            while not self._waiting:
                self._changed.clear()
                await self._changed.wait()
            await self._wait_for_others()
            if batch := self._take_batch():
                try:
                    await self._answer_batch(device, batch)
                except asyncio.CancelledError:
                    for waiting, _, _ in batch:
                        waiting.write_error(build_busy_error(_STOPPED_MESSAGE, limits.RETRY_AFTER_SECONDS))
                    raise

    async def _wait_for_others(self) -> None:
        """Wait for as many requests as came lately, if several did, for a moment at most."""
        began = time.monotonic()
        if began - self._last_end > FORGET_AFTER_S:
            self._usual_requests = 1.0
        end = began + min(MAX_WAIT_S, MAX_WAIT_SHARE * self._last_seconds)
        while (
            len(self._waiting) + 0.5 < self._usual_requests
            and self._images < self._sizes[-1]
            and (left := end - time.monotonic()) > 0
        ):
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), left)

    def _take_batch(self) -> Batch:
        room, batch = self._choose_count(), Batch()
        while room and self._waiting:
            waiting = self._waiting[0]
            first = waiting.taken
            last = min(len(waiting.images), first + room)
            waiting.taken = last
            batch.append((waiting, first, last))
            room -= last - first
            self._images -= last - first
            if last == len(waiting.images):
                self._waiting.popleft()
        return batch

    def _choose_count(self) -> int:
        if self._images >= self._sizes[-1]:
            return self._sizes[-1]
        above = next(size for size in self._sizes if size >= self._images)
        if self._images >= _FULL_SHARE * above:
            return self._images
        return above // 2

    async def _answer_batch(self, device: int, batch: Batch) -> None:
        began = time.monotonic()
        try:
            images = np.concatenate([waiting.images[first:last] for waiting, first, last in batch])
            self._observe(len(images))
            answer = await self._compute_aside(device, images)
            at = 0
            for waiting, first, last in batch:
                part = Activations(*(array[:, at : at + last - first] for array in answer))
                waiting.write_answer(first, part)
                at += last - first
        except Exception as error:
            await self._answer_one_by_one(device, batch, error)
        self._last_end = time.monotonic()
        self._last_seconds = self._last_end - began
        self._usual_requests += 0.5 * (len(batch) - self._usual_requests)

    async def _answer_one_by_one(self, device: int, batch: Batch, error: Exception) -> None:
        """Where a batch has failed one request's images may be the reason: the others are asked."""
        if not isinstance(error, EnsembleError):
            logging.getLogger("ensemble").error("A batch of images failed.", exc_info=error)
        for waiting, first, last in batch:
            try:
                if len(batch) == 1:
                    raise error
                part = await self._compute_aside(device, waiting.images[first:last])
                waiting.write_answer(first, part)
            except Exception as own_error:
                waiting.write_error(own_error)
                self._forget(waiting)  # its remaining images are not needed

    def _compute_aside(self, device: int, images: Pixels) -> "asyncio.Future[Activations]":
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(self._threads, self._compute, device, images)
