"""A month of work written into a folder of runs, by the functions that write runs."""

import os
import random
import shutil
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.month.recordings import Recordings, add_own_dataset, record_examples
from benchmarks.month.trials import write_sweep

MONTH_SECONDS = 30 * 86_400.0
PROJECTS = ("baseline", "augmentation", "width", "paper", "class of 2026", "do not delete")
# What a run holds that is never written into again: copies share it, so that 3,000 fit on a disk.
SHARED_FOLDERS = ("predictions", "validation", "parameters", "checkpoints", "shift")
IMPORTED_CLASSES, IMPORTED_EXAMPLES = 10, 200


@dataclass(frozen=True)
class MonthSize:
    """How much there is of everything.

    Attributes:
      runs: in the folder, all that follow among them.
      trials: of a sweep, each a run.
      reports: that were imported, each a run.
      datasets: of one's own.
    """

    runs: int = 3_000
    trials: int = 500
    reports: int = 200
    datasets: int = 50

    @property
    def predictions(self) -> int:
        """Imported predictions, each a run."""
        return max(1, self.runs // 20)

    @property
    def numeric(self) -> int:
        """Runs that predict numbers."""
        return max(1, self.runs // 40)

    @property
    def solves(self) -> int:
        """Regressions."""
        return max(1, self.runs // 100)


@dataclass(frozen=True)
class Month:
    """What was written.

    Attributes:
      recordings: what was trained.
      sweep: the sweep's id.
      trained: ids of copies, the oldest first.
      numeric: ids of copies that predict numbers.
      solves: ids of copies of the regression.
      imported: ids of what was imported.
      seconds: how long that took.
    """

    recordings: Recordings
    sweep: str
    trained: list[str]
    numeric: list[str]
    solves: list[str]
    imported: list[str]
    seconds: float


def fill_month(folder: Path, size: MonthSize, recordings: Recordings | None = None) -> Month:
    """Fill the folder of runs and that of data, which the environment names.

    Args:
      folder: where files beside them may be written.
      size: how much.
      recordings: what was trained already; else it is trained first.
    """
    began, draws = time.monotonic(), random.Random(0)
    recordings = recordings or record_examples(folder)
    datasets = [add_own_dataset(number) for number in range(1, size.datasets)]
    imported = [import_drawn_predictions(number) for number in range(size.predictions)]
    if size.reports:
        imported += import_reports(folder, recordings.trained["own"], size.reports)
    numeric = copy_runs(recordings.numeric, size.numeric, change_numeric_run)
    solves = copy_runs(recordings.solve, size.solves, change_regression)
    sweep = write_sweep(recordings.trained["chosen"], size.trials)
    left = size.runs - size.trials - len(imported) - len(numeric) - len(solves)
    left -= len(recordings.trained) + 2
    trained = list[str]()
    sources = list(recordings.trained.items())
    for number, when in enumerate(iterate_moments(left)):
        name, source = sources[number % len(sources)]
        dataset = draws.choice(datasets) if name == "own" and datasets else ""
        trained.append(copy_trained_run(source, when, number, dataset, draws))
    seconds = time.monotonic() - began
    return Month(recordings, sweep, trained, numeric, solves, imported, seconds)


def iterate_moments(count: int) -> Iterator[float]:
    """So many moments of the month that ends now, unix seconds, the oldest first."""
    now = time.time() - 3600
    for number in range(count):
        yield now - MONTH_SECONDS * (1 - (number + 1) / count)


def copy_trained_run(source: str, when: float, number: int, dataset: str, draws: random.Random) -> str:
    """A copy of an ensemble with other settings, made then; its id.

    Args:
      source: the run's id.
      when: when it was made, unix seconds.
      number: how many there were before.
      dataset: what it is said to have learnt; "" for what it did.
      draws: draws the settings, names and tags.
    """
    from ensemble import runs
    from ensemble.datasets import registry
    from ensemble.datasets.record import serialize_dataset_entry
    from ensemble.jobs.folders import write_stored_config
    from ensemble.jobs.kinds import TRAINING
    from ensemble.jobs.status import write_status
    from ensemble.runs.annotations.notes import write_run_note
    from ensemble.runs.annotations.tags import write_tags

    run = runs.find_run(source)
    config = replace(
        runs.require_training_config(run),
        learning_rate=round(draws.uniform(0.01, 0.3), 4),
        seed=draws.randrange(3),
        dataset=dataset or run.config.dataset,
    )
    entry = registry.find_dataset_entry(config.dataset)
    # Every third keeps its checkpoints, as where nobody has ever freed space.
    folder = copy_run_folder(run.path, config.dataset, when, with_checkpoints=number % 3 == 0)
    write_status(folder, replace(run.status, **draw_end(draws), **shift_times(run.status, when)))
    own = {"dataset": serialize_dataset_entry(entry)} if entry.own else {}
    write_stored_config(folder, TRAINING, config.as_dict(), **own)
    if number % 4 == 0:
        runs.rename_run(folder.name, f"Width and rate, attempt {number}")
    if number % 2 == 0:
        write_tags(folder.name, draws.sample(PROJECTS, draws.randint(1, 2)))
    if number % 10 == 0:
        write_run_note(folder.name, f"Looked at on day {number % 30 + 1}: keep it for the paper.")
    return folder.name


def draw_end(draws: random.Random) -> dict[str, Any]:
    """How a run ended: nine in ten finished."""
    state = draws.choices(("finished", "stopped", "failed", "diverged"), (90, 5, 3, 2))[0]
    said = {"failed": "There was no room on the disk.", "diverged": "The loss is no number."}
    return {"state": state, "message": said.get(state, "")}


def copy_runs(source: str, count: int, change: Callable[[Path, float, int], None]) -> list[str]:
    """So many copies of a run of any kind over the month; their ids.

    Args:
      source: the run's id.
      count: how many.
      change: given a copy's folder, when it was made, and how many there were before, writes that.
    """
    from ensemble.jobs.folders import find_run_folder

    folder = find_run_folder(source)
    ids = []
    for number, when in enumerate(iterate_moments(count)):
        kind = source.partition("-")[0]
        copy = copy_run_folder(folder, kind, when, with_checkpoints=True)
        change(copy, when, number)
        ids.append(copy.name)
    return ids


def change_numeric_run(folder: Path, when: float, number: int) -> None:
    """Let a copy of a run that predicts numbers be of another time, with a name."""
    from ensemble.jobs.status import write_status
    from ensemble.runs import rename_run
    from ensemble.runs.status import read_run_status

    status = read_run_status(folder)
    write_status(folder, replace(status, **shift_times(status, when)))
    rename_run(folder.name, f"Harvest of field {number}")


def change_regression(folder: Path, when: float, number: int) -> None:
    """Let a copy of a regression be of another time."""
    from ensemble.jobs.status import write_status
    from ensemble.regression import find_regression

    status = find_regression(folder.name).status
    write_status(folder, replace(status, **shift_times(status, when)))


def copy_run_folder(source: Path, kind: str, when: float, with_checkpoints: bool) -> Path:
    """A new folder with the files of a run, the large ones shared.

    Args:
      source: the run's folder.
      kind: what its id begins with.
      when: of which its id speaks, unix seconds.
      with_checkpoints: whether it has the source's checkpoints.
    """
    from ensemble.jobs.folders import create_unique_folder

    folder = create_unique_folder(kind, when)
    for entry in sorted(source.iterdir()):
        if entry.name in SHARED_FOLDERS:
            if with_checkpoints or entry.name != "checkpoints":
                shutil.copytree(entry, folder / entry.name, copy_function=os.link)
        elif entry.is_dir():
            shutil.copytree(entry, folder / entry.name)
        else:
            shutil.copy2(entry, folder)
    return folder


def shift_times(status: Any, when: float) -> dict[str, float]:
    """The moments of a status, moved so that it was made then."""
    moved = when - status.created
    started = {} if status.started is None else {"started": status.started + moved}
    return {"created": when, "queued": status.queued + moved, "updated": status.updated + moved, **started}


def import_drawn_predictions(number: int) -> str:
    """Import predictions of another program, drawn at random; the run's id."""
    from ensemble.api.prediction_import import import_predictions

    draws = np.random.default_rng(number)
    labels = draws.integers(IMPORTED_CLASSES, size=IMPORTED_EXAMPLES)
    logits = draws.normal(size=(3, IMPORTED_EXAMPLES, IMPORTED_CLASSES))
    logits[:, np.arange(IMPORTED_EXAMPLES), labels] += draws.uniform(1, 4)
    with warnings.catch_warnings(action="ignore"):
        run = import_predictions(logits, labels, logits=True, name=f"From elsewhere {number}")
    return str(run.id)


def import_reports(folder: Path, source: str, count: int) -> list[str]:
    """Write a report of an ensemble, and import it so often; the ids of the runs."""
    from ensemble.exchange import capsule
    from ensemble.jobs.status import write_status
    from ensemble.report.report_file import write_report

    ids, page = [], folder / "report.html"
    write_report([source], page)
    for number, when in enumerate(iterate_moments(count)):
        [found] = capsule.read_report_capsules(page)
        run = capsule.import_capsule(found, name=f"Report of a colleague {number}")
        write_status(run.path, replace(run.status, **shift_times(run.status, when)))
        ids.append(run.id)
    return ids
