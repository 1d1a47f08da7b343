"""SHA-256 of named arrays, taken as they are written or read: all of them need not be there."""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHUNK_BYTES = 2**17  # bytes; what is read, copied and hashed in one go stays in the processor's cache


class ArrayDigest:
    """SHA-256 over each array's name, type, shape and bytes, in the order in which they come."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def begin(self, name: str, dtype: "np.dtype[Any]", shape: tuple[int, ...]) -> None:
        """An array comes next; its bytes are given to `update`, in any pieces."""
        self._digest.update(f"{name}\0{dtype.str}\0{shape}\0".encode())

    def update(self, content: NDArray[np.uint8]) -> None:
        """Some more of the array's bytes, uint8 (N,)."""
        self._digest.update(content.data)

    def hexdigest(self) -> str:
        """64 digits in hexadecimal."""
        return self._digest.hexdigest()


def view_array_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The bytes of an array in C order, uint8 (N,); a view where it lies in that order."""
    return np.asarray(array, order="C").reshape(-1).view(np.uint8)


def digest_named_arrays(arrays: Iterable[tuple[str, NDArray[Any]]]) -> str:
    """SHA-256 over the arrays' names, types, shapes and bytes, in their order."""
    digest = ArrayDigest()
    for name, array in arrays:
        digest.begin(name, array.dtype, array.shape)
        digest.update(view_array_bytes(array))
    return digest.hexdigest()
