"""A run made of numbers that were predicted elsewhere."""

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from ensemble.analysis.inference.image_groups import Groups
from ensemble.analysis.numeric.normal_mixture import Doubles
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble, get_ensemble_arrays
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble
from ensemble.config import REGRESSION, ImportedConfig
from ensemble.jobs.folders import SCHEMA, change_job_files, create_run_folder
from ensemble.jobs.kinds import IMPORTED
from ensemble.jobs.status import write_status
from ensemble.runs.annotations.names import normalize_run_name
from ensemble.runs.annotations.notes import MAX_NOTE_LENGTH, write_run_note
from ensemble.runs.numeric.numeric_epochs import build_numeric_epoch_line
from ensemble.runs.numeric.numeric_predictions import write_numeric_arrays, write_numeric_targets
from ensemble.runs.status import Status, build_epoch_status_fields
from ensemble.runs.store import RegressionTarget, Run, find_run
from ensemble.storage.atomic_files import write_bytes, write_json
from ensemble.storage.records.json_lines import append_line


def create_imported_numeric_run(
    predicted: NumericEnsemble,
    targets: Doubles,
    *,
    name: str = "",
    note: str = "",
    target_name: str = "",
    unit: str = "",
    member_names: Sequence[str] = (),
    example_names: Sequence[str] = (),
    groups: Groups | None = None,
) -> Run:
    """A new run, state `imported`, of numbers that were predicted elsewhere.

    Args:
      predicted: by M members, of N examples.
      targets: (N,), finite.
      name: for people, at most 80 characters; "" for none.
      note: what is to be said of it; cut where it is long.
      target_name: what is predicted.
      unit: of the targets.
      member_names: M of them, or none.
      example_names: N of them, or none.
      groups: (N,), the group of each example; None without a column of groups.

    Raises:
      RunError: the name is too long, or the folder cannot be written. What was begun is removed.
    """
    name, now = normalize_run_name(name), time.time()
    line = build_numeric_epoch_line(predicted, targets, 1)
    arrays = get_ensemble_arrays(predicted)
    levels = predicted.levels.tolist() if isinstance(predicted, QuantileEnsemble) else []
    nbytes = sum(array.nbytes for array in arrays.values())
    with create_run_folder(IMPORTED, now, nbytes) as folder:
        status = Status(created=now, queued=now, updated=now, epoch=1, epochs=1)
        write_numeric_targets(folder, targets, example_names, groups)
        write_numeric_arrays(folder, 1, arrays)
        append_line(folder / "history.jsonl", line)
        if name:
            write_bytes(folder / "name.txt", name.encode())
        write_imported_regression(
            folder,
            RegressionTarget(
                members=predicted.members,
                target_name=target_name,
                unit=unit,
                member_names=list(member_names),
                form=predicted.form,
                levels=levels,
            ),
            replace(status, **build_epoch_status_fields(status, line)),
        )
    if note:
        write_run_note(folder.name, note[:MAX_NOTE_LENGTH])
    with change_job_files(folder, action=None):
        return find_run(folder.name)


def write_imported_regression(folder: Path, target: RegressionTarget, status: Status) -> None:
    """Make a run of a folder that already holds predictions made elsewhere.

    Args:
      folder: a new one.
      target: what it predicts, and who its members are.
      status: of the last epoch; the state is set here.
    """
    write_status(folder, replace(status, state=IMPORTED))
    # config.json comes last: a folder without it is not yet a run.
    settings = ImportedConfig(members=target.members, epochs=max(1, status.epochs)).as_dict()
    config = {"schema": SCHEMA, "kind": IMPORTED, "task": REGRESSION, "settings": settings, "numbers": asdict(target)}
    write_json(folder / "config.json", config)
