"""What it takes to merge groups, and to look at them while nothing happens: in one process.

A process of its own for each size, since memory is asked for by its peak. Seconds are the
processor's, so that others on the machine do not count.
"""

import itertools
import json
import math
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.scale import written

POLLS, REPEATS = 12, 3
# Groups, members of each, images they are tested on, network. A line of history a step besides.
SIZES = (
    (1, 2, "mnist", "cnn"),
    (4, 2, "mnist", "cnn"),
    (16, 2, "mnist", "cnn"),
    (64, 2, "mnist", "cnn"),
    (4, 8, "mnist", "cnn"),
    (1, 16, "mnist", "cnn"),
    (4, 2, "digits", "logistic"),
    (16, 2, "digits", "logistic"),
    (64, 2, "digits", "logistic"),
    (16, 16, "digits", "logistic"),
    (16, 4, "mnist", "logistic"),
    (64, 2, "mnist", "logistic"),
    (16, 4, "digits", "cnn"),
)
# Lines that every group has written before, and members of each of four groups.
LENGTHS = ((100, 2), (400, 2), (1600, 2), (400, 16), (1600, 16))


class Nobody:
    """Tasks that somebody else has started: what remains is to look at the groups' files."""

    where = "elsewhere"

    def __init__(self, groups: int) -> None:
        self._groups, self.over = groups, False

    def start(self, groups: Sequence[Any]) -> None:
        """They are there already."""

    def look(self) -> Mapping[int, Any]:
        """All of them at work, until it is over."""
        from ensemble.runs.groups.tasks import TaskStatus

        state = "ended" if self.over else "running"
        return {number: TaskStatus(state, str(number)) for number in range(1, self._groups + 1)}

    def end(self) -> None:
        """Nothing waits."""

    def kill(self, group: Any) -> None:
        """Nothing works."""


def merged(groups: int, members: int, dataset: str, network: str) -> dict[str, float]:
    """Seconds and memory of merging an epoch, the least of some; the first loads the labels too."""
    from ensemble.runs.groups.epoch_merging import load_split_labels
    from ensemble.runs.groups.group import list_run_groups
    from ensemble.runs.groups.merging import GroupMerger

    run = written.made(groups, members, dataset, network, epochs=REPEATS)
    every, examples = list_run_groups(run), len(load_split_labels(run)["test"])
    merger, seconds, walls, memory = GroupMerger(run, every), [], [], []
    before = held("VmRSS")  # What an epoch leaves to the allocator counts with the next.
    for epoch in range(1, REPEATS + 1):
        written.write_epoch(every, epoch, examples, network)
        forget_peak()
        began, wall = time.process_time(), time.perf_counter()
        merger.merge_groups(hold=0.0)
        seconds.append(time.process_time() - began)
        walls.append(time.perf_counter() - wall)
        memory.append(held("VmHWM") - before)
    assert len(merger.merged_lines) == REPEATS
    shutil.rmtree(run.path)
    return {
        "examples": examples,
        "parameter_bytes": written.parameter_bytes(network),
        "seconds": min(seconds[1:]),
        "wall": min(walls[1:]),
        "bytes": max(memory[1:]),
    }


def looked(groups: int, members: int) -> float:
    """Seconds of one look of the coordinator at groups that are at work and have nothing new."""
    from ensemble.jobs.queue import acquire_worker_lock
    from ensemble.jobs.status import StatusWriter, write_status
    from ensemble.runs.groups.coordinator import GroupCoordinator
    from ensemble.runs.groups.group import list_run_groups

    run = written.made(groups, members, "digits", "logistic", epochs=10)
    every = list_run_groups(run)
    written.write_steps(every, 1, 5)
    tasks, looks, held_ones = Nobody(groups), [], ExitStack()
    for group in every:
        held_ones.enter_context(acquire_worker_lock(group.path, group.title))
        says = replace(group.status, state="training", pid=os.getpid(), steps=200, host=socket.gethostname())
        write_status(group.path, says)

    def stop() -> bool:
        looks.append(time.process_time())
        tasks.over = len(looks) > POLLS
        if tasks.over:
            held_ones.close()
        return tasks.over

    with StatusWriter(run.status_file, run.status) as status:
        GroupCoordinator(run, status, stop, lambda status: None, tasks).follow_groups()
    shutil.rmtree(run.path)
    return min(after - before for before, after in itertools.pairwise(looks[2:POLLS]))


def lengthened(lines: int, members: int) -> float:
    """Seconds of a merge in which four groups have one new line each after so many before."""
    from ensemble.runs.groups.group import list_run_groups
    from ensemble.runs.groups.merging import GroupMerger

    run = written.made(4, members, "digits", "logistic", epochs=1000)
    every = list_run_groups(run)
    written.write_steps(every, 1, lines)
    (merger := GroupMerger(run, every)).merge_groups()
    durations = []
    for more in range(5):
        written.write_steps(every, lines + 1 + more, 1)
        began = time.process_time()
        merger.merge_groups()
        durations.append(time.process_time() - began)
    shutil.rmtree(run.path)
    return min(durations)


def held(name: str) -> int:
    """Bytes that this process holds ("VmRSS"), or has held at most ("VmHWM")."""
    rows = Path("/proc/self/status").read_text().splitlines()
    return next(int(row.split()[1]) * 1024 for row in rows if row.startswith(name))


def forget_peak() -> None:
    """Count the most memory from here on."""
    Path("/proc/self/clear_refs").write_text("5")


def in_a_process(what: str, *words: object) -> Any:
    """One measurement in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale.merging", what, *map(str, words)]
    done = subprocess.run(command, cwd=common.ROOT, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measured(quick: bool) -> dict[str, Any]:
    """Every size; only the small ones where it is to be quick."""
    sizes = [size for size in SIZES if not quick or math.prod(size[:2]) <= 16]
    merges = []
    for groups, members, dataset, network in sizes:
        timings = in_a_process("merge", groups, members, dataset, network)
        merges.append({"groups": groups, "members": groups * members, **timings})
        print(json.dumps(merges[-1]), file=sys.stderr, flush=True)
    looks, lengths = [], []
    for groups in (1, 4, 16, 64) if not quick else (1, 4):
        looks.append({"groups": groups, "seconds": in_a_process("look", groups, 2)})
        print(json.dumps(looks[-1]), file=sys.stderr, flush=True)
    for lines, members in LENGTHS if not quick else LENGTHS[:1]:
        seconds = in_a_process("length", lines, members)
        lengths.append({"lines": lines, "members": 4 * members, "seconds": seconds})
        print(json.dumps(lengths[-1]), file=sys.stderr, flush=True)
    return {"merges": merges, "looks": looks, "lengths": lengths}


if __name__ == "__main__":
    what, first, second, *rest = sys.argv[1:]
    one = {"merge": merged, "look": looked, "length": lengthened}[what]
    print(json.dumps(one(int(first), int(second), *rest)))
