"""What is wrong with how a command or a page ended, in words; "" for nothing."""

import io
import json
import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from ensemble.cli.program import main
from ensemble.ui.devices.probe import DeviceProbe

PATIENCE = 15.0  # seconds: what takes longer hangs


def call(*words: str) -> str:
    """What is wrong with how a command ended; "" for nothing."""
    try:
        with hurry():
            ended = CliRunner().invoke(main, words)
    except Hanging as error:
        return f"{error!r}"
    said = ended.stderr.strip().splitlines()
    if ended.exception and not isinstance(ended.exception, SystemExit):
        return f"{ended.exception!r:.300}"
    if any(line.startswith("Traceback") for line in said):
        return f"a traceback: {said[-1]:.300}"
    if ended.exit_code and not said:
        return f"status {ended.exit_code} without a word"
    return ""


def listed(run: str) -> str:
    """What is wrong with the list of runs, where a run has to be on it."""
    rows = CliRunner().invoke(main, ["runs", "list", "--json"]).stdout.splitlines()
    return "" if run in {json.loads(row)["run_id"] for row in rows} else "it is not listed"


def remembered() -> None:
    """Ask for the devices with an answer on the disk and nobody to ask."""
    probe = DeviceProbe(Path(os.environ["ENSEMBLE_DATA"]), ("true",))
    assert probe.process
    probe.process.wait()
    assert probe.inventory is None or probe.inventory.summary


def raised(look: Any) -> str:
    """What a function raises, in words; "" for nothing."""
    try:
        with hurry():
            look()
    except (Exception, Hanging) as error:
        return f"{error!r:.300}"
    return ""


class Hanging(BaseException):
    """Something waits for ever; no error that the program might take for its own."""


@contextmanager
def hurry() -> Iterator[None]:
    """Hanging where the main thread still waits after a while: for a FIFO, say."""

    def late(*signal: object) -> None:
        raise Hanging("it hangs")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 2 * PATIENCE, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def release(path: Path) -> None:
    """Let go whoever waits for somebody to write into a FIFO."""
    if path.is_fifo():
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))


@contextmanager
def heard() -> Iterator[io.StringIO]:
    """What the program's log gets of errors, the last line of each."""
    log, handler = io.StringIO(), Last()
    handler.log = log
    logger = logging.getLogger("ensemble")
    logger.addHandler(handler)
    try:
        yield log
    finally:
        logger.removeHandler(handler)


class Last(logging.Handler):
    log: io.StringIO

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else record.getMessage()
        self.log.write(f"{error!r:.300} ")
