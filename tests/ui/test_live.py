"""Waiting for a run's first curves."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.ui import live


class RerunError(Exception):
    """What `st.rerun` does: it ends what is being drawn."""


def wait_for(run: runs.Run, found: list[list[Any]], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is asked to be drawn anew, where the history is found to be these, one after another."""
    asked: list[Any] = []

    def rerun(scope: str) -> None:
        asked.append(scope)
        raise RerunError

    monkeypatch.setattr(live.loaders, "history", lambda run: found.pop(0) if found else [])
    monkeypatch.setattr(live.st, "rerun", rerun)
    try:
        live.wait_for_the_first(run)
    except RerunError:
        assert not found
    return asked


def test_the_first_curves_are_drawn_when_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.create(EnsembleConfig())
    assert wait_for(run, [[], [], [{"kind": "steps"}]], monkeypatch) == ["fragment"]


def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "SECONDS_OF_WAITING", 0.05)
    assert wait_for(runs.create(EnsembleConfig()), [], monkeypatch) == []


@pytest.mark.parametrize(
    ("state", "look", "waits"),
    [("starting", 0, False), ("starting", 1, True), ("starting", 2, True), ("queued", 1, False)],
)
def test_it_is_waited_for_when_its_turn_has_come_and_the_page_is_drawn(
    state: str, look: int, waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs.create(EnsembleConfig())
    waited: list[str] = []
    monkeypatch.setattr(live, "wait_for_the_first", lambda run: waited.append(run.id))
    monkeypatch.setattr(live.loaders, "shown_state", lambda run: state)

    def script(run_id: str, state: str, look: int) -> None:
        import itertools

        from ensemble.ui import live

        live.watched(run_id, state, False, itertools.count(look))

    assert not AppTest.from_function(script, args=(run.id, state, look)).run().exception
    assert waited == [run.id] * waits
