"""Arrays that are in memory already: see `array_source` for their names."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.sources.arrays.array_files import BLOCK
from ensemble.errors import DataError
from ensemble.storage.arrays.npy import DTYPE_KINDS, ArrayHeader


class MemoryArrays:
    """Arrays by their names; an `array_source.NamedArrays`.

    Raises:
      DataError: one is of Python objects.
    """

    name = "what was given"
    origin = "arrays in Python"
    required = "Give images (N, H, W) or (N, H, W, channels) and labels (N,)."

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays, self.names, self.notes = dict(arrays), list(arrays), list[str]()
        for name, array in self._arrays.items():
            if array.dtype.kind not in DTYPE_KINDS:
                raise DataError(f"{name} is an array of Python objects: give numbers or text, all images of one size.")

    def read_header(self, name: str) -> ArrayHeader:
        """Type and shape of an array."""
        array = self._arrays[name]
        return ArrayHeader(array.dtype, array.shape, False, 0)

    def read_array(self, name: str) -> NDArray[Any]:
        """All of an array."""
        return self._arrays[name]

    def iterate_blocks(self, name: str) -> Iterator[NDArray[Any]]:
        """The rows of an array, some at a time."""
        array = self._arrays[name]
        rows = max(1, BLOCK // max(1, array.nbytes // max(1, len(array))))
        for first in range(0, len(array), rows):
            yield np.ascontiguousarray(array[first : first + rows])
