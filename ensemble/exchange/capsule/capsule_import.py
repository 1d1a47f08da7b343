"""From a run in a report to a run of the folder of runs: a new one, which replaces nothing."""

import time
from collections.abc import Iterator
from pathlib import Path

from ensemble import runs
from ensemble.config import ImportedConfig
from ensemble.datasets.example_details import ExampleDetails, parse_details, write_details
from ensemble.datasets.record import serialize_dataset_entry
from ensemble.errors import PredictionsError
from ensemble.exchange.capsule import capsule_format
from ensemble.exchange.capsule.capsule_reader import Capsule
from ensemble.exchange.capsule.part_values import (
    filter_history_rows,
    parse_capsule_sources,
    parse_shift_results,
    parse_shift_status,
)
from ensemble.jobs.folders import SCHEMA, create_run_folder
from ensemble.jobs.kinds import IMPORTED
from ensemble.jobs.status import write_status
from ensemble.runs.annotations.names import normalize_run_name
from ensemble.runs.annotations.notes import NOTE_FILE as NOTE
from ensemble.runs.annotations.tags import write_tags_file
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.runs.history import PREDICTION_FOLDERS, write_predictions
from ensemble.runs.imported_run import write_image_array
from ensemble.runs.run_folder import SOURCES_FILE
from ensemble.runs.test_set import DETAILS_FILE, GROUPS_FILE, IMAGES_FILE, LABELS_FILE, REPEATS_FILE
from ensemble.shift.results import SCORE_ARRAYS, stress_folder, write_ood_scores, write_stress_results
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npz import write_arrays
from ensemble.storage.atomic_files import write_bytes, write_json


def import_capsule(capsule: Capsule, name: str = "") -> runs.Run:
    """A new run of what a report holds of one: its settings, history, predictions and words.

    Its id is made here, also where the run's own is free; that is kept as its `origin`. Nobody
    can resume it: a report holds no checkpoints.

    Args:
      capsule: from `read_report_capsules`.
      name: for people, at most 80 characters; "" for the name it has in the report.

    Raises:
      PredictionsError: there is too little memory for a part.
      AccessError: the folder of runs has not so much room.
      RunError: the name is too long, or the folder of runs cannot be written. What was begun is
        removed.
    """
    name = normalize_run_name(name) or " ".join(capsule.header.name.split())
    with create_run_folder(IMPORTED, time.time(), capsule.nbytes) as folder:
        _write_imported_run(folder, capsule, name)
    return runs.find_run(folder.name)


def _write_imported_run(folder: Path, capsule: Capsule, name: str) -> None:
    _write_capsule_parts(folder, capsule)
    if name:
        write_bytes(folder / "name.txt", name.encode())
    if note := capsule.header.note.strip():
        write_bytes(folder / NOTE, (note + "\n").encode())
    write_tags_file(folder, capsule.run.tags)
    write_status(folder, capsule.run.status)
    # config.json comes last: a folder without it is not yet a run.
    write_json(folder / "config.json", _build_imported_config(capsule))


def _build_imported_config(capsule: Capsule) -> dict[str, object]:
    header, about = capsule.header, capsule.run
    config: dict[str, object] = {
        "schema": SCHEMA,
        "packages": header.packages,
        "settings": about.config.as_dict(),
        "origin": header.id,
    }
    if capsule.has_rounded_weights:
        config["weights"] = capsule_format.ROUNDED
    if isinstance(about.config, ImportedConfig):
        config |= {"kind": IMPORTED, "member_names": list(about.member_names)}
    if about.data.own:
        config["dataset"] = serialize_dataset_entry(about.data)
    return config


def _write_capsule_parts(folder: Path, capsule: Capsule) -> None:
    about, there = capsule.run, capsule.parts
    if capsule_format.HISTORY in there:
        rows = filter_history_rows(capsule.load_part(capsule_format.HISTORY), about)
        write_bytes(folder / "history.jsonl", b"".join(row + b"\n" for row in rows))
    if capsule_format.SOURCES in there:
        capsule_sources = parse_capsule_sources(capsule.load_part(capsule_format.SOURCES), about)
        write_json(folder / SOURCES_FILE, {"members": capsule_sources})
    if capsule_format.LABELS in there:
        write_arrays(folder / LABELS_FILE, {"labels": capsule.load_part(capsule_format.LABELS)})
    for part, file in ((capsule_format.GROUPS, GROUPS_FILE), (capsule_format.REPEATS, REPEATS_FILE)):
        if part in there:
            write_arrays(folder / file, {"groups": capsule.load_part(part)})
    if capsule_format.EXAMPLES in there:
        write_details(folder / DETAILS_FILE, _parse_capsule_details(capsule))
    if capsule_format.IMAGES in there:
        write_image_array(folder / IMAGES_FILE, capsule.load_part(capsule_format.IMAGES))
    for what in PREDICTION_FOLDERS.values():
        for epoch in capsule.list_epochs(what):
            write_predictions(folder, epoch, capsule.load_part(capsule_format.format_epoch_part(what, epoch)), what)
    _write_capsule_members(folder, capsule)
    _write_capsule_shift(folder, capsule)


def _parse_capsule_details(capsule: Capsule) -> ExampleDetails:
    """What the examples are called; PredictionsError where that is not one text for each."""
    content = capsule.load_part(capsule_format.EXAMPLES)
    try:
        return parse_details(content.tobytes(), capsule.run.data.test_size)
    except DamagedFileError as error:
        raise PredictionsError(
            f"its part “{capsule_format.EXAMPLES}” cannot be used ({error}): save the report again."
        ) from error


def _write_capsule_members(folder: Path, capsule: Capsule) -> None:
    for epoch in capsule.list_epochs("parameters"):
        path = locate_epoch_file(folder, "parameters", epoch)
        path.parent.mkdir(exist_ok=True)
        prefix = capsule_format.format_epoch_part("parameters", epoch) + "/"
        names = [part for part in capsule.parts if part.startswith(prefix)]
        # One after another: all of them at once may take a gigabyte.
        write_arrays(path, ((name.removeprefix(prefix), capsule.load_part(name)) for name in names))


def _write_capsule_shift(folder: Path, capsule: Capsule) -> None:
    if capsule_format.SHIFT_RESULTS not in capsule.parts:
        return
    results = parse_shift_results(capsule.load_part(capsule_format.SHIFT_RESULTS), capsule.run)
    stress_folder(folder).mkdir()
    write_stress_results(folder, results)
    if capsule_format.SHIFT_STATUS in capsule.parts:
        write_status(stress_folder(folder), parse_shift_status(capsule.load_part(capsule_format.SHIFT_STATUS)))
    for key in _iterate_score_sets(capsule):
        scores = {
            name: capsule.load_part(f"{capsule_format.SCORES}/{key}/{name}")
            for name in SCORE_ARRAYS
            if f"{capsule_format.SCORES}/{key}/{name}" in capsule.parts
        }
        write_ood_scores(folder, key, results.tick, scores)


def _iterate_score_sets(capsule: Capsule) -> Iterator[str]:
    """The sets of images of which there are scores; each is a word that names a file."""
    matches = (capsule_format.SCORE_PATTERN.fullmatch(name) for name in capsule.parts)
    return iter(dict.fromkeys(match[1] for match in matches if match))
