"""A run that waits for a job that is not listed here: every page says what its worker says."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.slots import SlotLease, acquire_slots
from ensemble.jobs.status import write_status
from ensemble.ui.shared import loaders
from tests.pages.predictions_screen import opened
from tests.workers import held_by_a_worker, wait_for_end, wait_until

SAYS = "Queued: a job of another folder of runs, which is not listed here, is running on this"


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlotLease]:
    """A job of another folder of runs has this machine's only slot."""
    monkeypatch.setenv("ENSEMBLE_SLOTS", "1")
    turn = acquire_slots(1)
    assert turn is not None
    with turn:
        yield turn


def test_what_a_worker_says_of_its_wait_stands_on_every_page(train: Any) -> None:
    run = runs.create_run(EnsembleConfig(network="logistic", members=1, epochs=1))
    write_status(run.path, replace(run.status, message=f"{SAYS} machine."))
    with held_by_a_worker(run.path):
        loaders.forget_runs()
        assert [one for one in train(run.id).get("progress") if SAYS in one.proto.text]
        at = opened("", "devices")
        assert [one.value for one in at.caption if SAYS in one.value]


@pytest.mark.long
def test_every_page_says_what_the_worker_says(elsewhere: SlotLease, train: Any) -> None:
    run = runs.launch_run(EnsembleConfig(network="logistic", members=1, epochs=1))
    run = wait_until(run, lambda now: bool(now.message))
    assert run.state == "queued"
    assert run.message.startswith(SAYS)
    loaders.forget_runs()
    shown = [one.proto.text for one in train(run.id).get("progress")]
    assert [text for text in shown if SAYS in text], shown
    at = opened("", "devices")
    assert [one.value for one in at.caption if SAYS in one.value]
    elsewhere.close()
    assert wait_for_end(run).state == "finished"
