"""Values at the edge of what an option takes: refused before anything is opened."""

import errno
import re
from dataclasses import replace

import pytest
from click.testing import CliRunner, Result

from ensemble import runs, sweeps
from ensemble.cli.program import main
from ensemble.machine import machine_info, run_estimate
from ensemble.machine.memory_errors import is_memory_error


def call(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


@pytest.mark.parametrize(("share", "code"), [("0", 2), ("-0.1", 2), ("1", 2), ("1.5", 2), ("1e-9", 1), ("0.999", 1)])
def test_neither_none_nor_all_can_be_refused(share: str, code: int) -> None:
    done = call("predict", "no-run", "a.png", "--refuse", share)
    assert done.exit_code == code
    assert ("range 0<x<1" in done.stderr) == (code == 2)
    assert ("There is no run" in done.stderr) == (code == 1), "so far it got"


@pytest.mark.parametrize(("word", "code"), [("-1", 2), ("0", 1), ("3", 1)])
def test_an_epoch_is_counted_from_the_beginning(word: str, code: int) -> None:
    assert call("predict", "no-run", "a.png", "--epoch", word).exit_code == code


def test_a_run_that_memory_cannot_hold_is_refused_before_it_is_made() -> None:
    words = ("train", "--members=64", "--network=mlp", "--width=1024", "--batch-size=1024")
    before = runs.list_runs()
    with pytest.MonkeyPatch.context() as patch:
        small = replace(machine_info.read_machine_info(), memory_bytes=2 * 10**9)
        patch.setattr(run_estimate, "read_machine_info", lambda: small)
        done = call(*words)
    assert done.exit_code == 2
    assert "of memory, more than the 2.0 GB here: choose fewer members" in done.stderr
    assert runs.list_runs() == before


@pytest.mark.parametrize(
    "words",
    [
        ("train", "--batch-size=2000"),
        ("train", "--batch-size=1300", "--validation=0.2"),
        ("train", "--batch-size=1300", "--folds=3"),
        ("sweep", "--space=batch_size=64,2000", "--trials=2"),
    ],
)
def test_a_batch_of_more_than_there_is_is_refused_before_anything_is_made(words: tuple[str, ...]) -> None:
    before = runs.list_runs()
    done = call(*words)
    assert done.exit_code == 2
    assert re.search(r"A batch of [12],\d00 is more than the [\d,]+ training images", done.stderr)
    assert "or fewer." in done.stderr
    assert runs.list_runs() == before
    assert not sweeps.list_sweeps()


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 72.8 TiB"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 4000 bytes."),
    ],
    ids=["numpy", "system", "jax"],
)
def test_a_command_without_memory_ends_with_a_sentence(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(runs, "list_runs", fail)
    done = call("runs", "list")
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: Memory ran out: close other programs, or ask for less")


def test_a_full_disk_is_not_taken_for_full_memory() -> None:
    assert not is_memory_error(RuntimeError("RESOURCE_EXHAUSTED: Error writing: No space left"))
    assert not is_memory_error(OSError(errno.ENOSPC, "No space left on device"))
