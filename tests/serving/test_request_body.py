"""Whatever ends a request early gives back what it held; the fixture `server` waits for that after each test."""

import asyncio
import itertools
from collections.abc import Iterable

import numpy as np
import pytest
from starlette.types import Message

from ensemble.serving import application, limits
from tests.serving.in_process import DISCONNECT, IDLE, Answer, Server, build_body_message, write_npy
from tests.serving.test_predictions import IMAGES

HEADERS = {"Content-Type": "application/x-npy"}
BODY = write_npy(IMAGES[:2])


def send_messages(server: Server, messages: Iterable[Message]) -> Answer:
    return server.run(server.answer_messages(messages, "/predict", "POST", HEADERS))


def read_sentence(answer: Answer) -> str:
    return str(answer.json["error"])


def test_a_body_sent_too_slowly_times_out(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.0)
    answer = send_messages(server, [build_body_message(BODY[:100])])
    assert answer.status == 408
    assert "did not arrive within 0 s" in read_sentence(answer)


def test_a_client_that_leaves_in_the_middle_of_its_body_is_forgotten(server: Server) -> None:
    answer = send_messages(server, [build_body_message(BODY[:100]), build_body_message(BODY[100:200]), DISCONNECT])
    assert answer.status == 400
    assert read_sentence(answer) == "The request was broken off."


def test_a_body_in_parts_is_read_whole(server: Server) -> None:
    parts = [BODY[:100], b"", BODY[100:]]
    answer = send_messages(server, [build_body_message(part, more=number < 2) for number, part in enumerate(parts)])
    assert len(answer.json["digits"]) == 2


@pytest.mark.parametrize("bytes_sent", [limits.MAX_BODY_BYTES + 1, limits.MAX_DRAINED_BYTES + 2**20])
def test_a_body_that_grows_too_large_in_parts_is_refused(server: Server, bytes_sent: int) -> None:
    chunk = build_body_message(bytes(2**20))
    messages = [*itertools.repeat(chunk, bytes_sent // 2**20), build_body_message(b"x", more=False)]
    answer = send_messages(server, messages)
    assert answer.status == 413
    assert "20 MB" in read_sentence(answer)


def test_a_body_without_end_is_cut_in_its_parts(server: Server) -> None:
    assert send_messages(server, itertools.repeat(build_body_message(bytes(2**20)))).status == 413


def test_a_body_with_a_huge_declared_length_is_not_read(server: Server) -> None:
    answer = server.ask("/predict", None, method="POST", Content_Length=str(10**12))
    assert answer.status == 413


def test_a_body_beyond_what_may_be_in_hand_at_once_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_BYTES_IN_HAND", len(BODY) - 1)
    answer = send_messages(server, [build_body_message(BODY[:100]), build_body_message(BODY[100:], more=False)])
    assert answer.status == 503
    assert answer.headers["retry-after"] == str(limits.RETRY_AFTER_SECONDS)
    assert read_sentence(answer) == "Too much is being sent at once: try again in a moment."


def test_an_answer_that_takes_too_long_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ANSWER_SECONDS", 0.0)
    answer = send_messages(server, [build_body_message(BODY, more=False)])
    assert answer.status == 503
    assert answer.headers["retry-after"] == str(limits.RETRY_AFTER_SECONDS)
    assert read_sentence(answer).startswith("There was no answer in time: ")


def test_running_out_of_memory_is_reported(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_out(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(application, "parse_input_images", run_out)
    answer = send_messages(server, [build_body_message(BODY, more=False)])
    assert answer.status == 503
    assert read_sentence(answer).startswith("Memory ran out: ")


def test_requests_that_are_broken_off_while_their_images_wait_leave_none(server: Server) -> None:
    many = np.resize(IMAGES, (limits.MAX_IMAGES, *IMAGES.shape[1:]))

    async def break_off() -> None:
        tasks = [asyncio.create_task(server.answer_images(many, "?rejection=false")) for _ in range(4)]
        # Until some images of the first request are in a batch.
        while (await server.read_counts())["ensemble_waiting_images"] in (0, 4 * len(many)):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(one) for one in found] == [asyncio.CancelledError] * 4
        assert await server.read_counts() == IDLE

    server.run(break_off())


def test_bytes_of_bodies_are_counted_while_these_arrive(server: Server) -> None:
    async def begin_bodies() -> None:
        begun = [
            asyncio.create_task(server.answer_messages([build_body_message(bytes(size))], "/predict", "POST", HEADERS))
            for size in (100, 1000)
        ]
        await server.wait_for_counts(ensemble_requests_in_hand=3, ensemble_body_bytes_in_hand=1100)
        for task in begun:
            task.cancel()
        await asyncio.gather(*begun, return_exceptions=True)

    server.run(begin_bodies())
