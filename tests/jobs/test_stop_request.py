"""What asks work to stop."""

import dataclasses
import signal
from pathlib import Path

import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs import warm_worker_main
from ensemble.jobs.kinds import TRAINING
from ensemble.jobs.outcome import StopRequest


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_a_request_and_afterwards_what_it_was(number: int, tmp_path: Path) -> None:
    before = signal.getsignal(number)
    with StopRequest(tmp_path / "stop") as stop:
        assert not stop()
        signal.raise_signal(number)
        assert stop()
    assert stop.signalled
    assert signal.getsignal(number) == before


def test_a_second_ctrl_c_ends_at_once(tmp_path: Path) -> None:
    with StopRequest(tmp_path / "stop"):
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_file_is_a_request(tmp_path: Path) -> None:
    stop = StopRequest(tmp_path / "stop")
    (tmp_path / "stop").touch()
    assert stop()
    assert not stop.signalled


@pytest.mark.parametrize("signalled", [True, False])
def test_who_was_told_to_end_does_not_wait_for_another_run(signalled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.create_run(EnsembleConfig())

    def work(run_id: str, stop: StopRequest) -> runs.Run:
        with stop:
            if signalled:  # It comes after the last look: too late for the run.
                signal.raise_signal(signal.SIGTERM)
        return dataclasses.replace(run, status=dataclasses.replace(run.status, state="finished"))

    entries = {TRAINING.work_entry: work, TRAINING.follow_up_entry: lambda run_id: None}
    monkeypatch.setattr(warm_worker_main, "load_entry_point", entries.__getitem__)
    monkeypatch.setattr(warm_worker_main, "lower_priority", lambda: None)
    assert warm_worker_main.execute_assigned_run(run.id) is not signalled
