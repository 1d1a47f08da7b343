"""What becomes of jobs at work when the server ends."""

import asyncio
import subprocess
from collections.abc import Iterator

import pytest
from streamlit import config

from ensemble.jobs.launch import track_child
from ensemble.ui.shared import server


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    """One that the server has started, in a session of its own, as workers are."""
    started = subprocess.Popen(["sleep", "60"], start_new_session=True)
    track_child(started)
    yield started
    started.kill()
    started.wait()


@pytest.mark.parametrize(("word", "ended"), [("1", True), ("0", False), (None, False)])
def test_its_workers_are_told_to_stop_and_waited_for_only_where_that_is_asked_for(
    word: str | None, ended: bool, child: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    before = config.get_option("server.headless")
    config.set_option("server.headless", True)
    monkeypatch.delenv("ENSEMBLE_STOP_WITH_SERVER", raising=False)
    if word is not None:
        monkeypatch.setenv("ENSEMBLE_STOP_WITH_SERVER", word)

    async def serve() -> None:
        async with server.lifespan(None):  # type: ignore[arg-type]
            assert child.poll() is None

    asyncio.run(serve())
    config.set_option("server.headless", before)
    assert (child.poll() is not None) is ended
