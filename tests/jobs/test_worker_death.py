"""A worker that a signal ends: which, and what helps, is said by whoever looks afterwards."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs import worker_death
from ensemble.jobs.kinds import TRAINING
from ensemble.jobs.worker_death import CRASH_FILE, CRASHES
from ensemble.runs import Run
from ensemble.runs.groups.group import list_run_groups
from tests.workers import wait_for_end, wait_until

LONG = EnsembleConfig(network="logistic", members=2, epochs=1000, batch_size=16)
# The worker of a run, which a signal ends; it trains nothing.
WORKER = """
import os, sys
from pathlib import Path
from ensemble import runs
from ensemble.jobs import worker_death
from ensemble.jobs.worker import hold_job

worker_death.OOM_COUNT_FILES = (Path(sys.argv[3]),)
with hold_job(runs.find_run(sys.argv[1])) as status:
    status.update(state="training")
    os.kill(os.getpid(), int(sys.argv[2]))
"""
UNKNOWN = "it was killed, or the machine restarted"


@pytest.fixture
def counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the kernel counts what it ended as memory ran out."""
    file = tmp_path / "vmstat"
    file.write_text("pgfault 7\noom_kill 3\n")
    monkeypatch.setattr(worker_death, "OOM_COUNT_FILES", (file,))
    return file


def die(run: Run, by: int, counts: Path) -> Run:
    """The run after a worker of it was ended by a signal."""
    words = [sys.executable, "-c", WORKER, run.id, str(by), str(counts)]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert ended.returncode == -by, ended.stderr
    return runs.find_run(run.id)


@pytest.mark.parametrize("crash", CRASHES, ids=str.lower)
def test_a_worker_that_crashes_says_by_which_signal_and_what_helps(crash: str, counts: Path) -> None:
    name = CRASHES[crash][0]
    # What JAX 0.12 brings along answers this one by giving up.
    told = f"{name}|SIGABRT" if name == "SIGFPE" else name
    run = die(runs.create_run(LONG), signal.Signals[name], counts)
    assert run.state == "failed"
    assert re.search(rf"exited unexpectedly: .*\(({told})\b", run.message)
    assert "resume starts from the beginning" in run.message
    remedies = [remedy for own, _, remedy in CRASHES.values() if re.fullmatch(told, own)]
    assert run.message.endswith(tuple(remedies))


def test_one_that_was_killed_is_told_from_one_that_the_system_ended(counts: Path) -> None:
    run = die(runs.create_run(LONG), signal.SIGKILL, counts)
    assert "it was killed (SIGKILL) by a person or a program" in run.message
    counts.write_text("pgfault 9\noom_kill 4\n")
    assert "(SIGKILL), most likely because memory ran out. " in run.message
    assert run.message.endswith("Try fewer members or a smaller batch.")


def test_one_that_ended_with_its_machine_says_so(counts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = die(runs.create_run(LONG), signal.SIGKILL, counts)
    (tmp_path / "boot").write_text("another\n")
    monkeypatch.setattr(worker_death, "BOOT_FILE", tmp_path / "boot")
    assert "exited unexpectedly: the machine restarted. " in run.message


def test_what_dies_twice_at_the_same_place_is_said_to_die_again(counts: Path) -> None:
    run = die(runs.create_run(LONG), signal.SIGSEGV, counts)
    assert "without getting" not in run.message
    run = die(runs.requeue_run(run.id), signal.SIGKILL, counts)
    assert "without getting" not in run.message, "it died in another way"
    for times in ("twice", "3 times"):
        run = die(runs.requeue_run(run.id), signal.SIGKILL, counts)
        assert f"It died so {times} without getting any further: " in run.message


CRASHED = "Fatal Python error: Segmentation fault\n"
SEGFAULT = "compiled code in it crashed (SIGSEGV"


def describe_death(written: str, *deaths: tuple[str, str], host: str = "elsewhere.example.org") -> str:
    """What is said of a run whose worker on another host left this behind, after deaths of others before it."""
    earlier = [{"cause": cause, "progress": progress} for cause, progress in deaths]
    mark = {"host": host, "boot": "of that machine", "oom_kills": 0, "deaths": earlier}
    folder = runs.create_run(LONG).path
    (folder / CRASH_FILE).write_text(json.dumps(mark) + "\n" + written)
    return worker_death.describe_worker_death(folder, TRAINING, 0.5)


def test_a_death_on_another_host_is_explained_by_what_was_written_there() -> None:
    assert SEGFAULT in describe_death(CRASHED)
    assert UNKNOWN in describe_death("")
    assert SEGFAULT in describe_death("", ("SIGSEGV", "epoch 3")), "the last that is known"


def test_a_death_after_many_or_after_some_progress_is_the_last_and_no_repetition() -> None:
    here, kept = socket.gethostname(), TRAINING.describe_kept_work(runs.create_run(LONG).path)
    assert SEGFAULT in describe_death(CRASHED, *[("SIGKILL", kept)] * 20, host=here)
    assert "It died so 3 times without getting any" in describe_death(CRASHED, *[("SIGSEGV", kept)] * 2, host=here)
    assert "without getting any" not in describe_death(CRASHED, ("SIGSEGV", "epoch 3"), host=here)


@pytest.mark.long
@pytest.mark.usefixtures("two_devices_a_worker", "no_worker_left")
def test_a_real_worker_that_crashes_and_gets_on_is_not_said_to_die_again() -> None:
    run = runs.launch_run(LONG)
    for _ in range(2):
        before = TRAINING.describe_kept_work(run.path)
        run = wait_until(run, lambda run, kept=before: TRAINING.describe_kept_work(run.path) != kept)
        os.kill(run.status.pid, signal.SIGSEGV)
        run = wait_for_end(run)
        assert "compiled code in it crashed (SIGSEGV" in run.message
        assert "without getting any further" not in run.message
        run = runs.resume_run(run.id)
    wait_until(run, lambda run: run.status.state == "training")
    runs.request_run_stop(run.id)
    assert wait_for_end(run).message == "Stopped. Resume continues from here."
    assert not (run.path / CRASH_FILE).exists()


@pytest.mark.long
@pytest.mark.usefixtures("two_devices_a_worker", "no_worker_left")
def test_a_group_that_crashes_again_and_again_ends_its_run_with_the_signal() -> None:
    run = runs.launch_run(replace(LONG, members=4, groups=2))
    seen = set[int]()
    while (run := runs.find_run(run.id)).active:
        for group in list_run_groups(run):
            status = group.status
            if status.state == "training" and status.pid and status.pid not in seen:
                seen.add(status.pid)
                os.kill(status.pid, signal.SIGSEGV)
        time.sleep(0.02)
    assert run.message.startswith("Group 1 of 2 (members 1–2): ")
    assert "compiled code in it crashed (SIGSEGV" in run.message


def test_a_file_that_no_worker_wrote_says_nothing(counts: Path) -> None:
    run = die(runs.create_run(LONG), signal.SIGKILL, counts)
    assert UNKNOWN not in run.message
    for content in (b"", b"\0" * 100, b"[]\n", b'{"deaths": 5}\n', b"[" * 9000, b'{"host": 1, "boot": "", '):
        (run.path / CRASH_FILE).write_bytes(content)
        run = runs.find_run(run.id)
        assert run.message == TRAINING.describe_death(run.path)
        assert UNKNOWN in run.message, content
