"""Requests are put together, kept apart, bounded, and a lone one waits for nothing."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import numpy as np
import pytest

from ensemble.engine import Activations
from ensemble.errors import RunError
from ensemble.serving import batch_queue
from ensemble.serving.batch_queue import BatchQueue
from ensemble.serving.request_errors import RequestError

SIZES = (1, 2, 4, 8, 16)


def answer_images(device: int, images: np.ndarray) -> Activations:
    """Two members, of whom the second says one more; an image is its first pixel."""
    first = images.reshape(len(images), -1)[:, 0].astype(np.float32)
    logits = np.stack([first, first + 1])[..., None]
    return Activations(logits, 2 * logits)


def draw_images(*values: int) -> np.ndarray:
    return np.array(values, np.uint8).reshape(-1, 1, 1, 1)


class Bench:
    """A compute function that tells its batches, and goes on as it is allowed to."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.begun, self.allowed = threading.Semaphore(0), threading.Semaphore(0)

    def compute(self, device: int, images: np.ndarray) -> Activations:
        self.batches.append(images.reshape(-1).tolist())
        self.begun.release()
        assert self.allowed.acquire(timeout=60)
        return answer_images(device, images)


def run_with_queue(
    compute: Callable[[int, np.ndarray], Activations],
    work: Callable[[BatchQueue], Awaitable[None]],
    devices: int = 1,
    most: int = 100,
) -> None:
    async def run() -> None:
        queue = BatchQueue(compute, devices, SIZES, most)
        try:
            await work(queue)
            assert queue.waiting_images == 0
        finally:
            await queue.close()
        assert queue.waiting_images == 0

    asyncio.run(asyncio.wait_for(run(), 120))


@pytest.mark.parametrize("devices", [1, 3])
def test_every_request_gets_the_answers_to_its_own_images(devices: int) -> None:
    draws = np.random.default_rng(0)
    asked = [draw_images(*draws.integers(0, 256, n)) for n in draws.integers(1, 70, 40)]

    async def ask_all(queue: BatchQueue) -> None:
        for images, found in zip(asked, await asyncio.gather(*map(queue.compute_activations, asked)), strict=True):
            expected = answer_images(0, images)
            assert np.array_equal(found.logits, expected.logits)
            assert np.array_equal(found.features, expected.features)

    run_with_queue(answer_images, ask_all, devices, most=10_000)


def test_what_comes_while_a_batch_is_computed_is_the_next_batch() -> None:
    bench = Bench()

    async def ask(queue: BatchQueue) -> None:
        first = asyncio.create_task(queue.compute_activations(draw_images(1)))
        await asyncio.to_thread(bench.begun.acquire)
        others = [asyncio.create_task(queue.compute_activations(draw_images(n))) for n in range(2, 8)]
        while queue.waiting_images < 6:
            await asyncio.sleep(0)
        for _ in range(20):
            bench.allowed.release()
        await asyncio.gather(first, *others)

    run_with_queue(bench.compute, ask)
    assert bench.batches == [[1], [2, 3, 4, 5, 6, 7]]


def test_a_batch_just_over_a_size_is_not_padded_to_the_next() -> None:
    bench = Bench()

    async def ask(queue: BatchQueue) -> None:
        tasks = [asyncio.create_task(queue.compute_activations(draw_images(1)))]
        await asyncio.to_thread(bench.begun.acquire)
        tasks.append(asyncio.create_task(queue.compute_activations(draw_images(*range(2, 11)))))
        tasks.append(asyncio.create_task(queue.compute_activations(draw_images(*range(30, 54)))))
        while queue.waiting_images < 33:
            await asyncio.sleep(0)
        for _ in range(20):
            bench.allowed.release()
        await asyncio.gather(*tasks)

    run_with_queue(bench.compute, ask)
    assert [len(batch) for batch in bench.batches] == [1, 16, 16, 1]


def test_a_lone_request_after_another_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    # Whoever waited would wait for ever.
    monkeypatch.setattr(batch_queue, "MAX_WAIT_S", 1e6)
    monkeypatch.setattr(batch_queue, "MAX_WAIT_SHARE", 1e12)

    async def ask(queue: BatchQueue) -> None:
        for n in range(5):
            await queue.compute_activations(draw_images(n))

    run_with_queue(answer_images, ask, devices=2)


def test_after_several_at_once_a_device_waits_for_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_queue, "MAX_WAIT_S", 1e6)
    monkeypatch.setattr(batch_queue, "MAX_WAIT_SHARE", 1e12)
    monkeypatch.setattr(batch_queue, "FORGET_AFTER_S", 1e6)
    bench = Bench()

    async def ask(queue: BatchQueue) -> None:
        async def ask_twice(n: int) -> None:
            await queue.compute_activations(draw_images(n))
            await queue.compute_activations(draw_images(100 + n))

        for _ in range(20):
            bench.allowed.release()
        await asyncio.gather(*map(ask_twice, range(8)))

    run_with_queue(bench.compute, ask)
    assert bench.batches[0] == list(range(8))
    assert len(bench.batches[1]) >= 4, "the second batch took the first that came"


def test_more_than_may_wait_is_refused_at_once_and_told_when_to_try_again() -> None:
    bench = Bench()

    async def ask(queue: BatchQueue) -> None:
        first = asyncio.create_task(queue.compute_activations(draw_images(1)))
        await asyncio.to_thread(bench.begun.acquire)
        second = asyncio.create_task(queue.compute_activations(draw_images(*range(90))))
        await asyncio.sleep(0)
        with pytest.raises(RequestError) as error:
            await queue.compute_activations(draw_images(*range(11)))
        assert error.value.status == 503
        assert error.value.headers == {"Retry-After": "1"}
        third = asyncio.create_task(queue.compute_activations(draw_images(*range(10))))
        for _ in range(40):
            bench.allowed.release()
        await asyncio.gather(first, second, third)

    run_with_queue(bench.compute, ask)


def test_one_requests_fault_is_its_own() -> None:
    def compute(device: int, images: np.ndarray) -> Activations:
        values = images.reshape(-1).tolist()
        if 13 in values:
            raise RunError("No finite numbers.")
        if 14 in values:
            raise ZeroDivisionError
        return answer_images(device, images)

    async def ask(queue: BatchQueue) -> None:
        found = await asyncio.gather(
            *(queue.compute_activations(draw_images(n)) for n in range(10, 18)), return_exceptions=True
        )
        kinds = [type(one) for one in found]
        assert kinds.count(Activations) == 6
        assert (kinds[3], kinds[4]) == (RunError, ZeroDivisionError)
        # The device goes on.
        assert await queue.compute_activations(draw_images(1))

    run_with_queue(compute, ask)


def test_whoever_goes_leaves_their_place() -> None:
    bench = Bench()

    async def ask(queue: BatchQueue) -> None:
        first = asyncio.create_task(queue.compute_activations(draw_images(1)))
        await asyncio.to_thread(bench.begun.acquire)
        gone = asyncio.create_task(queue.compute_activations(draw_images(2, 3)))
        stays = asyncio.create_task(queue.compute_activations(draw_images(4)))
        while queue.waiting_images < 3:
            await asyncio.sleep(0)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert queue.waiting_images == 1
        for _ in range(9):
            bench.allowed.release()
        await asyncio.gather(first, stays)

    run_with_queue(bench.compute, ask)
    assert bench.batches == [[1], [4]]


def test_a_client_that_leaves_while_its_images_are_computed_frees_its_places() -> None:
    bench = Bench()

    async def ask(queue: BatchQueue) -> None:
        gone = asyncio.create_task(queue.compute_activations(draw_images(*range(20))))
        await asyncio.to_thread(bench.begun.acquire)
        assert queue.waiting_images == 4
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert queue.waiting_images == 0
        for _ in range(2):
            bench.allowed.release()
        await queue.compute_activations(draw_images(99))

    run_with_queue(bench.compute, ask)
    assert bench.batches == [list(range(16)), [99]]


def test_after_a_fault_the_rest_of_its_requests_images_is_not_computed() -> None:
    bench = Bench()

    def fail_first_batch(device: int, images: np.ndarray) -> Activations:
        bench.compute(device, images)
        raise RunError("No finite numbers.")

    async def ask(queue: BatchQueue) -> None:
        bench.allowed.release()
        with pytest.raises(RunError):
            await queue.compute_activations(draw_images(*range(40)))
        assert queue.waiting_images == 0

    run_with_queue(fail_first_batch, ask)
    assert bench.batches == [list(range(16))]


def test_a_device_continues_after_a_batch_that_could_not_be_assembled() -> None:
    bench = Bench()

    async def ask(queue: BatchQueue) -> None:
        first = asyncio.create_task(queue.compute_activations(draw_images(1)))
        await asyncio.to_thread(bench.begun.acquire)
        unlike = (np.full((1, 2, 2, 1), 2, np.uint8), draw_images(3))
        others = [asyncio.create_task(queue.compute_activations(images)) for images in unlike]
        while queue.waiting_images < 2:
            await asyncio.sleep(0)
        for _ in range(3):
            bench.allowed.release()
        answers = await asyncio.gather(first, *others)
        assert [answer.logits[0, 0, 0] for answer in answers] == [1, 2, 3]

    run_with_queue(bench.compute, ask)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_request_that_waits_when_the_server_stops_gets_an_answer(one_by_one: bool) -> None:
    bench = Bench()

    def compute(device: int, images: np.ndarray) -> Activations:
        if len(images) > 1:
            raise RunError("No finite numbers.")
        return bench.compute(device, images)

    async def ask(queue: BatchQueue) -> None:
        tasks = [asyncio.create_task(queue.compute_activations(draw_images(1)))]
        await asyncio.to_thread(bench.begun.acquire)
        tasks += [asyncio.create_task(queue.compute_activations(draw_images(n))) for n in range(2, 6)]
        while queue.waiting_images < 4:
            await asyncio.sleep(0)
        if one_by_one:
            bench.allowed.release()
            await tasks.pop(0)
            await asyncio.to_thread(bench.begun.acquire)
            assert queue.waiting_images == 0
        closing = asyncio.create_task(queue.close())
        errors = await asyncio.gather(*tasks, return_exceptions=True)
        bench.allowed.release()  # for the thread, which still computes
        await closing
        with pytest.raises(RequestError) as error:
            await queue.compute_activations(draw_images(1))
        for one in (*errors, error.value):
            assert isinstance(one, RequestError)
            assert (one.status, one.headers) == (503, {"Retry-After": "1"})
            assert "is being stopped" in str(one)

    run_with_queue(compute, ask)


@pytest.mark.parametrize(
    ("waiting", "taken"), [(1, 1), (3, 3), (5, 4), (6, 6), (9, 8), (11, 8), (12, 12), (16, 16), (40, 16)]
)
def test_a_batch_is_cut_to_half_a_size_that_it_would_fill_to_less_than_three_quarters(waiting: int, taken: int) -> None:
    async def choose() -> int:
        queue = BatchQueue(answer_images, 1, SIZES)
        queue._images = waiting
        count = queue._choose_count()
        await queue.close()
        return count

    assert asyncio.run(choose()) == taken
