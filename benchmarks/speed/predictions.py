"""Taking predictions in and giving them out: python -m benchmarks.speed.predictions [MxNxC ...]

Seconds and peak memory of reading an .npz, of making a run of it and of writing that run again,
each in a process of its own, for 10 × 10,000 × 100 and 5 × 50,000 × 1,000 if no sizes are named.
Memory is the process's, less what it had once everything was imported; beside it the size of the
predictions as float32.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import common

SIZES = ("10x10000x100", "5x50000x1000")


def saved(folder: Path, members: int, examples: int, classes: int) -> Path:
    """An .npz of random predictions; drawn one member at a time."""
    rng = np.random.default_rng(0)
    probabilities = np.empty((members, examples, classes), np.float32)
    for member in probabilities:
        rng.standard_exponential(out=member, dtype=np.float32)
        member /= member.sum(axis=1, keepdims=True)
    np.savez(folder / "a.npz", probabilities=probabilities, labels=rng.integers(0, classes, examples))
    return folder / "a.npz"


def once(what: str, path: str, written: str) -> None:
    """One measurement in this process: "read", "import" or "export"."""
    from ensemble import exchange, runs

    before, start = peak_megabytes(), time.perf_counter()
    if what == "export":
        exchange.export_run(runs.list_runs()[0].id, Path(written), replace=True)
    else:
        outputs = exchange.read_prediction_files([Path(path)])
        if what == "import":
            exchange.import_run(outputs)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": round(seconds, 2), "MB": round(peak_megabytes() - before)}))


def peak_megabytes() -> float:
    """The most memory that this process has had; Linux alone tells it apart from its parent's."""
    rows = Path("/proc/self/status").read_text().splitlines()
    return next(int(row.split()[1]) / 1024 for row in rows if row.startswith("VmHWM"))


def measured(what: str, path: Path, runs_folder: Path) -> dict[str, float]:
    command = [
        sys.executable,
        "-m",
        "benchmarks.speed.predictions",
        what,
        str(path),
        str(path.with_name("written.npz")),
    ]
    environment = {**os.environ, "ENSEMBLE_RUNS": str(runs_folder)}
    done = subprocess.run(command, env=environment, cwd=common.ROOT, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(sizes: list[str]) -> None:
    for size in sizes:
        members, examples, classes = map(int, size.split("x"))
        with tempfile.TemporaryDirectory() as folder:
            path = saved(Path(folder), members, examples, classes)
            whole = round(4 * members * examples * classes / 2**20)
            print(f"{members} × {examples:,} × {classes:,}: {whole:,} MB as float32", flush=True)
            for what in ("read", "import", "export"):
                figures = measured(what, path, Path(folder) / "runs")
                print(f"  {what:<7} {figures['seconds']:6.2f} s {figures['MB']:6,} MB", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in ("read", "import", "export"):
        once(*sys.argv[1:])
    else:
        main(sys.argv[1:] or list(SIZES))
