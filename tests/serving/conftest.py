"""One run, and one application that serves it in the process of the tests."""

import logging
from collections.abc import Iterator

import pytest

from ensemble.runs import Run
from tests.export.drawn import create_served_run
from tests.serving.in_process import IDLE, Server, start_server


@pytest.fixture(scope="session")
def served_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return create_served_run(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def shared_server(served_run: Run) -> Iterator[Server]:
    with start_server(served_run) as server:
        yield server


@pytest.fixture(autouse=True)
def see_the_served_run(served_run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a folder of runs of its own: these have the one of the server's run."""
    monkeypatch.setenv("ENSEMBLE_RUNS", str(served_run.path.parent))


@pytest.fixture
def server(shared_server: Server, caplog: pytest.LogCaptureFixture) -> Iterator[Server]:
    """The server of all tests, which has nothing in hand before and after each."""
    assert shared_server.run(shared_server.read_counts()) == IDLE, "An earlier test left something in hand."
    yield shared_server
    shared_server.wait_until_idle()
    # What bodies and clients did was no fault of the server's own.
    for when in ("setup", "call"):
        assert [one for one in caplog.get_records(when) if one.levelno >= logging.ERROR] == []
