"""Training from Python: a worker of its own, interrupted to a checkpoint, told when it fails."""

import dataclasses

import pytest

import ensemble
from ensemble import runs
from ensemble.api.run_progress import build_status_printer, wait_for_run
from ensemble.errors import ConfigError, NotPreparedError, RunError
from ensemble.machine import run_estimate
from ensemble.machine.machine_info import read_machine_info
from tests.pages.ensembles import trained
from tests.views.summaries import summarize


@pytest.mark.long
@pytest.mark.usefixtures("no_worker_left")
def test_an_interrupt_stops_the_worker_and_gives_back_a_run_that_can_go_on(config: ensemble.Config) -> None:
    seen = []

    def interrupt(status: runs.Status) -> None:
        seen.append(status.state)
        raise KeyboardInterrupt

    run = ensemble.train(config, name="mine", progress=interrupt)
    assert len(seen) == 1, "the worker is not told of any more"
    assert (run.name, run.config, run.state) == ("mine", config, "stopped")
    assert run.state in runs.RESUMABLE
    assert not run.stored.active
    with pytest.raises(RunError, match="there is nothing to stop"):
        run.stop()
    assert runs.requeue_run(run.id).state == "queued"
    runs.request_run_stop(run.id)


def test_a_dataset_that_is_not_here_is_said_before_a_run_is_made() -> None:
    with pytest.raises(NotPreparedError, match="data prepare mnist"):
        ensemble.train(ensemble.Config(dataset="mnist"))
    assert ensemble.list_runs() == []


def test_a_batch_of_more_than_there_is_is_said_before_anything_is_made() -> None:
    with pytest.raises(ConfigError, match=r"batch of 2,000 is more than the 1,\d+ training"):
        ensemble.train(ensemble.Config(batch_size=2000))
    with pytest.raises(ConfigError, match=r"batch of 2,000 is more than the 1,\d+ training"):
        ensemble.sweep({"batch_size": [64, 2000]})
    assert ensemble.list_runs() == []


def test_a_run_that_failed_is_an_error_with_its_advice() -> None:
    made = trained(state="failed", message="Out of memory: try fewer members.")
    with pytest.raises(RunError, match=r"failed\. Out of memory: try fewer members\."):
        wait_for_run(made.id, progress=False)


def test_one_that_stopped_or_diverged_comes_back_and_says_so() -> None:
    for state in ("stopped", "diverged"):
        run = ensemble.open_run(trained(state=state, message="It did.").id).wait(progress=False)
        assert (run.state, run.message) == (state, "It did.")


def test_a_line_is_printed_where_the_epoch_or_the_state_is_another(capsys: pytest.CaptureFixture[str]) -> None:
    tell = build_status_printer()
    for state, epoch, step in (
        ("queued", 0, 0),
        ("training", 0, 3),
        ("training", 0, 7),
        ("training", 1, 10),
        ("finished", 2, 20),
    ):
        tell(runs.Status(state=state, epoch=epoch, epochs=2, step=step, steps=step and 20))
    assert capsys.readouterr().out.splitlines() == [
        "queued",
        "training · epoch 1 of 2 · step 3 of 20",
        "training · epoch 2 of 2 · step 10 of 20",
        "finished · epoch 2 of 2 · step 20 of 20",
    ]


def test_more_memory_than_the_machine_has_is_said_before_there_is_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    small = dataclasses.replace(read_machine_info(), memory_bytes=2 * 10**9)
    monkeypatch.setattr(run_estimate, "read_machine_info", lambda: small)
    config = ensemble.Config(network="mlp", width=1024, members=64)
    with pytest.raises(ConfigError, match=r"more than the 2\.0 GB here: choose fewer members"):
        ensemble.train(config)
    assert not runs.list_runs()


@pytest.mark.usefixtures("no_worker_left")
def test_256_members_train_are_judged_and_open() -> None:
    config = ensemble.Config(network="mlp", width=4, members=256, epochs=1, batch_size=512)
    run = ensemble.train(config, progress=False)
    assert run.state == "finished"
    predictions = run.predictions()
    assert predictions.probabilities.shape[0] == 256
    assert "enough" in summarize(run.stored, "members").answer
