"""The curves and figures as one CSV file: a row for each epoch of the ensemble and of each member.

For trackers of experiments, spreadsheets and pandas; no weights are in it.
"""

import csv
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ensemble import runs
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.metrics import METRICS_BY_NAME, ClassifierAnswers
from ensemble.comparison.history_columns import load_history_columns
from ensemble.export.export_format import FIGURES, EnsembleContent, ExportFormat
from ensemble.storage import csv_format
from ensemble.storage.atomic_files import write_bytes
from ensemble.wording.runs.member_settings import list_run_member_names

ENSEMBLE = "ensemble"
SPLITS = ("train", "validation", "test")
COLUMNS = (
    "epoch",
    "who",
    "seconds",
    *(f"{split}_{figure}" for split in SPLITS for figure in ("nll", "accuracy")),
    "test_brier",
    "test_ece",
)


def _write_csv_table(content: EnsembleContent, path: Path, replace: bool) -> None:
    write_bytes(path, csv_format.format_csv([COLUMNS, *iterate_rows(content)]).encode())


def iterate_rows(content: EnsembleContent) -> Iterator[list[Any]]:
    """The rows; what is not known is None."""
    columns = load_history_columns(content.run, "epoch")
    names = list_run_member_names(content.run)
    kept = set(runs.list_prediction_epochs(content.run.id))
    for row, progress in enumerate(columns.single["progress"]):
        epoch = round(float(progress))
        seconds = _number_or_none(columns.single["seconds"][row])
        curves = [
            _number_or_none(columns.single[f"ensemble_{split}_{figure}"][row])
            for split in SPLITS
            for figure in ("nll", "accuracy")
            if f"ensemble_{split}_{figure}" in columns.single
        ]
        figures = _measure_epoch(content, epoch) if epoch in kept else [None, None]
        yield [epoch, ENSEMBLE, seconds, *curves, *figures]
        for m, name in enumerate(names):
            each = [
                _number_or_none(columns.members[f"{split}_{figure}"][row, m])
                for split in SPLITS
                for figure in ("loss", "accuracy")
            ]
            yield [epoch, name, seconds, *each, None, None]


def _measure_epoch(content: EnsembleContent, epoch: int) -> list[float | None]:
    predictions = evaluate_predictions(runs.read_run_predictions(content.run.id, epoch), content.test.labels)
    answers = ClassifierAnswers.from_probabilities(predictions.averaged, predictions.labels)
    return [METRICS_BY_NAME[name].measure(answers) for name in ("brier", "ece")]


def _judge_csv_table(content: EnsembleContent, path: Path) -> tuple[dict[str, float], float | None]:
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))
    of_epoch = [row for row in rows if row["epoch"] == str(content.epoch) and row["who"] == ENSEMBLE]
    found = of_epoch[-1] if of_epoch else {}
    figures = {name: found.get(f"test_{name}") for name in FIGURES}
    return {name: float(figure) for name, figure in figures.items() if figure}, None


def _number_or_none(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


FORMAT = ExportFormat(
    name="csv",
    title="Curves and figures, CSV",
    gloss="For spreadsheets and trackers: a row an epoch, of the ensemble and of each member.",
    suffix=".csv",
    holds_weights=False,
    write=_write_csv_table,
    judge=_judge_csv_table,
)
