"""Training from Python on a table: an ensemble that predicts one of its columns."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ensemble.api.numeric_predictions import NumericJudgement, build_judgement
from ensemble.api.run_progress import Progress
from ensemble.api.stored_run import StoredRun
from ensemble.config import EnsembleConfig, ImportedConfig, RegressionConfig
from ensemble.errors import DataError
from ensemble.exchange.data_tables import read_data_table
from ensemble.runs.annotations.names import normalize_run_name, rename_run
from ensemble.runs.numeric.numeric_answers import answer_table
from ensemble.runs.numeric.numeric_launch import launch_numeric_run, prepare_numeric_table
from ensemble.tables.prepared_table import read_table_description
from ensemble.tables.raw_table import RawTable
from ensemble.tables.table_encoding import TableEncoding
from ensemble.views.numeric.evaluated_numbers import evaluate_numeric_run

if TYPE_CHECKING:
    import pandas as pd

    from ensemble.api.view import EvaluatedView


class RegressionRun(StoredRun):
    """A run that predicts numbers, trained on a table here or imported.

    Examples:
      >>> import ensemble
      >>> import numpy as np
      >>> true = np.random.default_rng(0).normal(size=300)
      >>> mean = true + np.random.default_rng(1).normal(size=(4, 300))
      >>> run = ensemble.open_run(ensemble.judge_numbers(mean, true).save("heights"))
      >>> run
      <RegressionRun imported-...: imported, heights, epoch 1 of 1>
      >>> run.task, run.judge().evaluation.ensemble.examples
      ('regression', 300)
    """

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed of its table, in sentences; none of one that was imported."""
        return tuple(read_table_description(self.path).notes) if self.stored.settings else ()

    @property
    def config(self) -> RegressionConfig | ImportedConfig:
        """Its settings; of one that was imported no more than its predictions say."""
        config = self.stored.config
        assert not isinstance(config, EnsembleConfig)
        return config

    def judge(self, epoch: int | None = None) -> NumericJudgement:
        """Judge its predictions of the test rows, as `ensemble.open_numbers` does."""
        return build_judgement(evaluate_numeric_run(self.stored, epoch))

    def view(self, name: str, epoch: int | None = None, **choices: object) -> "EvaluatedView":
        """Show one of the views of the page Numbers; see `NumericJudgement.view`."""
        return self.judge(epoch).view(name, **choices)

    def predict(self, table: Any, epoch: int | None = None, *, decimal: str = "") -> "pd.DataFrame":
        """Predict new rows: `mean`, `sd`, `low`, `high` of 90 %, sd's parts, and `extrapolated`.

        `extrapolated` marks rows with a number outside the training range. The answers have the index of a
        DataFrame. Assumptions, such as the values used for missing ones, and unused columns are warnings.

        Args:
          table: a DataFrame, columns by name, or the path of a CSV or Parquet file; other columns
            than those learned from are ignored. Each column is read as it was in training.
          epoch: after which the members are asked; None for the one that predictions are of.
          decimal: "point" or "comma", if numbers can be read in two ways; "" to decide from the cells and
            the run's own table.

        Raises:
          RunError: its members are not kept.
          DataError: a column is missing.
        """
        import pandas as pd

        encoding = read_table_description(self.path).encoding
        answers = answer_table(self.stored, read_table(table, encoding, decimal), epoch)
        for note in answers.notes:
            warnings.warn(note, stacklevel=2)
        return pd.DataFrame(answers.compute_columns(), index=table.index if isinstance(table, pd.DataFrame) else None)


def train_numbers(
    table: Any,
    target: str,
    config: RegressionConfig | None = None,
    *,
    name: str = "",
    leave_out: Sequence[str] = (),
    categories: Sequence[str] = (),
    group: str = "",
    in_time_order: bool = False,
    decimal: str = "",
    progress: Progress | bool = True,
    **settings: Any,
) -> RegressionRun:
    """Train an ensemble that predicts a column of numbers in a table, and wait for it.

    A process of its own trains; an interrupt (Ctrl-C) stops it at a checkpoint.

    Args:
      table: a DataFrame, columns by name, or the path of a CSV or Parquet file.
      target: the column to predict.
      config: the settings; or
      settings: some of them by name: `members=5, epochs=40`.
      name: what to call the run.
      leave_out: columns that are not to be learnt from.
      categories: columns of numbers that stand for kinds.
      group: the column whose equal values belong together, such as a patient; not learned from.
      in_time_order: whether rows are in time order: the last ones are tested on.
      decimal: "point" or "comma", if numbers can be read in two ways; "" to decide from the cells.
      progress: called with each new status; True prints one line per epoch, False nothing.

    Raises:
      ConfigError: settings out of their range, or too few rows for them; no run is made.
      DataError: the table cannot be read, or its columns do not allow it; no run is made.
      RunError: the run could not be made, or failed.
    """
    config = RegressionConfig.from_dict({**(config or RegressionConfig()).as_dict(), **settings})
    name = normalize_run_name(name)
    prepared = prepare_numeric_table(
        config,
        read_table(table, decimal=decimal),
        target=target,
        leave_out=tuple(leave_out),
        as_categories=tuple(categories),
        group=group,
        in_time_order=in_time_order,
    )
    run = launch_numeric_run(config, prepared)
    if name:
        rename_run(run.id, name)
    return RegressionRun(run.id).wait(progress)


def read_table(table: Any, encoding: TableEncoding | None = None, decimal: str = "") -> RawTable:
    """Read a table of either kind; a DataFrame by way of a Parquet file, which any of its types fits.

    Args:
      table: the table.
      encoding: of `read_data_table`.
      decimal: likewise.

    Raises:
      ConfigError: `decimal` is another word.
      DataError: it is neither, or cannot be read.
    """
    if isinstance(table, str | Path):
        return read_data_table(Path(table), decimal=decimal, encoding=encoding)
    import pandas as pd

    frame = pd.DataFrame(table) if isinstance(table, Mapping) else table
    if not isinstance(frame, pd.DataFrame):
        raise DataError(
            f"table is a {type(table).__name__}: "
            "give a DataFrame, columns by name, or the path of a CSV or Parquet file."
        )
    frame = frame.rename(columns=str)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        try:
            frame.to_parquet(path, index=False)
        except (ValueError, TypeError, OverflowError) as error:
            raise DataError(
                f"The table cannot be read ({' '.join(str(error).split()):.150}): give each column one type."
            ) from error
        return read_data_table(path, "The table", decimal, encoding)
