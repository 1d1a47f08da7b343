"""Commands on large runs: python -m benchmarks.screens.large_runs

1,024 members of an MLP of width 16 on Digits, trained and inspected; 1,024 members on 10,000 images,
inspected; the report of a run of 10 members whose history has 1,000,000 lines. Predictions and history are
drawn. Seconds by the clock, and peak memory, of each command in a process of its own.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks import common
from benchmarks.screens import inspect, long_run

MEMBERS, LINES, EPOCHS = 1_024, 1_000_000, 1_000
SMALL = ("--dataset", "digits", "--network", "mlp", "--width", "16", "--members", str(MEMBERS), "--epochs", "2")
_MEASURE = (
    "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE); "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); "
    "sys.stdout.buffer.write(done.stdout); sys.exit(done.returncode)"
)


def measure(*words: str) -> tuple[dict[str, float], str]:
    """Run `ensemble` with these words; returns its seconds and peak memory in MB, and what it printed."""
    began = time.perf_counter()
    command = [sys.executable, "-c", _MEASURE, sys.executable, "-m", "ensemble", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak = int(done.stderr.split()[-1]) / 1024
    return {"seconds": round(time.perf_counter() - began, 1), "peak_mb": round(peak)}, done.stdout


def write_long_history() -> str:
    """Write a finished run whose history has `LINES` lines; returns its id."""
    from ensemble import runs
    from ensemble.storage.records.json_lines import convert_to_json

    run_id = long_run.write_run(10, EPOCHS, [EPOCHS])
    rng, per_epoch = np.random.default_rng(1), LINES // EPOCHS
    with (runs.find_run(run_id).path / "history.jsonl").open("w") as file:
        for epoch in range(1, EPOCHS + 1):
            for number in range(per_epoch):
                part = long_run.LINES_AN_EPOCH if number == per_epoch - 1 else 0
                line = long_run.figures(rng, 10, epoch, part) | {"seconds": float(epoch)}
                file.write(json.dumps(convert_to_json(line)) + "\n")
    return run_id


def main() -> None:
    folder = common.isolated_folders()
    trained, printed = measure("train", *SMALL)
    report = Path(folder) / "report.html"
    common.keep(
        "large_runs",
        {
            "train_1024_small_members": trained,
            "inspect_1024_small_members": measure("inspect", json.loads(printed.splitlines()[-1])["run_id"])[0],
            "inspect_1024_members_10000_images": measure("inspect", inspect.write_run(MEMBERS))[0],
            "report_of_1000000_lines": measure("report", write_long_history(), "--out", str(report))[0],
            "report_mb": round(report.stat().st_size / 1e6, 1),
        },
    )


if __name__ == "__main__":
    main()
