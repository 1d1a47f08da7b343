"""IDX, the format of MNIST's files: a header of 4 + 4·d bytes, then the bytes themselves.

Format: Y. LeCun, "The MNIST database of handwritten digits", section "File formats": two zero
bytes, a type (8 is uint8), the number of dimensions, each dimension as a big-endian uint32.
"""

import gzip
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

UINT8 = 8


def parse_idx_file(packed: bytes, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """The array in gzipped IDX bytes.

    Args:
      packed: the file as it came, still gzipped.
      shape: what its dimensions have to be.

    Raises:
      ValueError: the bytes are not a gzipped IDX file of uint8 of this shape.
    """
    try:
        raw = gzip.decompress(packed)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"not a complete gzip file ({error})") from error
    header = struct.pack(f">HBB{len(shape)}I", 0, UINT8, len(shape), *shape)
    if raw[: len(header)] != header or len(raw) != len(header) + int(np.prod(shape)):
        raise ValueError(f"not an IDX file of bytes of shape {shape}")
    return np.frombuffer(raw, np.uint8, offset=len(header)).reshape(shape)
