"""A machine that is too small for the work says so in the run's status, with what to do."""

import errno

import pytest

from ensemble import regression, runs
from ensemble.config import EnsembleConfig
from ensemble.jobs import outcome
from ensemble.regression import worker as regression_worker
from ensemble.regression.regression_job import LbfgsConfig
from ensemble.runs.training import worker

FULL = OSError(errno.ENOSPC, "No space left on device")
READ_ONLY = OSError(errno.EROFS, "Read-only file system", "/a")
ADVICE = "then resume it. No checkpoint has been written yet: resume starts from the beginning."


def failing(error: Exception):
    def work(*_: object, **__: object) -> outcome.Outcome:
        raise error

    return work


def fill_memory(*_: object, **__: object) -> outcome.Outcome:
    import jax

    jax.numpy.zeros((10**6, 10**7)).block_until_ready()
    raise AssertionError("there was room for 40 TB")


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (MemoryError(), "Out of memory: try fewer members or a smaller batch."),
        (FULL, f"Could not write to the disk (No space left on device). Make room, {ADVICE}"),
        (READ_ONLY, "Could not write to the disk (Read-only file system: /a). Make it writable for you, " + ADVICE),
    ],
    ids=["memory", "full", "read-only"],
)
def test_a_run_that_does_not_fit_ends_as_failed_with_advice(
    error: Exception, advice: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(worker, "_start_run_training", failing(error))
    said: list[runs.Status] = []
    run = runs.execute_run(runs.create_run(EnsembleConfig()).id, said.append)
    assert (run.state, run.message) == ("failed", advice)
    assert (said[-1].state, said[-1].message) == ("failed", advice)
    # A full disk or memory is nobody's bug; of all else the log has where it happened.
    assert ("Traceback" in capsys.readouterr().err) == (error is READ_ONLY)


def test_where_jax_finds_no_memory_it_is_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(worker, "_start_run_training", fill_memory)
    run = runs.execute_run(runs.create_run(EnsembleConfig()).id)
    assert (run.state, run.message) == ("failed", "Out of memory: try fewer members or a smaller batch.")
    said = capfd.readouterr()
    assert "Memory ran out: RESOURCE_EXHAUSTED: Out of memory allocating " in said.out
    assert "Traceback" not in said.out + said.err


def test_a_regression_on_a_full_disk_is_launched_again_as_it_cannot_be_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regression_worker, "_run_regression", failing(FULL))
    solve = regression.run_regression_worker(regression.create_regression(LbfgsConfig(samples=120, features=8)).id)
    assert solve.state == "failed"
    assert solve.message == "Could not write to the disk (No space left on device). Make room, then launch it again."


def test_a_bug_is_told_from_what_a_person_can_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_start_run_training", failing(ZeroDivisionError("a bug")))
    run = runs.create_run(EnsembleConfig())
    with pytest.raises(ZeroDivisionError):
        runs.execute_run(run.id)
    run = runs.find_run(run.id)
    assert run.state == "failed"
    assert "An unexpected error ended the training" in run.message
    assert "a bug" in run.message
