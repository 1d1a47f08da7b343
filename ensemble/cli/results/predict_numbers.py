"""`predict RUN TABLE` of a run that predicts numbers: a line of CSV, or an object, a row."""

import json
from pathlib import Path

import click

from ensemble.cli.output import print_line
from ensemble.exchange.data_tables import read_data_table
from ensemble.runs.numeric.numeric_answers import answer_table
from ensemble.runs.store import Run
from ensemble.tables.prepared_table import read_table_description

COLUMNS = ("row", "mean", "sd", "low_90", "high_90", "aleatoric_sd", "epistemic_sd", "extrapolated")


def print_table_answers(run: Run, files: tuple[Path, ...], epoch: int | None, decimal: str, as_json: bool) -> None:
    """Print the prediction for every row of a table; notes go to stderr, and into the first JSON object.

    Raises:
      UsageError: it is not one table.
    """
    if len(files) != 1:
        raise click.UsageError("A run that predicts numbers takes one table: CSV or Parquet.")
    encoding = read_table_description(run.path).encoding
    answers = answer_table(run, read_data_table(files[0], decimal=decimal, encoding=encoding), epoch)
    for note in answers.notes:
        print_line(note, err=True)
    if not as_json:
        click.echo(",".join(COLUMNS))
    for number, row in enumerate(zip(*answers.compute_columns().values(), strict=True), 1):
        cells = [number, *(float(f"{value:.8g}") for value in row[:-1]), int(row[-1])]
        if as_json:
            notes = list(answers.notes) if number == 1 else []
            click.echo(json.dumps({**dict(zip(COLUMNS, cells, strict=True)), "notes": notes}))
        else:
            click.echo(",".join(map(str, cells)))
