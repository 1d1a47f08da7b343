"""A disk that answers late, and a kill at a drawn operation: training goes on to the same bits."""

import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.soak import results
from benchmarks.soak.place import MOST_SECONDS, Place, call, resume
from benchmarks.soak.rows import Row, expect
from ensemble.machine.python_command import build_python_command

DELAY = "20ms"
# Of a thread: a name is put in place, made or taken away. What writes has most of them.
KILLING_CALLS = "rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,rmdir"
DELAYED_CALLS = "write,writev,getdents64,statfs,fsync,fdatasync"
MAX_OPERATION = 60


def slow_disk(place: Place, rng: random.Random, count: int) -> list[Row]:
    """So many runs on a slow disk, each killed at one of a thread's operations.

    Args:
      place: where.
      rng: draws which operation.
      count: how many.
    """
    row = Row("slow disk, killed at an operation")
    if not (strace := shutil.which("strace")) or not can_inject(strace):
        row.skipped = "needs strace that may trace"
        return [row]
    true = place.undisturbed
    with place.part("slow-disk") as folder:
        for _ in range(count):
            operation = rng.randint(1, MAX_OPERATION)
            with row.attempt("operation", operation):
                run = train_until_killed(strace, folder, place.train_options, operation)
                if run is None:
                    done = call("train", *place.train_options)
                    expect(done.code == 0, done.err[-300:])
                    run = folder / done.result()["run_id"]
                else:
                    resume(run.name)
                results.same_run(run, true)
    return [row]


def can_inject(strace: str) -> bool:
    """Whether calls can be delayed here."""
    words = [strace, "-o", "/dev/null", "-e", "inject=close:delay_enter=1", "true"]
    return subprocess.run(words, capture_output=True).returncode == 0


def train_until_killed(strace: str, folder: Path, options: Sequence[str], operation: int) -> Path | None:
    """Train until a thread comes to its so-manieth operation; the run that is left, if any.

    A run that ends before that has ended as it should.
    """
    before = set(folder.iterdir())
    command = build_python_command("train", *options)
    child = subprocess.Popen(
        [
            *(strace, "-f", "-qq", "-o", "/dev/null"),
            *("-e", f"inject={DELAYED_CALLS}:delay_enter={DELAY}"),
            *("-e", f"inject={KILLING_CALLS}:signal=KILL:when={operation}"),
            *command,
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    child.wait(MOST_SECONDS)
    runs = [path for path in set(folder.iterdir()) - before if (path / "config.json").exists()]
    return runs[0] if runs else None
