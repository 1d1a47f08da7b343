"""Sweeps whose storage is away for a while, or full: they wait, or go on once there is room."""

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.soak.full_disk import make_room, small_disk, why_not
from benchmarks.soak.place import Ended, Place, ended
from benchmarks.soak.rows import LostError, Row, expect
from benchmarks.soak.sweeps import OPTIONS, Search, choose_storage, find_sweep_folder, has_folder, interrupt_search
from tests.services.postgres import AbsentError, cluster

MOST_AWAY_SECONDS = 6.0
FILES = ("journal", "sqlite")
# Of what a sweep takes: less than one trial, or more than two of its four.
LEAST_SHARE, MOST_SHARE = 0.1, 0.8


def kill_databases(place: Place, rng: random.Random, count: int) -> list[Row]:
    """So many times the database of a sweep is killed, and started again after a while.

    Args:
      place: where.
      rng: draws when, and for how long.
      count: how many.
    """
    row = Row("kill: a sweep's database")
    try:
        with cluster() as database:
            searches = [Search(place, name) for name in tuple(OPTIONS)[:count]]
            for number in range(count):
                search = searches[number % len(searches)]
                with (
                    row.attempt(search.name) as details,
                    choose_storage(database.address),
                    interrupt_search(place, rng, search, has_folder) as (runs, leader, seconds),
                ):
                    away = rng.uniform(0, MOST_AWAY_SECONDS)
                    details.append(f"at {seconds:.2f} s for {away:.2f} s")
                    database.kill()
                    time.sleep(away)
                    database.start()
                    done = ended(leader)
                    expect(done.code == 0, done.err[-300:])
                    expect("Traceback" not in done.err, f"a traceback: {done.err[-300:]!r}")
                    search.check(runs, done.result())
    except AbsentError as reason:
        row.skipped = str(reason)
    return [row]


def fill_sweep_disks(place: Place, rng: random.Random, count: int) -> list[Row]:
    """So many sweeps on a disk that is too small for them.

    Args:
      place: where.
      rng: draws how small.
      count: how many.
    """
    row = Row("full disk: sweep")
    with place.part("sweep-disks") as runs:
        row.skipped = why_not(runs)
    if row.skipped:
        return [row]
    searches = [Search(place, name) for name in tuple(OPTIONS)[:count]]
    for number in range(count):
        search, storage = searches[number % len(searches)], FILES[number // 2 % len(FILES)]
        kilobytes = round(rng.uniform(LEAST_SHARE, MOST_SHARE) * search.nbytes / 1000)
        with (
            place.part("sweep-disks") as runs,
            row.attempt(search.name, f"{storage}, {kilobytes} kB"),
            choose_storage(storage),
            small_disk(runs / "disk", f"{kilobytes}k") as disk,
        ):
            done = ended(search.start())
            problems = list(list_problems(done, disk))
            make_room(disk)
            try:
                search.resume(disk)
            except LostError as error:
                problems.append(str(error))
            expect(not problems, "; ".join(problems))
    return [row]


def list_problems(done: Ended, disk: Path) -> Iterator[str]:
    """What is wrong with how a sweep ended whose disk was full."""
    if "Traceback" in done.err:
        yield f"a traceback: {done.err[-300:]!r}"
    if "room" not in done.err.lower() or "unexpected" in done.err:
        yield f"it said {done.err[-300:]!r}"
    if done.code != 1:
        yield f"it ended with {done.code}"
    if find_sweep_folder(disk):
        lines = done.out.strip().splitlines()
        state = json.loads(lines[-1])["state"] if lines else "no JSON line"
        if state != "failed":
            yield f"it is {state}"
