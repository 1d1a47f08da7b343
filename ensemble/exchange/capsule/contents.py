"""What of a run goes into its capsule: its parts, one after another, and what its header says."""

import dataclasses
import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import __version__, runs
from ensemble.datasets.record import as_record
from ensemble.errors import DataError, RunError
from ensemble.exchange.capsule import form
from ensemble.jobs.folders import read_whole_config
from ensemble.runs.annotations.notes import read_note
from ensemble.runs.contents import read_sources
from ensemble.runs.epoch_files import damaged, epoch_file
from ensemble.runs.parameters import MAX_BYTES, kept_epochs
from ensemble.runs.store import trained_here
from ensemble.shift.results import KNOWN, as_stored, read_results, read_scores
from ensemble.shift.status import read_stress_status
from ensemble.storage.arrays.damage import DamagedFileError
from ensemble.storage.arrays.npy import Expected
from ensemble.storage.arrays.npz import Arrays, read_arrays
from ensemble.storage.records.lines import plain

MOST_IMAGE_BYTES = 16 * 2**20  # of test images that not everyone can get; larger ones stay behind

Part = tuple[str, NDArray[Any]]  # its name and what it holds


def said_of(run: runs.Run) -> dict[str, Any]:
    """What the header says, but for the parts.

    Raises:
      RunError: the run cannot be read.
    """
    try:
        config = read_whole_config(run.path)
    except (OSError, ValueError) as error:
        raise RunError(f"The settings of the run “{run.id}” cannot be read ({error}).") from error
    return {
        "form": form.FORM,
        "version": form.VERSION,
        "program": __version__,
        "written": round(time.time(), 3),
        "id": run.id,
        "kind": config.kind or "",
        "settings": run.config.as_dict(),
        "dataset": as_record(run.data),
        "status": plain(dataclasses.asdict(run.status)),
        "packages": texts(config.packages),
        "name": "" if run.name == run.id else run.name,
        "note": read_note(run),
        "tags": list(run.tags),
        "member_names": list(run.member_names),
    }


def parts_of(run: runs.Run, with_members: bool, all_epochs: bool) -> Iterator[Part]:
    """Everything of the run that goes along, read as it is taken.

    Raises:
      RunError: a file of the run is damaged; or it keeps no members, and they are asked for.
    """
    yield form.HISTORY, _text(_history(run))
    if found := read_sources(run.path):
        yield form.SOURCES, _text(json.dumps(found))
    yield from _tested_on(run)
    kept = runs.prediction_epochs(run.id)
    for epoch in kept if all_epochs else kept[-1:]:
        for what in ("predictions", "validation"):
            yield from _probabilities(run, what, epoch)
    if with_members:
        yield from _members(run, all_epochs)
    yield from _shift(run)


def texts(values: Any) -> dict[str, str]:
    """Of an object of JSON what is text; {} of anything else."""
    found = values.items() if isinstance(values, dict) else ()
    return {name: value for name, value in found if isinstance(value, str)}


def _text(content: str) -> NDArray[np.uint8]:
    return np.frombuffer(content.encode(), np.uint8)


def _history(run: runs.Run) -> str:
    return "".join(json.dumps(line) + "\n" for line in runs.read_history(run.id))


def _tested_on(run: runs.Run) -> Iterator[Part]:
    """The labels of what it was tested on; and the images, where nobody else could get them."""
    try:
        test = runs.test_set(run)
    except DataError:  # It is not on this machine: whoever has it has all that is to be had.
        return
    yield form.LABELS, np.asarray(test.labels, np.int32)
    if run.data.own and test.images is not None and test.images.size <= MOST_IMAGE_BYTES:
        yield form.IMAGES, np.asarray(test.images)


def _probabilities(run: runs.Run, what: str, epoch: int) -> Iterator[Part]:
    """All rows of the file, those of members that were set aside too."""
    read = runs.read_predictions if what == "predictions" else runs.read_validation
    path = epoch_file(run.path, what, epoch)
    if what == "validation" and not path.exists():
        return
    shape = (run.config.members, *read(run.id, epoch).shape[1:])  # which looks at what they are
    found = read_arrays(path, {"probabilities": Expected(shape)})
    yield form.epoch_part(what, epoch), found["probabilities"]


def _members(run: runs.Run, all_epochs: bool) -> Iterator[Part]:
    """What the members have learnt: read as plain arrays, so that no network has to be there."""
    trained_here(run)
    kept = kept_epochs(run.path)
    if not kept:
        raise RunError(
            f"The run “{run.id}” keeps no members in files of their own: leave them out, or train "
            "it again."
        )
    for epoch in kept if all_epochs else kept[-1:]:
        for name, array in _parameters(run, epoch).items():
            yield f"{form.epoch_part('parameters', epoch)}/{name}", array


def _parameters(run: runs.Run, epoch: int) -> Arrays:
    try:
        return read_arrays(epoch_file(run.path, "parameters", epoch), None, 4 * MAX_BYTES)
    except DamagedFileError as error:
        raise damaged(run.path, "parameters", epoch, str(error)) from error


def _shift(run: runs.Run) -> Iterator[Part]:
    """What was measured under shift, and of each set of images the scores."""
    if (results := read_results(run.path)) is None:
        return
    yield form.SHIFT_RESULTS, _text(json.dumps(as_stored(results)))
    if status := read_stress_status(run.path):
        yield form.SHIFT_STATUS, _text(json.dumps(plain(dataclasses.asdict(status))))
    for key in (KNOWN, *(one["key"] for one in results.ood)):
        for name, scores in (read_scores(run.path, key, results.tick) or {}).items():
            yield f"{form.SCORES}/{key}/{name}", scores
