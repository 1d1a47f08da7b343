"""A process for a first run is there before any page asks for one, and it is the page's too."""

import asyncio
from collections.abc import Iterator

import pytest
from streamlit import config

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.warm_worker import WarmWorker
from ensemble.runs.store import RUN_STORE
from ensemble.ui.shared import server


@pytest.fixture
def ready(monkeypatch: pytest.MonkeyPatch) -> Iterator[WarmWorker]:
    """This server's, wanted as outside of tests."""
    made = WarmWorker()
    monkeypatch.setattr(RUN_STORE, "warm_worker", made)
    monkeypatch.setenv("ENSEMBLE_WARM_WORKER", "1")
    before = config.get_option("server.headless")
    config.set_option("server.headless", True)
    yield made
    config.set_option("server.headless", before)
    made.dismiss()
    for child in made._dismissed:
        child.wait(60)


async def serve() -> None:
    async with server.lifespan(None):  # type: ignore[arg-type]
        for _ in range(1200):
            if not any(one.name == "warm worker" for one in server.threading.enumerate()):
                return
            await asyncio.sleep(0.05)


def test_it_starts_with_the_server_and_the_page_that_comes_finds_it(ready: WarmWorker) -> None:
    asyncio.run(serve())
    assert ready._child is not None
    assert ready._child.poll() is None
    first = ready._child.pid
    runs.keep_warm_worker()
    assert ready._child.pid == first


@pytest.mark.parametrize("why", ["accelerators", "a run"])
def test_none_starts_where_memory_or_the_machine_may_be_taken(
    why: str, ready: WarmWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why == "accelerators":
        monkeypatch.setenv("JAX_PLATFORMS", "cuda,cpu")
    else:
        runs.create_run(EnsembleConfig())
    asyncio.run(serve())
    assert ready._child is None
