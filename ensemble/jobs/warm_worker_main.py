"""The warm worker's program, started by warm_worker.py.

Its standard input has a line of JSON for each thing to do, `{"likely": settings}` to compile for
or `{"run": id}` to train; a byte on its standard output says that it can take another run. On a
CPU it stays after a run, with all that it has compiled: the next run with such settings begins at
once; not after a run of a network of a person's own, whose code may change before the next.
Elsewhere one process does one run, for it would keep an accelerator's memory.
"""

import contextlib
import gc
import json
import os
import select
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil

from ensemble import architectures
from ensemble.errors import EnsembleError
from ensemble.jobs.folders import find_run_folder, read_kind_and_settings
from ensemble.jobs.job import STOP_FILE
from ensemble.jobs.kinds import TRAINING, load_entry_point
from ensemble.jobs.outcome import StopRequest
from ensemble.jobs.worker import lower_priority
from ensemble.machine.jax_settings import is_cpu_only, prepare_jax
from ensemble.storage.plain_files import open_plain_append

_IDLE_TIMEOUT_SECONDS = 20 * 60.0
# One that has grown larger than this goes after its run; a new one starts small.
_MAX_RESIDENT_BYTES = 768 * 1024 * 1024

Message = dict[str, Any]


def main() -> None:
    """Import everything, then do what the lines say until the pipe is closed."""
    prepare_jax()
    gc.disable()  # Nothing that is imported goes away again; looking for garbage takes a tenth.
    for module in TRAINING.preload:  # this is what takes the time
        import_module(module)
    gc.freeze()
    gc.enable()
    inbox = _Inbox()
    while message := inbox.next_message():
        if "likely" in message:
            load_entry_point(TRAINING.compile_entry)(message["likely"])
            continue
        if not execute_assigned_run(message["run"]) or not _can_take_another_run():
            return
        with contextlib.suppress(OSError):  # The server has ended: so will this.
            os.write(1, b"\n")


class _Inbox:
    """The messages on standard input. Of several wishes to compile only the last counts."""

    def __init__(self) -> None:
        self._rest = b""

    def next_message(self) -> Message | None:
        """The next message; None once the pipe is closed, or nothing came for PATIENCE_SECONDS."""
        while b"\n" not in self._rest:
            if not self._read_input(_IDLE_TIMEOUT_SECONDS):
                return None
        while self._read_input(0.0):  # what has come meanwhile
            pass
        lines = self._rest.split(b"\n")
        self._rest = lines.pop()
        messages: list[Message] = [json.loads(line) for line in lines]
        return next((message for message in messages if "run" in message), messages[-1])

    def _read_input(self, seconds: float) -> bool:
        """Whether something came within this time; not where the pipe is closed."""
        if not select.select([0], [], [], seconds)[0]:
            return False
        chunk = os.read(0, 65_536)
        self._rest += chunk
        return bool(chunk)


def execute_assigned_run(run_id: str) -> bool:
    """Be the run's worker, with its log; returns whether to wait for another run."""
    try:
        folder = find_run_folder(run_id)
    except EnsembleError:
        return True  # It was deleted before it began.
    lower_priority()
    stop = StopRequest(folder / STOP_FILE)
    with _redirect_output(folder / "log.txt"):
        ended = load_entry_point(TRAINING.work_entry)(run_id, stop=stop)
        load_entry_point(TRAINING.follow_up_entry)(run_id)
    gc.collect()
    if has_imported_own_network(folder):
        return False
    return ended.state != "failed" and not stop.signalled


def has_imported_own_network(folder: Path) -> bool:
    """Whether this run's network is a person's own, whose code is in this process by now."""
    try:
        return architectures.is_custom_network(str(read_kind_and_settings(folder)[1].get("network", "")))
    except (OSError, ValueError):
        return True


@contextlib.contextmanager
def _redirect_output(log: Path) -> Iterator[None]:
    """What is written to standard output and error in here goes to the end of a file."""
    before = [os.dup(number) for number in (1, 2)]
    with open_plain_append(log) as file:
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
    yield
    sys.stdout.flush()
    sys.stderr.flush()
    for descriptor, was in zip((1, 2), before, strict=True):
        os.dup2(was, descriptor)
        os.close(was)


def _can_take_another_run() -> bool:
    return is_cpu_only() and psutil.Process().memory_info().rss < _MAX_RESIDENT_BYTES


if __name__ == "__main__":
    main()
