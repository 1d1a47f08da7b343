"""The members' weights as one .npz, for which NumPy is enough."""

import json
from pathlib import Path

import numpy as np

from ensemble.errors import PredictionsError
from ensemble.export.export_format import EnsembleContent, ExportFormat, judge_probabilities
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npz import read_arrays, write_arrays

METADATA = "metadata"  # the array of what is said of the others: one text, JSON


def _write_npz_weights(content: EnsembleContent, path: Path, replace: bool) -> None:
    metadata = np.array(json.dumps(content.describe(), ensure_ascii=False))
    write_arrays(path, {METADATA: metadata, **content.name_arrays()})


def _judge_npz_weights(content: EnsembleContent, path: Path) -> tuple[dict[str, float], float | None]:
    try:
        arrays = read_arrays(path, None, path.stat().st_size, need_checksum=True)
    except DamagedFileError as error:
        raise PredictionsError(f"{path} was not written whole ({error}): try again.") from error
    return judge_probabilities(content, content.predict_from_arrays(arrays))


FORMAT = ExportFormat(
    name="npz",
    title="Weights, .npz",
    gloss="For NumPy alone: arrays by name, and a text that says what they are.",
    suffix=".npz",
    holds_weights=True,
    write=_write_npz_weights,
    judge=_judge_npz_weights,
)
