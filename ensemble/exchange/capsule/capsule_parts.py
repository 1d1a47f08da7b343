"""What of a run goes into its capsule: its parts, one after another, and what its header says."""

import dataclasses
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import __version__, runs
from ensemble.datasets.example_details import serialize_details
from ensemble.datasets.record import serialize_dataset_entry
from ensemble.errors import DataError, RunError
from ensemble.exchange.capsule import capsule_format
from ensemble.jobs.folders import read_stored_config
from ensemble.runs.annotations.notes import read_run_note
from ensemble.runs.epoch_files import build_damaged_epoch_error, locate_epoch_file
from ensemble.runs.parameters import MAX_BYTES, list_parameter_epochs
from ensemble.runs.run_folder import read_member_sources
from ensemble.runs.store import require_training_config
from ensemble.shift.results import KNOWN_KEY, read_ood_scores, read_stress_results, serialize_stress_results
from ensemble.shift.stress_job import read_stress_status
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray
from ensemble.storage.arrays.npz import Arrays, read_arrays
from ensemble.storage.records.json_lines import convert_to_json

_MOST_IMAGE_BYTES = 16 * 2**20  # of test images that not everyone can get; larger ones stay behind

Part = tuple[str, NDArray[Any]]  # its name and what it holds


def build_capsule_header(run: runs.Run) -> dict[str, Any]:
    """What the header says, but for the parts.

    Raises:
      RunError: the run cannot be read.
    """
    try:
        config = read_stored_config(run.path)
    except (OSError, ValueError) as error:
        raise RunError(f"The settings of the run “{run.id}” cannot be read ({error}).") from error
    return {
        "form": capsule_format.FORMAT_NAME,
        "version": capsule_format.VERSION,
        "program": __version__,
        "written": round(time.time(), 3),
        "id": run.id,
        "kind": config.kind or "",
        "settings": run.config.as_dict(),
        "dataset": serialize_dataset_entry(run.data),
        "status": convert_to_json(dataclasses.asdict(run.status)),
        "packages": _filter_text_values(config.packages),
        "name": "" if run.name == run.id else run.name,
        "note": read_run_note(run),
        "tags": list(run.tags),
        "member_names": list(run.member_names),
        "weights": run.weights,
    }


def iterate_capsule_parts(run: runs.Run, with_members: bool, all_epochs: bool) -> Iterator[Part]:
    """Everything of the run that goes along, read as it is taken.

    Raises:
      RunError: a file of the run is damaged; or it keeps no members, and they are asked for.
    """
    history = "".join(json.dumps(line) + "\n" for line in runs.read_thinned_history(run.id))
    yield capsule_format.HISTORY, _encode_text(history)
    if member_sources := read_member_sources(run.path):
        yield capsule_format.SOURCES, _encode_text(json.dumps(member_sources))
    yield from _iterate_test_parts(run)
    kept = runs.list_prediction_epochs(run.id)
    for epoch in kept if all_epochs else _select_carried_epochs(run, kept):
        for what in ("predictions", "validation"):
            yield from _iterate_probability_parts(run, what, epoch)
    if with_members:
        epochs = _require_member_epochs(run)
        yield from iterate_member_parts(run, epochs if all_epochs else _select_carried_epochs(run, epochs))
    yield from _iterate_shift_parts(run)


def _select_carried_epochs(run: runs.Run, kept: Sequence[int]) -> list[int]:
    """The epochs whose data go along where not all do: the usual one, and the last."""
    return sorted({runs.select_default_epoch(run, kept), kept[-1]}) if kept else []


def _filter_text_values(values: Any) -> dict[str, str]:
    """Of an object of JSON what is text; {} of anything else."""
    pairs = values.items() if isinstance(values, dict) else ()
    return {name: value for name, value in pairs if isinstance(value, str)}


def _encode_text(content: str) -> NDArray[np.uint8]:
    return np.frombuffer(content.encode(), np.uint8)


def _iterate_test_parts(run: runs.Run) -> Iterator[Part]:
    """The labels of what it was tested on; and the images, where nobody else could get them."""
    try:
        test = runs.load_test_set(run)
    except DataError:  # It is not on this machine: whoever has it has all that is to be had.
        return
    yield capsule_format.LABELS, np.asarray(test.labels, np.int32)
    if test.group_column is not None:
        yield capsule_format.GROUPS, np.asarray(test.group_column, np.int64)
    if test.repeats is not None:
        yield capsule_format.REPEATS, np.asarray(test.repeats, np.int64)
    if test.details:
        yield capsule_format.EXAMPLES, _encode_text(serialize_details(test.details))
    if run.data.own and test.images is not None and test.images.size <= _MOST_IMAGE_BYTES:
        yield capsule_format.IMAGES, np.asarray(test.images)


def _iterate_probability_parts(run: runs.Run, what: str, epoch: int) -> Iterator[Part]:
    read = runs.read_run_predictions if what == "predictions" else runs.read_validation_predictions
    path = locate_epoch_file(run.path, what, epoch)
    if what == "validation" and not path.exists():
        return
    shape = (run.config.members, *read(run.id, epoch).shape[1:])  # which looks at what they are
    arrays = read_arrays(path, {"probabilities": ExpectedArray(shape)})
    yield capsule_format.format_epoch_part(what, epoch), arrays["probabilities"]


def _require_member_epochs(run: runs.Run) -> Sequence[int]:
    """The epochs of which what the members have learnt stands in files, rising.

    Raises:
      RunError: there are none.
    """
    require_training_config(run)
    kept = list_parameter_epochs(run.path)
    if not kept:
        raise RunError(
            f"The run “{run.id}” does not store its members in separate files: leave them out, or train it again."
        )
    return kept


def iterate_member_parts(run: runs.Run, epochs: Sequence[int]) -> Iterator[Part]:
    """What the members have learnt: read as plain arrays, so that no network has to be there.

    Args:
      run: whose.
      epochs: of `_require_member_epochs`.

    Raises:
      RunError: a file of the run is damaged.
    """
    for epoch in epochs:
        for name, array in _read_member_parameters(run, epoch).items():
            yield f"{capsule_format.format_epoch_part('parameters', epoch)}/{name}", array


def _read_member_parameters(run: runs.Run, epoch: int) -> Arrays:
    try:
        return read_arrays(locate_epoch_file(run.path, "parameters", epoch), None, 4 * MAX_BYTES)
    except DamagedFileError as error:
        raise build_damaged_epoch_error(run.path, "parameters", epoch, str(error)) from error


def _iterate_shift_parts(run: runs.Run) -> Iterator[Part]:
    if (results := read_stress_results(run.path)) is None:
        return
    yield capsule_format.SHIFT_RESULTS, _encode_text(json.dumps(serialize_stress_results(results)))
    if status := read_stress_status(run.path):
        yield (capsule_format.SHIFT_STATUS, _encode_text(json.dumps(convert_to_json(dataclasses.asdict(status)))))
    for key in (KNOWN_KEY, *(ood_set["key"] for ood_set in results.ood)):
        for name, scores in (read_ood_scores(run.path, key, results.tick) or {}).items():
            yield f"{capsule_format.SCORES}/{key}/{name}", scores
