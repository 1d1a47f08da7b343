"""One run, and one server of it for all tests that do not end it."""

from collections.abc import Iterator

import pytest

from ensemble.runs import Run
from tests.export.drawn import create_drawn_run
from tests.serving.server_process import Server, start_server


@pytest.fixture(scope="session")
def served_run() -> Run:
    return create_drawn_run("mlp", members=3)


@pytest.fixture(scope="session")
def server(served_run: Run) -> Iterator[Server]:
    with start_server(served_run.id) as server:
        yield server
        # What bodies and clients did was no fault of the server's own.
        assert "Traceback" not in server.log.read_text(), server.log.read_text()


@pytest.fixture(autouse=True)
def see_the_served_run(served_run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a folder of runs of its own: these have the one of the server's run."""
    monkeypatch.setenv("ENSEMBLE_RUNS", str(served_run.path.parent))
