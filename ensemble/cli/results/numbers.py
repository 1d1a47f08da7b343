"""The command that judges an ensemble that predicts numbers, from a file."""

import json
from pathlib import Path

import click

from ensemble.cli.output import print_line
from ensemble.storage.records.json_lines import convert_to_json


@click.command(name="numbers")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def run_numbers_command(file: Path, as_json: bool) -> None:
    """Judge an ensemble that predicts numbers: FILE has each member's mean and spread, and targets.

    An .npz with arrays mean and std (or variance), both (members, examples), or samples (members,
    samples, examples), and targets (examples); or a CSV or Parquet table with the columns member,
    example, mean, std (or variance) and target, or mean_A, std_A … for each member A, and target.
    """
    from ensemble.analysis.numeric.numeric_evaluation import evaluate_numbers
    from ensemble.exchange.numeric_files import read_numeric_file
    from ensemble.wording.numeric_predictions import list_numeric_sentences

    numbers = read_numeric_file(file)
    evaluation = evaluate_numbers(numbers.mixture, numbers.targets, numbers.member_names)
    sentences = list_numeric_sentences(evaluation)
    if as_json:
        told = {**evaluation.as_json(), "sentences": sentences, "notes": list(numbers.notes)}
        click.echo(json.dumps(convert_to_json(told), allow_nan=False))
        return
    for sentence in (*sentences, *numbers.notes):
        print_line(sentence)
