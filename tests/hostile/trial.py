"""A corrupted file, tried on the command line and on every page: what gives way.

One sentence is what is asked for: no traceback, no exception, not the sentence that stands for a
bug, and nothing wrong with the run beside it. `benchmarks` can try as many as it likes.
"""

import dataclasses
import functools
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from PIL import Image
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from ensemble.jobs import queue
from ensemble.jobs.outcome import Outcome
from ensemble.runs.training.session import TrainingSession
from ensemble.shift.stress_worker import StressWorker as StressJob
from ensemble.ui.classify.input import classifier_loader
from ensemble.ui.jobs.job_screen import forget_jobs
from ensemble.ui.shared import guard, loaders
from tests.hostile.checks import PATIENCE, call, heard, listed, raised, release, remembered
from tests.hostile.corruptions import Corruption, draw
from tests.hostile.folders import interesting, recorded

APP = Path(__file__).parents[2] / "app.py"
PAGES = sorted(path.stem for path in (APP.parent / "pages").glob("*.py"))


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
      pages: of which to open each at the run and at its neighbour.
      asking: whether to try commands too that open the members, which take a second or two.
    """

    def __init__(self, folder: Path, pages: list[str] = PAGES, asking: bool = True) -> None:
        self.pages, self.asking = pages, asking
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

    def failures(self, corruption: Corruption) -> list[Failure]:
        """What a corruption makes give way; everything is put back afterwards."""
        path = self.folder / corruption.path
        path.unlink()
        corruption.put(path)
        try:
            found = [*self.on_the_command_line(path), *self.on_pages(path)]
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
        for name, look in {"queue": queue.list_queued_jobs, "probe": remembered}.items():
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
                found += [("runs", "show", run), ("predict", run, str(self.picture)), ("stress", run, "--limit", "40")]
        if not self.asking:
            return [words for words in found if words[0] == "runs"]
        if self.ids["stopped"] in path.parts:
            found.append(("train", "--resume", self.ids["stopped"]))
        return found

    def on_pages(self, path: Path) -> Iterator[tuple[str, str]]:
        """Every page, at what the file belongs to and at its neighbours."""
        run = next(
            (one for one in (self.ids["finished"], self.ids["stopped"]) if one in path.parts), self.ids["finished"]
        )
        beside = self.ids["stopped" if run == self.ids["finished"] else "finished"]
        for page in self.pages:
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
        forget_jobs()
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
        what = what or (guard.BUG_MESSAGE if guard.BUG_MESSAGE in errors else "")
        return said, what or (f"{len(errors)} sentences: {errors}" if len(errors) > 1 else "")

    def look_at_the_healthy(self) -> None:
        """Note what the pages say of runs while nothing is corrupted."""
        for page in self.pages:
            for run in (self.ids["finished"], self.ids["stopped"]):
                said, what = self.opened(page, run, self.ids["other"], "")
                assert not what, what
                if page not in ("runs", "devices"):
                    self.healthy[f"{page}{run}"] = said


def attack(
    tried: Trial, count: int, seed: int, files: Callable[[str], bool] = bool
) -> Iterator[tuple[Corruption, list[Failure]]]:
    """Each of so many corruptions, drawn from a seed, with what gave way.

    Args:
      tried: of `prepared`.
      count: how many.
      seed: of the draw.
      files: whether to corrupt a file of this path; all by default.
    """
    tried.look_at_the_healthy()
    for one in draw(tried.whole, list(filter(files, tried.files)), count, seed):
        yield one, tried.failures(one)


def prepared(folder: Path, patch: pytest.MonkeyPatch, **more: Any) -> Trial:
    """A trial whose folders the program takes for its own, and whose work ends as it begins."""
    st.cache_resource.clear()
    tried = Trial(folder, **more)
    patch.setenv("ENSEMBLE_RUNS", str(tried.folder / "runs"))
    patch.setenv("ENSEMBLE_DATA", str(tried.folder / "data"))
    patch.setattr(classifier_loader, "OPENING_PATIENCE_S", PATIENCE)
    # What Streamlit's tester looks for in every installed package does not change meanwhile.
    found = functools.cache(manifest_scanner.scan_component_manifests)
    patch.setattr(manifest_scanner, "scan_component_manifests", found)
    # Up to the point where the work would begin: training and asking take their time.
    patch.setattr(TrainingSession, "_train_chunk", lambda self: self._each(lambda one: Outcome("stopped")))
    patch.setattr(StressJob, "work", begun)
    return tried


def begun(job: StressJob) -> Outcome:
    """What a stress job reads before it asks the members for the first time."""
    job._open_members()
    return Outcome("stopped")
