"""A corrupted file, tried on the command line and on every page: what gives way.

One sentence is what is asked for: no traceback, no exception, not the sentence that stands for a
bug, and nothing wrong with the run beside it. `benchmarks` can try as many as it likes.
"""

import dataclasses
import io
import json
import logging
import os
import shutil
import signal
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from click.testing import CliRunner
from PIL import Image
from streamlit.testing.v1 import AppTest

from ensemble.cli.program import main
from ensemble.jobs import queue
from ensemble.jobs.outcome import Outcome
from ensemble.runs.session import Session
from ensemble.shift.job import Job as StressJob
from ensemble.ui.classify.input import members
from ensemble.ui.devices.probe import Probe, circumstances
from ensemble.ui.parallel import loader
from ensemble.ui.shared import guard, loaders
from tests.hostile.corruptions import Corruption, draw
from tests.recorded.recording import Recording, unpack

APP = Path(__file__).parents[2] / "app.py"
PAGES = sorted(path.stem for path in (APP.parent / "pages").glob("*.py"))
PATIENCE = 30.0  # seconds: a page that takes longer hangs


@dataclasses.dataclass(frozen=True)
class Failure:
    """What gave way, where."""

    corruption: Corruption
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.corruption} | {self.where} | {self.what}"


class Trial:
    """A folder of runs and data that is whole again after each corruption.

    Args:
      folder: an empty one.
    """

    def __init__(self, folder: Path) -> None:
        self.whole, self.folder = folder / "whole", folder / "tried"
        self.recording = recorded(self.whole)
        self.ids = {**self.recording.ids, "other": self.recording.ids["solve"][:-1] + "9"}
        shutil.copytree(self.whole, self.folder, copy_function=os.link)
        self.picture = folder / "seven.png"
        Image.fromarray(np.uint8(np.eye(28) * 255)).save(self.picture)
        self.files = [
            path.relative_to(self.whole).as_posix()
            for path in sorted(self.whole.rglob("*"))
            if path.is_file() and interesting(path, self.ids)
        ]
        self.healthy: dict[str, list[str]] = {}

    def failures(self, corruption: Corruption, pages: list[str] = PAGES) -> list[Failure]:
        """What a corruption makes give way; everything is put back afterwards."""
        path = self.folder / corruption.path
        path.unlink()
        corruption.put(path)
        try:
            found = [*self.on_the_command_line(path), *self.on_pages(path, pages)]
        finally:
            release(path)
            self.put_back(path)
        return [Failure(corruption, *one) for one in found]

    def put_back(self, path: Path) -> None:
        """Everything as it was: the run of the file, or what lies in the data folder."""
        parts = path.relative_to(self.folder).parts
        top = self.folder.joinpath(*parts[: 2 if parts[0] == "runs" else 1])
        for whole in (top, self.folder / "runs" / self.ids["stopped"]):
            shutil.rmtree(whole)
            source = self.whole / whole.relative_to(self.folder)
            shutil.copytree(source, whole, copy_function=os.link)

    def on_the_command_line(self, path: Path) -> Iterator[tuple[str, str]]:
        """Every command that reads what lies in the folder."""
        for words in self.commands(path):
            if what := call(*words):
                yield " ".join(words), what
        for name, look in {"queue": queue.in_order, "probe": remembered}.items():
            if what := raised(look):
                yield name, what
        # Its neighbours, as ever.
        for run in {self.ids["finished"], self.ids["stopped"]} - set(path.parts):
            if what := call("runs", "show", run) or listed(run):
                yield f"neighbour {run}", what

    def commands(self, path: Path) -> list[tuple[str, ...]]:
        """The commands that a file may upset."""
        found: list[tuple[str, ...]] = [("runs", "list", "--json"), ("runs", "list")]
        for run in (self.ids["finished"], self.ids["stopped"]):
            if run in path.parts:
                found += [("runs", "show", run), ("predict", run, str(self.picture)),
                          ("stress", run, "--limit", "40")]  # fmt: skip
        if self.ids["stopped"] in path.parts:
            found.append(("train", "--resume", self.ids["stopped"]))
        return found

    def on_pages(self, path: Path, pages: list[str]) -> Iterator[tuple[str, str]]:
        """Every page, at what the file belongs to and at its neighbours."""
        run = next((one for one in (self.ids["finished"], self.ids["stopped"])
                    if one in path.parts), self.ids["finished"])  # fmt: skip
        beside = self.ids["stopped" if run == self.ids["finished"] else "finished"]
        for page in pages:
            view = "shift" if "stress" in path.parts else ""
            if what := self.opened(page, run, self.ids["solve"], view)[1]:
                yield f"{page} of the run", what
            said, what = self.opened(page, beside, self.ids["other"], "")
            expected = self.healthy.get(f"{page}{beside}")
            if what or (expected is not None and said != expected):
                yield f"{page} of its neighbour", what or f"{said} where {expected} was said"

    def opened(self, page: str, run: str, solve: str, view: str) -> tuple[list[str], str]:
        """What stands on a page of figures and sentences, and what is wrong with it."""
        loaders.forget_runs()
        loader.forget_solves()
        at = AppTest.from_file(str(APP), default_timeout=PATIENCE)
        for name, word in {"run": run, "solve": solve, "view": view}.items():
            if word:
                at.query_params[name] = word
        with heard() as log:
            if what := raised(lambda: at.switch_page(f"pages/{page}.py").run()):
                return [], what
        errors = [one.value for one in at.error]
        said = [one.value for one in at.metric] + errors
        said += [one.value for one in at.subheader] if page != "devices" else []
        what = log.getvalue()
        what = what or "; ".join(str(one.value) for one in at.exception)
        what = what or (guard.BUG if guard.BUG in errors else "")
        return said, what or (f"{len(errors)} sentences: {errors}" if len(errors) > 1 else "")

    def look_at_the_healthy(self, pages: list[str] = PAGES) -> None:
        """Note what the pages say of runs while nothing is corrupted."""
        for page in pages:
            for run in (self.ids["finished"], self.ids["stopped"]):
                said, what = self.opened(page, run, self.ids["other"], "")
                assert not what, what
                if page not in ("runs", "devices"):
                    self.healthy[f"{page}{run}"] = said


def attack(folder: Path, count: int, seed: int, pages: list[str] = PAGES) -> list[Failure]:
    """What gives way under so many corruptions, drawn from a seed.

    Args:
      folder: an empty one, for copies.
      count: how many.
      seed: of the draw.
      pages: of which to open each at the run and at its neighbour.
    """
    with pytest.MonkeyPatch.context() as patch:
        tried = prepared(folder, patch)
        tried.look_at_the_healthy(pages)
        every = draw(tried.whole, tried.files, count, seed)
        return [failure for one in every for failure in tried.failures(one, pages)]


def prepared(folder: Path, patch: pytest.MonkeyPatch) -> Trial:
    """A trial whose folders the program takes for its own, and whose work ends as it begins."""
    st.cache_resource.clear()
    tried = Trial(folder)
    patch.setenv("ENSEMBLE_RUNS", str(tried.folder / "runs"))
    patch.setenv("ENSEMBLE_DATA", str(tried.folder / "data"))
    patch.setattr(members, "PATIENCE", PATIENCE)
    # Up to the point where the work would begin: training and asking take their time.
    patch.setattr(Session, "_advance", lambda self: Outcome("stopped"))
    patch.setattr(StressJob, "work", begun)
    return tried


def begun(job: StressJob) -> Outcome:
    """What a stress job reads before it asks the members for the first time."""
    job._begin()
    return Outcome("stopped")


def recorded(folder: Path) -> Recording:
    """Runs, regressions and a race as an earlier version left them, and all else that is read."""
    found = unpack(folder)
    solve = found.runs / found.ids["solve"]
    shutil.copytree(solve, solve.with_name(f"{solve.name[:-1]}9"))
    machine = {"platform": "cpu", "devices": [{"id": 0, "kind": "cpu"}], "cores": 2}
    put(found.data / "devices.json", {"answer": machine, "for": circumstances()})
    status = json.loads((found.data / "machine" / "job" / "status.json").read_text())
    fetch = {**status, "state": "stopped", "fraction": 0.25}
    put(found.data / "fetching" / "mnist.json", fetch)
    nothing = zlib.crc32(bytes(70_000))
    array = found.data / "prepared" / "mnist.npy"
    array.parent.mkdir(exist_ok=True)
    length = 70_000 * 785
    with array.open("wb") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": (length,)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + length)
    note = {"format": 1, "bytes": array.stat().st_size, "labels_crc32": nothing, "source": "none"}
    put(found.data / "prepared" / "mnist.json", note)
    return found


def put(path: Path, value: Any) -> None:
    """Write JSON into a folder that need not be there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def interesting(path: Path, ids: dict[str, str]) -> bool:
    """Whether a file is one that is read: not a lock, a request to stop or an earlier epoch."""
    last = "epoch-0002" if ids["finished"] in path.parts else "epoch-0001"
    if path.suffix == ".npz" and path.name.startswith("epoch"):
        return path.stem == last
    if "checkpoints" in path.parts:
        return path.parts[path.parts.index("checkpoints") + 1] == "22" and path.name in (
            "_METADATA", "manifest.ocdbt", "_CHECKPOINT_METADATA")  # fmt: skip
    return (
        path.suffix in (".json", ".jsonl", ".txt", ".md", ".npz") and ids["other"] not in path.parts
    )


def call(*words: str) -> str:
    """What is wrong with how a command ended; "" for nothing."""
    try:
        with hurry():
            ended = CliRunner().invoke(main, words)
    except Hanging as error:
        return f"{error!r}"
    said = ended.stderr.strip().splitlines()
    if ended.exception and not isinstance(ended.exception, SystemExit):
        return f"{ended.exception!r:.300}"
    if any(line.startswith("Traceback") for line in said):
        return f"a traceback: {said[-1]:.300}"
    if ended.exit_code and not said:
        return f"status {ended.exit_code} without a word"
    return ""


def listed(run: str) -> str:
    """What is wrong with the list of runs, where a run has to be on it."""
    rows = CliRunner().invoke(main, ["runs", "list", "--json"]).stdout.splitlines()
    return "" if run in {json.loads(row)["run_id"] for row in rows} else "it is not listed"


def remembered() -> None:
    """Ask for the devices with an answer on the disk and nobody to ask."""
    probe = Probe(Path(os.environ["ENSEMBLE_DATA"]), ("true",))
    assert probe.process
    probe.process.wait()
    assert probe.answer is None or probe.answer.said


def raised(look: Any) -> str:
    """What a function raises, in words; "" for nothing."""
    try:
        with hurry():
            look()
    except (Exception, Hanging) as error:
        return f"{error!r:.300}"
    return ""


class Hanging(BaseException):
    """Something waits for ever; no error that the program might take for its own."""


@contextmanager
def hurry() -> Iterator[None]:
    """Hanging where the main thread still waits after a while: for a FIFO, say."""

    def late(*signal: object) -> None:
        raise Hanging("it hangs")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 2 * PATIENCE, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def release(path: Path) -> None:
    """Let go whoever waits for somebody to write into a FIFO."""
    if path.is_fifo():
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))


@contextmanager
def heard() -> Iterator[io.StringIO]:
    """What the program's log gets of errors, the last line of each."""
    log, handler = io.StringIO(), Last()
    handler.log = log
    logger = logging.getLogger("ensemble")
    logger.addHandler(handler)
    try:
        yield log
    finally:
        logger.removeHandler(handler)


class Last(logging.Handler):
    log: io.StringIO

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else record.getMessage()
        self.log.write(f"{error!r:.300} ")
