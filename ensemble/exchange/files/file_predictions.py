"""What one file holds, as far as it is known before its numbers are read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Blocks = Callable[[int], Iterator[NDArray[Any]]]


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
      examples: what a table calls its examples, in their order; None if they are numbered.
      images: reads them for N examples; None if there are none.
      image_bytes: what they take once they are uint8.
      notes: what was assumed so far.
      groups: names or numbers of each example's group, (N,), or None.
    """

    kind: str
    shape: tuple[int, ...]
    blocks: Blocks
    labels: NDArray[Any] | None = None
    class_names: tuple[str, ...] | None = None
    member_names: tuple[str, ...] | None = None
    split: str = ""
    examples: tuple[str, ...] | None = None
    images: Callable[[int], tuple[NDArray[np.uint8], list[str]]] | None = None
    image_bytes: int = 0
    notes: list[str] = field(default_factory=list)
    groups: NDArray[Any] | None = None
