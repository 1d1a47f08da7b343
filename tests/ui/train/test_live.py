"""Waiting for a run's first curves, and for one that has fallen silent."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.status import write_status
from ensemble.ui.train import live
from ensemble.wording import jobs as jobs_words
from tests.workers import at_work_here


class RerunError(Exception):
    """What `st.rerun` does: it ends what is being drawn."""


def wait_for(run: runs.Run, found: list[list[Any]], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is asked to be drawn anew, where the history is found to be these, one after another."""
    asked: list[Any] = []

    def rerun(scope: str) -> None:
        asked.append(scope)
        raise RerunError

    monkeypatch.setattr(live.loaders, "load_run_history", lambda run: found.pop(0) if found else [])
    monkeypatch.setattr(live.st, "rerun", rerun)
    try:
        live.wait_for_first_curves(run)
    except RerunError:
        assert not found
    return asked


def test_the_first_curves_are_drawn_when_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.create_run(EnsembleConfig())
    assert wait_for(run, [[], [], [{"kind": "steps"}]], monkeypatch) == ["fragment"]


def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "FAST_POLL_DURATION_S", 0.05)
    assert wait_for(runs.create_run(EnsembleConfig()), [], monkeypatch) == []


def test_it_is_waited_for_when_its_turn_has_come_and_the_page_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.create_run(EnsembleConfig())
    waited: list[str] = []
    states: list[str] = []
    monkeypatch.setattr(live, "wait_for_first_curves", lambda run: waited.append(run.id))
    monkeypatch.setattr(live.loaders, "get_displayed_run_state", lambda run: states[-1])

    def script(run_id: str) -> None:
        import itertools

        import streamlit as st

        from ensemble.ui.train import live

        live.refresh_live_run(
            run_id, st.session_state["state"], False, itertools.count(st.session_state["look"]), live.draw_live_run
        )

    at = AppTest.from_function(script, args=(run.id,))
    for state, look, waits in (
        ("starting", 0, False),
        ("starting", 1, True),
        ("starting", 2, True),
        ("queued", 1, False),
        ("starting", live.MAX_FAST_POLLS, False),
    ):
        waited.clear()
        states.append(state)
        at.session_state["state"], at.session_state["look"] = state, look
        assert not at.run().exception
        assert waited == [run.id] * waits, (state, look)


def test_a_run_that_has_fallen_silent_says_for_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its process is there, so it is neither dead nor done: it may be stopped or swapped out.
    held = SimpleNamespace(time=lambda: 5000.0)
    monkeypatch.setattr(jobs_words, "time", held)
    run = runs.create_run(EnsembleConfig(epochs=3))
    mine = {"state": "training", **at_work_here(run.path), "epochs": 3}

    def script(run_id: str) -> None:
        from ensemble import runs
        from ensemble.ui.train import live

        live.show_run_progress(runs.find_run(run_id))

    at = AppTest.from_function(script, args=(run.id,))
    for silence, said in ((0.0, ""), (30.0, ""), (31.0, " · no news for 31 s"), (150.0, " · no news for 2 min 30 s")):
        status = replace(run.status, **mine, epoch=1, img_member_per_s=9000.0, updated=5000.0 - silence)
        write_status(run.path, status)
        assert not at.run().exception
        (bar,) = at.get("progress")
        assert bar.proto.text == f"epoch 2 of 3 · 9,000 img·member/s{said}"


@pytest.mark.parametrize(
    ("figures", "state", "seconds"),
    [(0, "starting", 0.5), (0, "queued", 1.0), (60_000, "training", 2.0), (10**7, "training", 5.0)],
)
def test_a_long_history_is_looked_at_less_often(figures: int, state: str, seconds: float) -> None:
    assert live.compute_refresh_interval(figures, state) == seconds


def test_a_run_that_is_gone_on_with_elsewhere_has_its_page_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.create_run(EnsembleConfig())
    write_status(run.path, replace(run.status, state="stopped"))
    drawn: list[None] = []
    monkeypatch.setattr(live.st, "rerun", lambda: drawn.append(None))
    live.look_at_ended_run(run.id, "stopped")
    assert not drawn
    runs.requeue_run(run.id)
    live.look_at_ended_run(run.id, "stopped")
    assert len(drawn) == 1
    live.look_at_ended_run("no-such-run", "stopped")
