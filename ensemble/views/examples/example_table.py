"""Examples as a table: a row each, with what the members and the ensemble say of it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.example_measures import compute_measures
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.datasets.example_details import NO_DETAILS, ExampleDetails

MAX_PROBABILITIES = 2_000_000  # probabilities in a table: of more, a spreadsheet opens none
LISTED_CLASSES = 5


def tabulate_examples(
    predictions: EnsemblePredictions, numbers: Ints, names: Sequence[str], details: ExampleDetails = NO_DETAILS
) -> pd.DataFrame:
    """One row for each of the images `numbers`, in that order.

    Columns: number, what `details` say of it (its name, and more), label, ensemble (names of
    classes), right, every measure by its name, each member's vote, the averaged probability of
    each class; of more than `MAX_PROBABILITIES` of these, the likeliest classes with theirs.
    """
    named = np.asarray(names, object)
    known = details.take(numbers)
    columns = {
        "number": numbers,
        **({"example": known.names} if known.names else {}),
        **{f"example_{column}": values for column, values in known.columns.items()},
        "label": named[predictions.labels[numbers]],
        "ensemble": named[predictions.said[numbers]],
        "right": predictions.right[numbers],
        **{name: values[numbers] for name, values in compute_measures(predictions).items()},
    }
    columns |= {f"member_{m + 1}": named[predictions.votes[m, numbers]] for m in range(predictions.members)}
    if len(numbers) * len(names) <= MAX_PROBABILITIES:
        columns |= {f"p_{name}": predictions.averaged[numbers, c] for c, name in enumerate(names)}
    else:
        columns |= _tabulate_likeliest_classes(predictions, numbers, named)
    return pd.DataFrame(columns)


def _tabulate_likeliest_classes(
    predictions: EnsemblePredictions, numbers: Ints, named: NDArray[np.object_]
) -> dict[str, Any]:
    """Columns of the `LISTED_CLASSES` likeliest classes of each image, and their averaged probabilities."""
    likeliest = np.empty((len(numbers), min(LISTED_CLASSES, len(named))), np.int64)
    for rows in iterate_blocks(len(numbers), len(named)):
        part = predictions.averaged[numbers[rows]]
        likeliest[rows] = np.argsort(-part, axis=1, kind="stable")[:, : likeliest.shape[1]]
    columns: dict[str, Any] = {}
    for place, classes in enumerate(likeliest.T, 1):
        columns |= {f"likeliest_{place}": named[classes], f"p_{place}": predictions.averaged[numbers, classes]}
    return columns
