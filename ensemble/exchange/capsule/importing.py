"""From a run in a report to a run of the folder of runs: a new one, which replaces nothing."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from ensemble import runs
from ensemble.config import ImportedConfig
from ensemble.datasets.record import as_record
from ensemble.exchange.capsule import form
from ensemble.exchange.capsule.reading import Capsule
from ensemble.exchange.capsule.values import history_rows, shift_results, shift_status, sources
from ensemble.jobs.folders import SCHEMA, new_run
from ensemble.jobs.kinds import IMPORTED
from ensemble.jobs.status import write_status
from ensemble.runs.annotations.names import checked_name
from ensemble.runs.annotations.notes import FILE as NOTE
from ensemble.runs.annotations.tags import keep_tags
from ensemble.runs.contents import SOURCES_FILE
from ensemble.runs.epoch_files import epoch_file
from ensemble.runs.history import FOLDERS, write_predictions
from ensemble.runs.imported import write_images
from ensemble.runs.test_set import IMAGES_FILE, LABELS_FILE
from ensemble.shift.results import SCORES, write_results, write_scores
from ensemble.shift.status import stress_folder
from ensemble.storage.arrays.npz import write_arrays
from ensemble.storage.atomic import write_bytes, write_json


def import_capsule(capsule: Capsule, name: str = "") -> runs.Run:
    """A new run of what a report holds of one: its settings, history, predictions and words.

    Its id is made here, also where the run's own is free; that is kept as its `origin`. Nobody
    can resume it: a report holds no checkpoints.

    Args:
      capsule: from `reading.read`.
      name: for people, at most 80 characters; "" for the name it has in the report.

    Raises:
      PredictionsError: there is too little memory for a part.
      RunError: the name is too long, or the folder of runs cannot be written. What was begun is
        removed.
    """
    name = checked_name(name) or " ".join(capsule.header.name.split())
    with new_run(IMPORTED, time.time()) as folder:
        try:
            _write(folder, capsule, name)
        except BaseException:  # Memory that is not there any more, or Ctrl-C: nothing is left.
            shutil.rmtree(folder, ignore_errors=True)
            raise
    return runs.find(folder.name)


def _write(folder: Path, capsule: Capsule, name: str) -> None:
    _write_parts(folder, capsule)
    if name:
        write_bytes(folder / "name.txt", name.encode())
    if note := capsule.header.note.strip():
        write_bytes(folder / NOTE, (note + "\n").encode())
    keep_tags(folder, capsule.known.tags)
    write_status(folder, capsule.known.status)
    # config.json comes last: a folder without it is not yet a run.
    write_json(folder / "config.json", _config(capsule))


def _config(capsule: Capsule) -> dict[str, object]:
    header, about = capsule.header, capsule.known
    found: dict[str, object] = {
        "schema": SCHEMA,
        "packages": header.packages,
        "settings": about.config.as_dict(),
        "origin": header.id,
    }
    if isinstance(about.config, ImportedConfig):
        found |= {"kind": IMPORTED, "member_names": list(about.member_names)}
    if about.data.own:
        found["dataset"] = as_record(about.data)
    return found


def _write_parts(folder: Path, capsule: Capsule) -> None:
    about, there = capsule.known, capsule.parts
    if form.HISTORY in there:
        rows = history_rows(capsule.array(form.HISTORY), about)
        write_bytes(folder / "history.jsonl", b"".join(row + b"\n" for row in rows))
    if form.SOURCES in there:
        found = sources(capsule.array(form.SOURCES), about)
        write_json(folder / SOURCES_FILE, {"members": found})
    if form.LABELS in there:
        write_arrays(folder / LABELS_FILE, {"labels": capsule.array(form.LABELS)})
    if form.IMAGES in there:
        write_images(folder / IMAGES_FILE, capsule.array(form.IMAGES))
    for what in FOLDERS.values():
        for epoch in capsule.epochs(what):
            write_predictions(folder, epoch, capsule.array(form.epoch_part(what, epoch)), what)
    _write_members(folder, capsule)
    _write_shift(folder, capsule)


def _write_members(folder: Path, capsule: Capsule) -> None:
    for epoch in capsule.epochs("parameters"):
        path = epoch_file(folder, "parameters", epoch)
        path.parent.mkdir(exist_ok=True)
        prefix = form.epoch_part("parameters", epoch) + "/"
        names = [one for one in capsule.parts if one.startswith(prefix)]
        # One after another: all of them at once may take a gigabyte.
        write_arrays(path, ((one.removeprefix(prefix), capsule.array(one)) for one in names))


def _write_shift(folder: Path, capsule: Capsule) -> None:
    if form.SHIFT_RESULTS not in capsule.parts:
        return
    results = shift_results(capsule.array(form.SHIFT_RESULTS), capsule.known)
    stress_folder(folder).mkdir()
    write_results(folder, results)
    if form.SHIFT_STATUS in capsule.parts:
        write_status(stress_folder(folder), shift_status(capsule.array(form.SHIFT_STATUS)))
    for key in _sets(capsule):
        scores = {
            one: capsule.array(f"{form.SCORES}/{key}/{one}")
            for one in SCORES
            if f"{form.SCORES}/{key}/{one}" in capsule.parts
        }
        write_scores(folder, key, results.tick, scores)


def _sets(capsule: Capsule) -> Iterator[str]:
    """The sets of images of which there are scores; each is a word that names a file."""
    matches = (form.SCORE.fullmatch(name) for name in capsule.parts)
    return iter(dict.fromkeys(match[1] for match in matches if match))
