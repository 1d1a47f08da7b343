"""What one file holds, as far as it is known before its numbers are read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.example_details import NO_DETAILS, ExampleDetails
from ensemble.errors import PredictionsError
from ensemble.exchange.checks.label_readings import LabelReadingError
from ensemble.files.numbers import DecimalSignError
from ensemble.files.table import TableError

_Blocks = Callable[[int], Iterator[NDArray[Any]]]


@dataclass(frozen=True, eq=False)
class FilePredictions:
    """One file's predictions, and what it says beside them.

    Attributes:
      kind: "probabilities" or "logits".
      shape: of their array as it stands in the file.
      blocks: given the numbers K of a row, the numbers themselves in C order, (R, K) at a time.
      labels: whatever the file has under that name: numbers or text of any shape, or None.
      class_names: as the file has them, or None.
      member_names: likewise.
      split: likewise; "" if it does not say.
      noun: what one example is; "" if it does not say.
      examples: what a table calls its examples, in their order; None if they are numbered.
      images: reads them for N examples; None if there are none.
      image_bytes: what they take once they are uint8.
      notes: what was assumed so far.
      groups: names or numbers of each example's group, (N,), or None.
      details: what the examples are called, and what else is known of each.
      reorder: gives the same with its examples in another order, (N,) of their numbers; None where
        they have no names to be ordered by.
      unlabelled: (N,), which examples are to be left out beside those without a label; None for
        none.
    """

    kind: str
    shape: tuple[int, ...]
    blocks: _Blocks
    labels: NDArray[Any] | None = None
    class_names: tuple[str, ...] | None = None
    member_names: tuple[str, ...] | None = None
    split: str = ""
    noun: str = ""
    examples: tuple[str, ...] | None = None
    images: Callable[[int], tuple[NDArray[np.uint8], list[str]]] | None = None
    image_bytes: int = 0
    notes: list[str] = field(default_factory=list)
    groups: NDArray[Any] | None = None
    details: ExampleDetails = NO_DETAILS
    reorder: "Callable[[NDArray[np.int64]], FilePredictions] | None" = None
    unlabelled: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False)
class NamedFilePredictions:
    """A file by its name, and what it holds."""

    name: str
    predictions: FilePredictions


@contextmanager
def name_file_in_errors(name: str) -> Iterator[None]:
    try:
        yield
    except LabelReadingError as error:
        raise LabelReadingError(f"{name}: {error}", error.options) from error
    except DecimalSignError as error:
        raise DecimalSignError(f"{name}: {error.question}") from error
    except (PredictionsError, TableError) as error:
        raise PredictionsError(f"{name}: {error}") from error
