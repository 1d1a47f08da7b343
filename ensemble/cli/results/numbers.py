"""The command that judges an ensemble that predicts numbers, from a file."""

import json
from pathlib import Path
from typing import Any

import click

from ensemble.cli.options import DECIMAL_OPTION
from ensemble.cli.output import print_line
from ensemble.runs.store import Run
from ensemble.storage.records.json_lines import convert_to_json


@click.command(name="numbers")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--save", is_flag=True, help="Keep it as a run, for the pages and for inspect.")
@click.option("--name", default="", help="Name of the run that is kept.")
@click.option("--target", default="", help="What is predicted, for the run: price.")
@click.option("--unit", default="", help="Unit of the targets, for the run: EUR.")
@DECIMAL_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def run_numbers_command(
    file: Path, save: bool, name: str, target: str, unit: str, decimal: str | None, as_json: bool
) -> None:
    """Judge an ensemble that predicts numbers: FILE has each member's mean and spread, and targets.

    An .npz with arrays mean and std (or variance), both (members, examples), or samples (members,
    samples, examples), and targets (examples); or a CSV or Parquet table with the columns member,
    example, mean, std (or variance) and target, or mean_A, std_A … for each member A, and target.
    """
    if not save and (name or target or unit):
        raise click.UsageError("--name, --target and --unit are of the run: add --save.")
    from ensemble.exchange.numeric_files import read_numeric_file
    from ensemble.exchange.numeric_import import import_numbers
    from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
    from ensemble.wording.numeric_predictions import list_numeric_sentences

    numbers = read_numeric_file(file, decimal or "")
    evaluated = EvaluatedNumbers(numbers.mixture, numbers.targets, numbers.member_names, group_column=numbers.groups)
    evaluation = evaluated.evaluation
    sentences = list_numeric_sentences(evaluation)
    run = None
    if save:
        run = import_numbers(numbers, name, file.name, target, unit)
    if as_json:
        told = {
            "run_id": run.id if run else None,
            **evaluation.as_json(),
            "sentences": sentences,
            "notes": list(numbers.notes),
        }
        click.echo(json.dumps(convert_to_json(told), allow_nan=False))
        return
    for sentence in (*sentences, *numbers.notes):
        print_line(sentence)
    if run:
        print_line(f"Kept as {run.id}: ensemble inspect {run.id} says all of it.")


def summarize_numeric_run(run: Run) -> dict[str, Any]:
    """What a run that predicts numbers came to, ready for JSON; None where there is nothing yet."""
    status = run.status
    return {
        "run_id": run.id,
        "task": run.task,
        "state": run.state,
        "target": run.target_name,
        "unit": run.unit,
        "members": run.config.members,
        "ensemble_test_rmse": status.ensemble_test_rmse,
        "ensemble_test_nll": status.ensemble_test_nll,
        "ensemble_test_crps": status.ensemble_test_crps,
        "member_test_rmse": status.member_test_rmse,
        "best_epoch": status.best_epoch,
        "best_on": status.best_on,
        "set_aside": [number + 1 for number in sorted(status.set_aside)],
        "seconds": status.seconds,
    }
