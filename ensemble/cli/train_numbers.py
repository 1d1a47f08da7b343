"""`train --task regression`: an ensemble that predicts a column of numbers in a table."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ensemble import architectures
from ensemble.cli.options import DECIMAL_OPTION, Command, build_setting_option
from ensemble.cli.output import exit_with_result, print_line
from ensemble.cli.placement import PLACEMENT_OPTIONS, parse_placement_options
from ensemble.cli.progress_line import ProgressLine
from ensemble.cli.results.numbers import summarize_numeric_run
from ensemble.config import REGRESSION, EnsembleConfig, RegressionConfig
from ensemble.runs import Run, execute_run, rename_run
from ensemble.settings import list_setting_fields
from ensemble.tables.prepared_table import read_table_description
from ensemble.wording.runs.numeric_training import describe_best_numeric_epoch, find_epoch_line

if TYPE_CHECKING:
    from ensemble.tables.prepared_table import PreparedTable
    from ensemble.tables.raw_table import RawTable

_MAX_SPLITS = 100
_CLASS_NAMES = {field.name for field in list_setting_fields(EnsembleConfig)}
_NUMERIC_FIELDS = {field.name: field for field in list_setting_fields(RegressionConfig)}
# By their names in the command: options that a table alone has.
_TABLE_NAMES = ("table", "target", "leave_out", "category", "group", "time_order", "splits", "decimal")


def add_table_options(command: Command) -> Command:
    """Gives a click command the options that `--task regression` has beside those of `train`."""
    for name in reversed([name for name in _NUMERIC_FIELDS if name not in _CLASS_NAMES]):
        command = build_setting_option(_NUMERIC_FIELDS[name])(command)
    for option in (
        click.option(
            "--category",
            metavar="COLUMN",
            multiple=True,
            help="Column of numbers that stand for kinds, as a postcode does; can be repeated.",
        ),
        click.option(
            "--leave-out",
            metavar="COLUMN",
            multiple=True,
            help="Column that is not to be learnt from; can be repeated.",
        ),
        click.option(
            "--splits",
            type=click.IntRange(2, _MAX_SPLITS),
            help="Train on so many splits, with other seeds, and report means ± standard errors.",
        ),
        DECIMAL_OPTION,
        click.option("--time-order", is_flag=True, default=None, help="Rows are in time order: test on the last ones."),
        click.option("--group", metavar="COLUMN", help="Column whose equal values belong together, such as a patient."),
        click.option("--target", metavar="COLUMN", help="Column of numbers to predict."),
        click.option(
            "--table",
            metavar="FILE",
            type=click.Path(path_type=Path),
            help="CSV or Parquet file with a row an example.",
        ),
    ):
        command = option(command)
    return command


def check_task_options(task: str | None, chosen: dict[str, Any], beside: list[str]) -> None:
    """See that the options that were given go with the task.

    Args:
      task: as it was given; None for classification.

    Raises:
      UsageError: one does not, or a table's is missing.
    """
    if task != REGRESSION:
        own = [name for name in chosen if name in _TABLE_NAMES or name not in _CLASS_NAMES]
        if wrong := [name for name in own if name in (*_TABLE_NAMES, *_NUMERIC_FIELDS)]:
            raise click.UsageError(
                f"{_list_options(wrong)} only with --task regression: add that, or leave {_format_pronoun(wrong)} out."
            )
        return
    known = {*_TABLE_NAMES, *_NUMERIC_FIELDS, *PLACEMENT_OPTIONS}
    wrong = [name for name in chosen if name not in known] + beside
    if wrong:
        raise click.UsageError(
            f"{_list_options(wrong)} only with --task classification: leave {_format_pronoun(wrong)} out."
        )


def train_numbers(chosen: dict[str, Any], tags: tuple[str, ...]) -> Run:
    """Train on a table; with --splits on several splits, and exit.

    Args:
      chosen: the options that were given, by name.
      tags: of the runs.
    """
    from ensemble.runs.numeric.numeric_launch import create_numeric_run

    place = parse_placement_options(chosen)
    config, table = read_table_options(chosen)

    def create_run(config: RegressionConfig) -> str:
        prepared = prepare_chosen_table(config, table, chosen, told=config.split_seed == first_seed)
        if splits and prepared.split_column:
            name = prepared.split_column
            raise click.UsageError(f"The column {name} is the split: leave out --splits, or add --leave-out {name}.")
        return create_numeric_run(config, prepared, place, tags).id

    first_seed = config.split_seed
    if splits := chosen.get("splits"):
        if chosen.get("time_order"):
            raise click.UsageError("Rows in time order have one split: leave out --splits.")
        _execute_splits_and_exit(config, splits, create_run)
    return _execute_run(create_run(config))


def read_table_options(chosen: dict[str, Any]) -> "tuple[RegressionConfig, RawTable]":
    """The settings that the options say, and the table that they name.

    Raises:
      UsageError: the table or its target is missing.
      ConfigError: a value out of its range.
      DataError: the table cannot be read.
    """
    if missing := [f"--{name}" for name in ("table", "target") if name not in chosen]:
        raise click.UsageError(f"--task regression needs {' and '.join(missing)}: --table houses.csv --target price.")
    if architectures.is_custom_network(own := chosen.get("network", "")):
        architectures.allow_network(own)  # Whoever types a name here wants its code to run.
    from ensemble.exchange.data_tables import read_data_table

    config = RegressionConfig(**{name: value for name, value in chosen.items() if name in _NUMERIC_FIELDS})
    return config, read_data_table(chosen["table"], decimal=chosen.get("decimal", ""))


def prepare_chosen_table(
    config: RegressionConfig, table: "RawTable", chosen: dict[str, Any], told: bool = True
) -> "PreparedTable":
    """The table as a run learns from it, by the options; what was assumed is told."""
    from ensemble.runs.numeric.numeric_launch import prepare_numeric_table

    prepared = prepare_numeric_table(
        config,
        table,
        target=chosen["target"],
        leave_out=chosen.get("leave_out", ()),
        as_categories=chosen.get("category", ()),
        group=chosen.get("group", ""),
        in_time_order=chosen.get("time_order", False),
    )
    for note in prepared.notes if told else ():
        print_line(note, err=True)
    return prepared


def _execute_splits_and_exit(
    config: RegressionConfig, splits: int, create_run: Callable[[RegressionConfig], str]
) -> NoReturn:
    """Train a run for each split, and print the means over them; each run stays."""
    import numpy as np

    from ensemble.analysis.numeric.numeric_diagnosis import compute_target_scores, find_suspect_targets
    from ensemble.analysis.numeric.repeated_splits import summarize_splits
    from ensemble.views.numeric.evaluated_numbers import evaluate_numeric_run
    from ensemble.wording.numeric_predictions import describe_suspect_targets, list_split_sentences

    evaluations, run_ids = [], list[str]()
    scores: dict[str, list[float]] = {}
    for place in range(splits):
        shifted = replace(config, seed=config.seed + place, split_seed=config.split_seed + place)
        run_ids.append(create_run(shifted))
        rename_run(run_ids[-1], f"Split {place + 1} of {splits}")
        run = _execute_run(run_ids[-1])
        if run.state != "finished":
            exit_with_result(run.state, run.message, {"run_ids": run_ids})
        numbers = evaluate_numeric_run(run)
        evaluations.append(numbers.evaluation)
        of_rows = compute_target_scores(numbers.predicted, numbers.targets)
        for name, score in zip(numbers.example_names, of_rows.tolist(), strict=True):
            scores.setdefault(name, []).append(score)
    summary, rows = summarize_splits(evaluations), list(scores)
    suspects = find_suspect_targets(np.array([np.mean(scores[name]) for name in rows]))
    if names := [rows[place] for place in suspects]:
        print_line(describe_suspect_targets(names), err=True)
    for sentence in list_split_sentences(summary, splits):
        print_line(sentence, err=True)
    notes = read_table_description(run.path).notes
    result = {"splits": splits, "run_ids": run_ids, "suspects": names, **summary, "notes": notes}
    exit_with_result("finished", "", result)


def _execute_run(run_id: str) -> Run:
    with ProgressLine(run_id) as line:
        return execute_run(run_id, line.show_run)


def exit_with_numbers(run: Run) -> NoReturn:
    """Say how a regression ended, and exit."""
    if sentence := describe_best_numeric_epoch(run):
        print_line(sentence, err=True)
    notes = read_table_description(run.path).notes
    exit_with_result(
        run.state, run.message, {**summarize_numeric_run(run), **_summarize_best_epoch(run), "notes": notes}
    )


def _summarize_best_epoch(run: Run) -> dict[str, Any]:
    """What the ensemble's figures on the test rows were at the best epoch; None before one."""
    names = ("rmse", "nll", "crps")
    best = find_epoch_line(run, run.status.best_epoch)
    return {f"best_ensemble_test_{name}": best.get(f"ensemble_test_{name}") for name in names}


def _list_options(names: list[str]) -> str:
    options = [f"--{name.replace('_', '-')}" for name in names]
    verb = "goes" if len(options) == 1 else "go"
    return f"{', '.join(options)} {verb}"


def _format_pronoun(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"
