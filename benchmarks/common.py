"""What the benchmarks share: a folder of their own with MNIST in it, and a place for results."""

import json
import os
import platform
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).resolve().parent / "results"
START_SECONDS = 60.0


def isolated_folders() -> Path:
    """Runs, data, lock and compile cache of this benchmark alone; MNIST's files where they are.

    MNIST is taken from the user's own data folder if it is prepared there, else from
    `../shared/data/mnist`, else it is fetched.
    """
    from ensemble import datasets
    from ensemble.storage.folders import data_folder

    had = data_folder() if datasets.is_dataset_prepared("mnist") else None
    folder = Path(tempfile.mkdtemp(prefix="ensemble-benchmark-"))
    for name in ("runs", "data", "tmp", "cache", "login"):
        (folder / name).mkdir()
    os.environ.update(
        ENSEMBLE_RUNS=str(folder / "runs"),
        ENSEMBLE_DATA=str(folder / "data"),
        # Turns are taken by locks in these.
        TMPDIR=str(folder / "tmp"),
        XDG_CACHE_HOME=str(folder / "cache"),
        XDG_RUNTIME_DIR=str(folder / "login"),
    )
    tempfile.tempdir = None
    if had:
        (folder / "data" / "prepared").symlink_to(had / "prepared")
    else:
        manual = folder / "data" / "downloads" / "manual"
        manual.mkdir(parents=True)
        for file in (ROOT.parent / "shared" / "data" / "mnist").glob("*.gz"):
            shutil.copy(file, manual)
        datasets.prepare_dataset("mnist")
    return folder


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    import jax

    model = platform.processor()
    if Path("/proc/cpuinfo").exists():
        rows = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((row.split(": ")[1] for row in rows if row.startswith("model name")), model)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": model,
        "cores": cores,
        "python": platform.python_version(),
        "jax": jax.__version__,
    }


def keep(name: str, figures: dict[str, Any]) -> None:
    """Print the figures and keep them in benchmarks/results/<name>.json."""
    text = json.dumps({"machine": machine(), **figures}, indent=1)
    print(text)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(text + "\n")


def wait_until_healthy(url: str, process: "subprocess.Popen[bytes]") -> None:
    """Return when a server of the app answers; RuntimeError if it does not start."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise RuntimeError("The server did not start: its log is in the folder of the benchmark.")
