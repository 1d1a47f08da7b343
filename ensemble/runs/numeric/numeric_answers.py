"""What the members of a run that was trained here say of the rows of a new table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.errors import RunError
from ensemble.runs.epoch_choice import select_default_epoch
from ensemble.runs.epoch_files import build_damaged_epoch_error, read_epoch_arrays
from ensemble.runs.parameters import list_parameter_epochs
from ensemble.runs.store import Run, require_regression_config
from ensemble.storage.arrays.npy import ExpectedArray
from ensemble.tables.prepared_table import read_table_description
from ensemble.tables.raw_table import RawTable
from ensemble.tables.table_encoding import TableEncoding

if TYPE_CHECKING:
    from ensemble.engine.numeric.numeric_networks import NumericNetwork

_ANSWER_LEVEL = 0.9  # of the intervals


@dataclass(frozen=True)
class _NumericAnswers:
    """An ensemble's answers for N rows.

    Attributes:
      mixture: the members' normal distributions, in the target's unit.
      epoch: after which the members were asked.
      notes: what was assumed of the table, in sentences.
      extrapolated: (N,), which rows have a number outside the training range.
    """

    mixture: NormalMixture
    epoch: int
    notes: tuple[str, ...]
    extrapolated: NDArray[np.bool_]

    def compute_columns(self) -> dict[str, NDArray[np.generic]]:
        """Mean, standard deviation with its parts and the ends of the `_ANSWER_LEVEL` interval, (N,) each."""
        mixture, tail = self.mixture, (1 - _ANSWER_LEVEL) / 2
        return {
            "mean": mixture.compute_mean(),
            "sd": np.sqrt(mixture.compute_variance()),
            "low": mixture.compute_quantile(tail),
            "high": mixture.compute_quantile(1 - tail),
            "aleatoric_sd": np.sqrt(mixture.compute_aleatoric_variance()),
            "epistemic_sd": np.sqrt(mixture.compute_epistemic_variance()),
            "extrapolated": self.extrapolated,
        }


def _select_answering_epoch(run: Run, epoch: int | None = None) -> int:
    """The epoch whose members are asked: the one named, else the one that predictions are of.

    Raises:
      RunError: its members are not kept.
    """
    kept = list_parameter_epochs(run.path)
    if not kept:
        raise RunError(f"The run “{run.id}” is {run.state} and has no members to ask yet.")
    if epoch is None:
        return select_default_epoch(run, kept)
    if epoch not in kept:
        raise RunError(f"The run “{run.id}” has no members of epoch {epoch}: it has {', '.join(map(str, kept))}.")
    return epoch


def load_numeric_members(run: Run, epoch: int) -> tuple["NumericNetwork", Any]:
    """The network of a regression and its parameters after an epoch: (M, …), M as in `Run.remaining_members`.

    Raises:
      RunError: its members are not here, or damaged.
      DataError: the description of its table cannot be read.
      ConfigError: its network is a person's own, and is not allowed here.
    """
    from ensemble.engine.numeric.numeric_trainer import build_numeric_network  # JAX: who only looks needs none.

    features = len(read_table_description(run.path).encoding.feature_names)
    network = build_numeric_network(require_regression_config(run), features)
    expected = {name: ExpectedArray((run.config.members, *leaf.shape)) for name, leaf in network.shapes.items()}
    arrays = read_epoch_arrays(run.path, "parameters", epoch, expected)
    remaining = list(run.remaining_members(epoch))
    arrays = {name: array[remaining].astype(network.shapes[name].dtype) for name, array in arrays.items()}
    return network, network.nest_arrays(arrays)


def answer_table(run: Run, table: RawTable, epoch: int | None = None) -> _NumericAnswers:
    """Predict every row of a table with the columns that the members were trained on.

    Args:
      run: one that was trained here.
      table: as it was read; other columns, the target among them, are not looked at.
      epoch: counted from 1; None for the one that predictions are of.

    Raises:
      RunError: its members are not here, or damaged.
      DataError: a column is missing, or is not numeric although it was in training.
      ConfigError: its network is a person's own, and is not allowed here.
    """
    epoch = _select_answering_epoch(run, epoch)
    encoding = read_table_description(run.path).encoding
    features, notes = encoding.encode_features(table)
    mixture = load_row_predictor(run, epoch, encoding)(features)
    extrapolated, beyond = encoding.find_extrapolated_rows(table)
    assumed = (*table.notes, *encoding.list_gap_notes(table), *notes, *beyond)
    return _NumericAnswers(mixture, epoch, assumed, extrapolated)


def load_row_predictor(run: Run, epoch: int, encoding: TableEncoding) -> Callable[..., NormalMixture]:
    """Load the members that remained after an epoch, as a function that predicts rows.

    Its arguments are encoded rows (n, F) and, if not all members are asked, their places among those
    that remained. Predictions are in the target's unit.

    Args:
      run: one that was trained here.
      epoch: counted from 1.
      encoding: of its table.

    Raises:
      RunError: the members are not here, or damaged; the function raises it as well.
      ConfigError: their network is a person's own, and is not allowed here.
    """
    import jax  # Whoever only looks at a run needs none.

    from ensemble.engine.numeric import predict_rows

    network, params = load_numeric_members(run, epoch)

    def predict(features: NDArray[np.float32], places: Sequence[int] | None = None) -> NormalMixture:
        asked = params if places is None else jax.tree.map(lambda leaf: leaf[list(places)], params)
        mean, variance = predict_rows(network, asked, features)
        try:
            return NormalMixture(
                mean.astype(np.float64) * encoding.target_scale + encoding.target_mean,
                variance.astype(np.float64) * encoding.target_scale**2,
            )
        except ValueError as error:
            raise build_damaged_epoch_error(run.path, "parameters", epoch, str(error)) from error

    return predict
