"""A disk that fills while a run trains: a sentence says so, what is kept is there, it goes on."""

import itertools
import json
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.soak import results
from benchmarks.soak.place import Ended, Place, call, options, put, resume
from benchmarks.soak.rows import LostError, Row, expect

# MB, and after how many epochs a run surely does not fit: an epoch of two members keeps 6.6 MB,
# and a checkpoint takes 13. The first fills at the first epoch's end, the others at later ones.
DISKS = ((12, 2), (45, 7), (62, 10))
ROOM = "512m"


def full_disk(place: Place, rng: random.Random, count: int) -> list[Row]:
    """So many runs on a small disk.

    Args:
      place: where.
      rng: unused: the sizes are those that have failed before.
      count: how many.
    """
    row = Row("full disk")
    with place.part("full-disk") as runs:
        row.skipped = why_not(runs)
        if row.skipped:
            return [row]
        for size, epochs in itertools.islice(itertools.cycle(DISKS), count):
            true = place.trained(epochs)
            with row.attempt(f"{size} MB"), small_disk(runs / f"disk-{size}", f"{size}m") as disk:
                done = call("train", *options(epochs))
                (run,) = (path.parent for path in disk.glob("*/config.json"))
                problems = list(amiss(done, run))
                make_room(disk)
                try:
                    resume(run.name)
                    results.same_run(run, true)
                except LostError as error:
                    problems.append(str(error))
                expect(not problems, "; ".join(problems))
    return [row]


def amiss(done: Ended, run: Path) -> Iterator[str]:
    """What is wrong with how a run ended whose disk was full."""
    out, error_lines = done.out.strip().splitlines()[-1:], done.err.strip().splitlines()[-1:]
    state = json.loads(out[0]).get("state") if out and out[0].startswith("{") else "no JSON line"
    if (done.code, state) != (1, "failed"):
        yield f"it ended with {done.code}, {state}"
    if count := done.err.count("Traceback"):
        yield f"{count} tracebacks"
    last = error_lines[0] if error_lines else ""
    if "room" not in last or "unexpected" in last:
        yield f"it said {last[:120]!r}"
    status = json.loads((run / "status.json").read_bytes())["message"]
    checkpoints = [path for path in run.glob("checkpoints/*") if path.name.isdigit()]
    if "is kept" in f"{last} {status}" and not checkpoints:
        yield f"there is no checkpoint where it says {status[-60:]!r}"


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A disk in memory, where runs are kept meanwhile.

    Args:
      folder: where it is mounted; made.
      size: as mount writes it: 12m are MB, 900k kB.
    """
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        put("ENSEMBLE_RUNS", str(folder))
        yield folder
    finally:
        put("ENSEMBLE_RUNS", str(folder.parent))
        subprocess.run(["umount", "-l", folder], check=True)


def make_room(disk: Path) -> None:
    """Let a small disk be a large one, with what is on it."""
    subprocess.run(["mount", "-o", f"remount,size={ROOM}", disk], check=True)


def why_not(folder: Path) -> str:
    """Why no disk can be mounted here; "" where one can."""
    probe = folder / "probe"
    probe.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(probe)]
    try:
        subprocess.run(words, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return "needs root"
    subprocess.run(["umount", str(probe)], check=True)
    return ""
