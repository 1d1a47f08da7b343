"""Training from Python on a table: an ensemble that predicts one of its columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ensemble.api.numeric_predictions import NumericJudgement, open_numbers
from ensemble.api.run_progress import poll_job_status
from ensemble.config import RegressionConfig
from ensemble.errors import DataError, RunError
from ensemble.exchange.data_tables import read_data_table
from ensemble.runs.annotations.names import normalize_run_name, rename_run
from ensemble.runs.numeric.numeric_answers import answer_table
from ensemble.runs.numeric.numeric_launch import launch_numeric_run, prepare_numeric_table
from ensemble.runs.status import Status
from ensemble.runs.store import Run, find_regression_run, request_run_stop, resume_run
from ensemble.tables.raw_table import RawTable
from ensemble.wording.runs.training import describe_training_progress

if TYPE_CHECKING:
    import pandas as pd

_ANSWER_LEVEL = 0.9


@dataclass(frozen=True)
class _NumberTraining:
    """A run that learns, or has learnt, to predict a column of a table.

    Attributes:
      id: its name on the screens and on the command line.
      notes: what was assumed of the table, in sentences.
    """

    id: str
    notes: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """How it stands: “finished”, “stopped”, “diverged” or on the way there."""
        return find_regression_run(self.id).state

    def judge(self, epoch: int | None = None) -> NumericJudgement:
        """What its predictions of the test rows come to; as of `ensemble.open_numbers`."""
        return open_numbers(self.id, epoch)

    def predict(self, table: Any, epoch: int | None = None) -> "pd.DataFrame":
        """Predict new rows: `mean`, `sd`, `low`, `high` of 90 %, sd's parts, and `extrapolated`.

        `extrapolated` marks rows with a number outside the training range.

        Args:
          table: a DataFrame, columns by name, or the path of a CSV or Parquet file; other columns
            than those learnt from are not looked at.
          epoch: after which the members are asked; None for the one that predictions are of.

        Raises:
          RunError: its members are not kept.
          DataError: a column is missing.
        """
        import numpy as np
        import pandas as pd

        answers = answer_table(find_regression_run(self.id), _read_table(table), epoch)
        mixture = answers.mixture
        tail = (1 - _ANSWER_LEVEL) / 2
        return pd.DataFrame(
            {
                "mean": mixture.compute_mean(),
                "sd": np.sqrt(mixture.compute_variance()),
                "low": mixture.compute_quantile(tail),
                "high": mixture.compute_quantile(1 - tail),
                "aleatoric_sd": np.sqrt(mixture.compute_aleatoric_variance()),
                "epistemic_sd": np.sqrt(mixture.compute_epistemic_variance()),
                "extrapolated": answers.extrapolated,
            }
        )

    def resume(self, *, progress: bool = True) -> "_NumberTraining":
        """Go on where it was stopped, to the same bits, and wait for it.

        Raises:
          RunError: it has ended otherwise, or fails.
        """
        resume_run(self.id)
        _wait_for_training(self.id, progress)
        return self


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
    progress: bool = True,
    **settings: Any,
) -> _NumberTraining:
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
      progress: whether a line an epoch is printed.

    Raises:
      ConfigError: settings out of their range, or too few rows for them; no run is made.
      DataError: the table cannot be read, or its columns do not allow it; no run is made.
      RunError: the run could not be made, or failed.
    """
    config = RegressionConfig.from_dict({**(config or RegressionConfig()).as_dict(), **settings})
    name = normalize_run_name(name)
    prepared = prepare_numeric_table(
        config,
        _read_table(table),
        target=target,
        leave_out=tuple(leave_out),
        as_categories=tuple(categories),
        group=group,
        in_time_order=in_time_order,
    )
    run = launch_numeric_run(config, prepared)
    if name:
        rename_run(run.id, name)
    _wait_for_training(run.id, progress)
    return _NumberTraining(run.id, prepared.notes)


def _wait_for_training(run_id: str, progress: bool) -> None:
    last_words = [""]

    def print_status(status: Status) -> None:
        words = describe_training_progress(status)
        if progress and words != last_words[0]:
            last_words[0] = words
            print(words, flush=True)

    def find_run() -> Run:
        return find_regression_run(run_id)

    try:
        poll_job_status(find_run, print_status)
    except KeyboardInterrupt:
        request_run_stop(run_id)
        poll_job_status(find_run, print_status)
    run = find_run()
    if run.state == "failed":
        raise RunError(f"The run “{run_id}” failed. {run.message}")


def _read_table(table: Any) -> RawTable:
    """A table of either kind; a DataFrame by way of a Parquet file, which any of its types fits."""
    if isinstance(table, str | Path):
        return read_data_table(Path(table))
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
        return read_data_table(path, "The table")
