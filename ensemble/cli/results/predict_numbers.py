"""`predict RUN TABLE` of a run that predicts numbers: a line of CSV, or an object, a row."""

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

from ensemble.cli.output import print_line
from ensemble.exchange.data_tables import read_data_table
from ensemble.runs.numeric.numeric_answers import NumericAnswers, answer_table
from ensemble.runs.store import Run

LEVEL = 0.9  # of the intervals
COLUMNS = ("row", "mean", "sd", "low_90", "high_90", "aleatoric_sd", "epistemic_sd", "extrapolated")


def print_table_answers(run: Run, files: tuple[Path, ...], epoch: int | None, as_json: bool) -> None:
    """Print what the ensemble says of every row of a table; what was assumed goes to stderr.

    Raises:
      UsageError: it is not one table.
    """
    if len(files) != 1:
        raise click.UsageError("A run that predicts numbers takes one table: CSV or Parquet.")
    answers = answer_table(run, read_data_table(files[0]), epoch)
    for note in answers.notes:
        print_line(note, err=True)
    columns = _build_answer_columns(answers)
    if not as_json:
        click.echo(",".join(COLUMNS))
    for row in zip(*(columns[name] for name in COLUMNS), strict=True):
        cells = [int(row[0]), *(float(f"{value:.8g}") for value in row[1:-1]), int(row[-1])]
        if as_json:
            click.echo(json.dumps(dict(zip(COLUMNS, cells, strict=True))))
        else:
            click.echo(",".join(map(str, cells)))


def _build_answer_columns(answers: NumericAnswers) -> dict[str, Any]:
    """The columns of `COLUMNS`, (N,) each, in the target's unit."""
    mixture, tail = answers.mixture, (1 - LEVEL) / 2
    return {
        "row": np.arange(1, mixture.examples + 1),
        "mean": mixture.compute_mean(),
        "sd": np.sqrt(mixture.compute_variance()),
        "low_90": mixture.compute_quantile(tail),
        "high_90": mixture.compute_quantile(1 - tail),
        "aleatoric_sd": np.sqrt(mixture.compute_aleatoric_variance()),
        "epistemic_sd": np.sqrt(mixture.compute_epistemic_variance()),
        "extrapolated": answers.extrapolated,
    }
