"""A run that learns to predict a column of a table: made, launched and resumed."""

import functools
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from ensemble.analysis.inference.image_groups import select_groups
from ensemble.config import RegressionConfig
from ensemble.datasets.partition.folds import count_images_per_member
from ensemble.jobs.placement import Placement
from ensemble.runs.numeric.numeric_predictions import TARGETS_FILE, write_numeric_targets
from ensemble.runs.store import RUN_STORE, Run
from ensemble.runs.test_set import DETAILS_FILE, GROUPS_FILE
from ensemble.tables.prepared_table import (
    TABLE_FILES,
    PreparedTable,
    prepare_table,
    read_table_description,
    write_prepared_table,
)
from ensemble.tables.raw_table import RawTable


def prepare_numeric_table(
    config: RegressionConfig,
    table: RawTable,
    target: str,
    leave_out: tuple[str, ...] = (),
    as_categories: tuple[str, ...] = (),
    group: str = "",
    in_time_order: bool = False,
) -> PreparedTable:
    """A table as a run with these settings learns from it.

    Args:
      config: the run's.
      table: as it was read.
      target: the column to predict.
      leave_out: columns to ignore.
      as_categories: columns of numbers that stand for kinds.
      group: the column whose equal values belong together; "" for none.
      in_time_order: whether rows are in time order: the last ones are tested on.

    Raises:
      DataError: its columns do not allow it.
      ConfigError: a part has too few rows, or a fold none.
    """
    prepared = prepare_table(
        table,
        target,
        seed=config.split_seed,
        test_share=config.test,
        validation_share=config.validation,
        leave_out=leave_out,
        as_categories=as_categories,
        group=group,
        in_time_order=in_time_order,
    )
    if config.folds:
        prepared.assign_folds(config.folds, config.split_seed)
    if config.batch_size > (rows := count_images_per_member(len(prepared.split.train), config.folds)):
        beside = " that a member learns from" if config.folds else ""
        note = (
            f"Batch size {config.batch_size:,} exceeds the {rows:,} training rows{beside}: all of them are one batch."
        )
        return replace(prepared, notes=(note, *prepared.notes))
    return prepared


def fit_config_to_table(config: RegressionConfig, table: PreparedTable) -> RegressionConfig:
    """Return the settings with a batch and a validation share that a small table allows.

    `prepare_numeric_table` notes both on the table.
    """
    return _fit_config(config, len(table.split.train), len(table.split.validation))


def fit_config_to_folder(config: RegressionConfig, folder: Path) -> RegressionConfig:
    """As `fit_config_to_table`, for the table in a folder."""
    description = read_table_description(folder)
    return _fit_config(config, description.train, description.validation)


def _fit_config(config: RegressionConfig, rows: int, held: int) -> RegressionConfig:
    config = replace(config, batch_size=min(config.batch_size, count_images_per_member(rows, config.folds)))
    return config if held else replace(config, validation=0.0, patience=0)


def create_run_with_table(config: RegressionConfig, source: Path, tags: Iterable[str] = ()) -> Run:
    """Create a run that learns from the table in another folder, which stays as it is.

    Args:
      config: its settings, which fit the table.
      source: the folder.
      tags: words to find the run by.
    """
    return RUN_STORE.create(config, tags=tags, write_table=functools.partial(copy_table, source))


def copy_table(source: Path, folder: Path) -> None:
    """Copy the table in one folder into another, with what its test rows hold."""
    for name in (*TABLE_FILES, TARGETS_FILE, DETAILS_FILE, GROUPS_FILE):
        if (source / name).exists():
            shutil.copyfile(source / name, folder / name)


def create_numeric_run(
    config: RegressionConfig, table: PreparedTable, placement: Placement | None = None, tags: Iterable[str] = ()
) -> Run:
    """Create a run's folder with its table, state `queued`; nothing works on it yet.

    Raises:
      AccessError: whoever asks may not, or has enough of them.
      RunError: the folder cannot be written, or a tag is too long.
    """
    config = fit_config_to_table(config, table)
    return RUN_STORE.create(config, placement, tags, write_table=build_table_writer(table))


def launch_numeric_run(config: RegressionConfig, table: PreparedTable, placement: Placement | None = None) -> Run:
    """Create a run and start its worker; otherwise as `create_numeric_run`."""
    run = create_numeric_run(config, table, placement)
    RUN_STORE.start_worker(run)
    return run


def build_table_writer(table: PreparedTable) -> Callable[[Path], None]:
    """A function that writes a table, and what its test rows hold, into a new folder."""

    def write_table_files(folder: Path) -> None:
        write_prepared_table(folder, table)
        rows = table.split.test
        names = [f"row {number}" for number in table.row_numbers[rows]]
        write_numeric_targets(folder, table.targets[rows], names, select_groups(table.groups, rows))

    return write_table_files
