"""A folder where all of it happens, and the program in processes of its own."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from benchmarks.common import ROOT
from benchmarks.soak.rows import expect
from ensemble.machine.python_command import build_python_command

# Two members on two devices, ten steps an epoch: about half a second an epoch.
SETTINGS = {"members": 2, "batch_size": 128, "learning_rate": 0.05}
MOST_SECONDS = 180.0
# A run that was killed before it wrote its process down counts as queued for so long.
QUEUED_SECONDS = 45.0
# What is said of a run, and of a sweep, that has finished.
ENDED = ("it has finished", "all its trials have ended")


@dataclass(frozen=True)
class Ended:
    """A process that has ended: its exit status and what it said."""

    code: int
    out: str
    err: str

    def result(self) -> dict[str, Any]:
        """The JSON object on the last line of stdout; a loss where there is none."""
        lines = self.out.strip().splitlines()
        expect(lines and lines[-1].startswith("{"), f"no JSON line; stderr: {self.err[-300:]!r}")
        record: dict[str, Any] = json.loads(lines[-1])
        return record


class Place:
    """Where the soak works; as a context, all that runs on this machine meanwhile is told so.

    Args:
      folder: an empty folder; runs, temporary files, locks and what is compiled come into it.
      epochs: of the undisturbed run, with which the others are compared.
      compiled: where programs that XLA has compiled are kept; its own by default.
    """

    def __init__(self, folder: Path, epochs: int = 4, compiled: Path | None = None) -> None:
        self.folder, self.epochs, self.train_seconds = folder, epochs, MOST_SECONDS
        self._compiled = compiled or folder / "data" / "compiled"
        # How long each undisturbed run took.
        self._seconds: dict[str, float] = {}

    def __enter__(self) -> "Place":
        for name in ("data", "tmp", "runtime", "cache"):
            (self.folder / name).mkdir(mode=0o700, exist_ok=True)
        new = {
            "ENSEMBLE_DATA": str(self.folder / "data"),
            # What one process compiles, all others find: a start then costs two seconds.
            "JAX_COMPILATION_CACHE_DIR": str(self._compiled),
            "TMPDIR": str(self.folder / "tmp"),
            "XDG_RUNTIME_DIR": str(self.folder / "runtime"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "ENSEMBLE_WARM_WORKER": "0",
            "ENSEMBLE_CALIBRATION": "0",
            "JAX_PLATFORMS": "cpu",
            "JAX_NUM_CPU_DEVICES": "2",
            "PYTHONPATH": str(ROOT),
            "PYTHONSAFEPATH": "1",
        }
        self._before = {name: os.environ.get(name) for name in (*new, "ENSEMBLE_SLOTS")}
        os.environ.update(new)
        os.environ.pop("ENSEMBLE_SLOTS", None)
        return self

    def __exit__(self, *error: object) -> None:
        for name, value in self._before.items():
            put(name, value)

    @contextmanager
    def part(self, name: str) -> Iterator[Path]:
        """A folder of runs of this part alone; whoever still works in it is ended after it."""
        runs, before = self.folder / f"runs-{name}", os.environ.get("ENSEMBLE_RUNS")
        runs.mkdir()
        os.environ["ENSEMBLE_RUNS"] = str(runs)
        try:
            yield runs
        finally:
            end_workers(runs)
            put("ENSEMBLE_RUNS", before)
            shutil.rmtree(runs, ignore_errors=True)

    @property
    def undisturbed(self) -> Path:
        """The folder of a run that nothing happened to, which the others are to equal."""
        return self.trained(self.epochs)

    def trained(self, epochs: int) -> Path:
        """The same of a run of so many epochs; trained when first asked for."""
        kept, self.train_seconds = self.train_undisturbed(str(epochs), *options(epochs))
        return kept

    def train_undisturbed(self, name: str, *words: str) -> tuple[Path, float]:
        """The folder of a run that nothing happened to, and how long it took.

        Args:
          name: of its folder; trained when first asked for under it.
          words: its options, for the command line.
        """
        kept = self.folder / f"undisturbed-{name}"
        if not kept.exists():
            with self.part(kept.name) as runs:
                began = time.monotonic()
                done = call("train", *words)
                expect(done.code == 0, done.err)
                self._seconds[name] = time.monotonic() - began
                shutil.move(runs / done.result()["run_id"], kept)
        return kept, self._seconds[name]

    @property
    def train_options(self) -> list[str]:
        """The settings of the undisturbed run, for the command line."""
        return options(self.epochs)


def options(epochs: int) -> list[str]:
    """Settings for the command line."""
    settings = {**SETTINGS, "epochs": epochs}
    return [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]


@contextmanager
def temporary(epochs: int = 4) -> Iterator[Place]:
    """A place that is gone afterwards."""
    with (
        tempfile.TemporaryDirectory(prefix="ensemble-soak-", ignore_cleanup_errors=True) as name,
        Place(Path(name), epochs) as place,
    ):
        yield place


def put(name: str, value: str | None) -> None:
    """Give a variable of the environment this value, or none."""
    os.environ.pop(name, None)
    if value is not None:
        os.environ[name] = value


def start(*words: str) -> "subprocess.Popen[str]":
    """`ensemble` with these words, going on beside, as the pages start it."""
    return python(*build_python_command(*words)[1:])


def python(*words: str, stdin: int = subprocess.DEVNULL) -> "subprocess.Popen[str]":
    """This Python with these words, going on beside."""
    return subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def call(*words: str) -> Ended:
    """`ensemble` with these words, to its end."""
    return ended(start(*words))


def ended(child: "subprocess.Popen[str]") -> Ended:
    """A process's end, which is waited for."""
    try:
        out, err = child.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        raise
    return Ended(child.returncode, out, err)


def kill(child: "subprocess.Popen[str]") -> bool:
    """SIGKILL; whether it had not ended by itself before."""
    before = child.poll()
    child.kill()
    child.communicate()
    return before is None and child.returncode == -signal.SIGKILL


def resume(job_id: str, *words: str, command: str = "train") -> None:
    """Bring a run or a sweep that was killed to its end; a loss where it does not get there.

    One that had only not said good-bye yet has finished.

    Args:
      job_id: which.
      words: options that say where it goes on.
      command: that resumes such a job.
    """
    deadline = time.monotonic() + QUEUED_SECONDS
    while "is already queued" in (done := call(command, "--resume", job_id, *words)).err:
        expect(time.monotonic() < deadline, done.err)
        time.sleep(1)
    if any(end in done.err for end in ENDED):
        return
    expect(done.code == 0, f"resume of {job_id} ended with {done.code}: {done.err[-300:]!r}")
    expect(done.result()["state"] == "finished", done.out)


def wait_until(true: Callable[[], Any], seconds: float = MOST_SECONDS, every: float = 0.2) -> bool:
    """Wait for it to become true; whether it did."""
    deadline = time.monotonic() + seconds
    while not (outcome := true()) and time.monotonic() < deadline:
        time.sleep(every)
    return bool(outcome)


def end_workers(runs: Path) -> None:
    """End every process that works in this folder of runs."""
    kill_processes(find_workers(runs))


def find_workers(runs: Path) -> list[psutil.Process]:
    """Every process but this one that works in this folder of runs."""
    workers = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            mine = process.environ().get("ENSEMBLE_RUNS") == str(runs)
            if mine and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                workers.append(process)
    return workers


def kill_processes(processes: list[psutil.Process]) -> None:
    """SIGKILL to each; returns once they are gone."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, timeout=10)
