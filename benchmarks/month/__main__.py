"""A month in an hour: python -m benchmarks.month [--runs N] [--sessions N] [--json]

One of each kind of run is trained; the folder of runs is then filled with 3,000 of them: a sweep
of 500 trials, 200 imported reports, imported predictions, numbers, regressions, and copies with
other settings, names, tags and times, beside 50 datasets of one's own. Large files are shared by
copies. On it commands are timed; then the app's own server is started, and a real browser opens
every page and does what the tour does: the first time, and the median of later times, with the
server's processor seconds beside the clock, which other work lengthens. After so many sessions
more the server's memory and open handles are counted. Half an hour on a machine that does nothing
else; the exit status is 1 where an aim is missed, and --json keeps the figures.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import psutil

from benchmarks import common
from benchmarks.month.filling import Month, MonthSize, fill_month
from benchmarks.month.screens import (
    Visitor,
    count_handles,
    open_all_pages,
    read_peak_bytes,
    summarize_waits,
    use_runs_page,
)
from benchmarks.screens.server import opened
from benchmarks.soak.sessions import PAGES, one_session

WARM_SECONDS, MEMORY_BYTES, SESSIONS = 2.0, 600 * 10**6, 1_000
# Streamlit keeps an event loop of each of its last 128 sessions: these come before the count.
FIRST_SESSIONS = 150
ROUNDS = 6  # of every page; the first is cold


def main(words: list[str] | None = None) -> int:
    """Fill, open, count, print; 1 where an aim is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.month", description=__doc__)
    parser.add_argument("--runs", type=int, default=MonthSize.runs, help="in the folder")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of every page, the first cold")
    parser.add_argument("--sessions", type=int, default=SESSIONS, help="after the pages")
    parser.add_argument("--json", action="store_true", help="keep benchmarks/results/month.json")
    args = parser.parse_args(words)
    folder = common.isolated_folders()
    os.environ.setdefault("JAX_NUM_CPU_DEVICES", "2")
    try:
        say("filling the folder")
        month = fill_month(folder, scale_month(args.runs))
        figures = measure_month(folder, month, args.rounds, args.sessions)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print_table(figures)
    if args.json:
        common.keep("month", figures)
    return 1 if list_missed_aims(figures) else 0


def scale_month(count: int) -> MonthSize:
    """A month of so many runs, with its other things in proportion."""
    whole, share = MonthSize(), count / MonthSize.runs
    return replace(
        whole,
        runs=count,
        trials=max(2, round(whole.trials * share)),
        reports=max(2, round(whole.reports * share)),
        datasets=max(2, round(whole.datasets * share)),
    )


def measure_month(folder: Any, month: Month, rounds: int, sessions: int) -> dict[str, Any]:
    """Everything that is measured on a folder that was filled."""
    say("commands")
    figures: dict[str, Any] = {"fill_s": round(month.seconds), "commands": time_commands(month)}
    with opened(folder) as (page, url):
        server = find_server(url)
        visitor = Visitor(page, url, server)
        say("pages")
        open_all_pages(visitor, month, rounds)
        use_runs_page(visitor, rounds)
        figures["pages"] = summarize_waits(visitor)
        page.goto("about:blank")
        say("sessions")
        draws = random.Random(0)
        open_sessions(url, min(sessions, FIRST_SESSIONS), draws)
        before = count_handles(server)
        open_sessions(url, sessions, draws)
        after = count_handles(server)
        figures["sessions"] = sessions
        figures["handles"] = {"before": before, "after": after}
        figures["memory_bytes"] = {"peak": read_peak_bytes(server), "at_the_end": int(server.memory_info().rss)}
    return figures


def find_server(url: str) -> psutil.Process:
    """The process of this program's that listens at an address."""
    port = int(url.rpartition(":")[2])
    for process in psutil.Process().children(recursive=True):
        if any(each.laddr.port == port for each in process.net_connections("tcp") if each.laddr):
            return process
    raise RuntimeError(f"No process of this benchmark listens at {url}.")


def open_sessions(url: str, count: int, draws: random.Random) -> None:
    """So many sessions, one after the other, each with a page drawn to its end."""
    for _ in range(count):
        one_session(url, draws.choice(PAGES))


def time_commands(month: Month) -> dict[str, dict[str, float]]:
    """Commands that look at all runs: seconds by the clock and of the processor."""
    ten = month.trained[-10:]
    commands = {
        "runs list": ["runs", "list"],
        "runs checkpoints": ["runs", "checkpoints"],
        "runs show": ["runs", "show", ten[0]],
        "sweep --list": ["sweep", "--list"],
        "sweep SWEEP": ["sweep", month.sweep],
        "compare": ["compare", *ten],
        "data list": ["data", "list"],
    }
    return {name: time_command(words) for name, words in commands.items()}


def time_command(words: list[str]) -> dict[str, float]:
    """Seconds of one command by the clock, and of its processor."""
    command = [sys.executable, "-m", "ensemble", *words]
    began, before = time.perf_counter(), os.times()
    subprocess.run(command, cwd=common.ROOT, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    spent = after.children_user + after.children_system
    spent -= before.children_user + before.children_system
    return {"s": round(time.perf_counter() - began, 2), "processor_s": round(spent, 2)}


def list_missed_aims(figures: dict[str, Any]) -> list[str]:
    """What took longer, or more, than it may."""
    missed = [
        f"{name}: {figure['warm_s']} s warm"
        for name, figure in figures["pages"].items()
        if figure["warm_s"] > WARM_SECONDS
    ]
    if figures["memory_bytes"]["peak"] > MEMORY_BYTES:
        missed.append("memory")
    if figures["handles"]["after"] > figures["handles"]["before"]:
        missed.append("handles")
    return missed


def print_table(figures: dict[str, Any]) -> None:
    """What was measured, beside what it is to be."""
    print(f"{'':28}{'cold s':>9}{'warm s':>9}{'processor s':>13}{'warm':>7}   aim {WARM_SECONDS} s")
    for name, row in figures["pages"].items():
        late = "  LATE" if row["warm_s"] > WARM_SECONDS else ""
        print(
            f"{name:28}{row['cold_s']:9.2f}{row['warm_s']:9.2f}{row['cold_processor_s']:13.2f}"
            f"{row['warm_processor_s']:7.2f}{late}"
        )
    for name, row in figures["commands"].items():
        print(f"ensemble {name:19}{row['s']:9.2f}{'':9}{row['processor_s']:13.2f}")
    memory, handles = figures["memory_bytes"], figures["handles"]
    print(
        f"memory {memory['peak'] / 1e6:.0f} MB at most, {memory['at_the_end'] / 1e6:.0f} MB at the "
        f"end; aim {MEMORY_BYTES / 1e6:.0f} MB"
    )
    print(
        f"handles {handles['before']} before, {handles['after']} after {figures['sessions']:,} sessions; aim: none more"
    )


def say(what: str) -> None:
    """Tell what is done now, aside."""
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
