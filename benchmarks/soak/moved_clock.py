"""A reader whose clock was set after a run had begun: python -m benchmarks.soak.moved_clock

Its words: the run, which clock (time, boot or both), by how many seconds, and what is asked for
(requeue or delete). What it sees of the run, and why that was refused, is printed as JSON.
"""

import json
import sys
import time
from collections.abc import Callable

import psutil

from ensemble.errors import RunError


def move(clock: str, seconds: float) -> None:
    """Have this process see the time of day, or when the machine started, moved by so much."""
    now, boot = time.time, psutil._pslinux.boot_time
    if clock in ("time", "both"):
        time.time = lambda: now() + seconds
    if clock in ("boot", "both"):
        psutil._pslinux.boot_time = lambda: boot() + seconds
        psutil.boot_time = lambda: boot() + seconds


def answer(ask: Callable[[str], object], run_id: str) -> str:
    """Why it was refused; "" where it was done."""
    try:
        ask(run_id)
    except RunError as error:
        return str(error)
    return ""


def main(run_id: str, clock: str, seconds: str, action: str) -> None:
    from ensemble import runs

    move(clock, float(seconds))
    state = runs.find_run(run_id).state
    refused = answer({"requeue": runs.requeue_run, "delete": runs.delete_run}[action], run_id)
    print(json.dumps({"state": state, "refused": refused}))


if __name__ == "__main__":
    main(*sys.argv[1:])
