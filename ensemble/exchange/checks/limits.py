"""How much is taken from elsewhere: counts, bytes of an upload, and this machine's memory."""

import os
from collections.abc import Sequence

import numpy as np
import psutil
from numpy.typing import NDArray

from ensemble.config import MAX_MEMBERS
from ensemble.errors import ConfigError, PredictionsError

MOST_EPOCHS = 1000
MOST_MEMBERS = MAX_MEMBERS
_FEWEST_CLASSES, MOST_CLASSES = 2, 2000
MOST_EXAMPLES = 200_000
MOST_SIDE = 1024  # pixels of an image
_MOST_UPLOAD_MB = 500  # without ENSEMBLE_MAX_IMPORT_MB
MAX_UNPACK_RATIO = 8  # times as much as may be uploaded is taken of it, once it is unpacked
ROW_SUM_TOLERANCE = 1e-3  # of a row's sum: 1,000 classes in float16 round to 0.9995 at the least
MAX_MEMORY_SHARE = 0.8  # of the free memory that may be taken

Shape = tuple[int, int, int, int]


def max_import_bytes() -> int:
    """How large an upload may be: `ENSEMBLE_MAX_IMPORT_MB` megabytes, 500 by default.

    Raises:
      ConfigError: the variable is no whole number above 0.
    """
    text = os.environ.get("ENSEMBLE_MAX_IMPORT_MB") or str(_MOST_UPLOAD_MB)
    if not (text.isascii() and text.isdigit() and len(text) < 8 and int(text)):
        raise ConfigError(
            f"ENSEMBLE_MAX_IMPORT_MB is {text!r:.60}: it has to be a whole number of "
            f"megabytes, at least 1, such as {_MOST_UPLOAD_MB}."
        )
    return int(text) * 10**6


def check_import_size(nbytes: int) -> None:
    """Refuse files that are larger together than an upload may be.

    Raises:
      PredictionsError: they are; ConfigError as `max_import_bytes`.
    """
    if nbytes > (most := max_import_bytes()):
        raise PredictionsError(
            f"This has {_format_megabytes(nbytes)}, but an upload may have at most "
            f"{_format_megabytes(most)}: use `ensemble import` on the machine that "
            "serves this page, or raise ENSEMBLE_MAX_IMPORT_MB."
        )


def check_prediction_counts(shape: Sequence[int]) -> None:
    """Refuse more, or fewer, epochs, members, examples or classes than every screen can show.

    Raises:
      PredictionsError: one of them is outside its range.
    """
    ranges = (
        ("epochs", 1, MOST_EPOCHS, "save fewer of them"),
        ("members", 1, MOST_MEMBERS, "choose among them"),
        ("examples", 1, MOST_EXAMPLES, f"take a sample, such as the first {MOST_EXAMPLES:,}"),
        ("classes", _FEWEST_CLASSES, MOST_CLASSES, "leave out or merge some"),
    )
    for count, (noun, least, most, mend) in zip(shape, ranges, strict=True):
        if count < least:
            raise PredictionsError(f"it has {count:,} {noun}: at least {least} are needed.")
        if count > most:
            raise PredictionsError(f"it has {count:,} {noun}, but at most {most:,} are accepted: {mend}.")


def check_free_memory(nbytes: int, most: int | None = None) -> None:
    """Refuse what would not fit into this machine's free memory, or takes more than its share.

    Args:
      nbytes: what it takes.
      most: what an upload may take of a memory that others use too; None for all that is free.

    Raises:
      PredictionsError: it would take more.
    """
    if most is not None and nbytes > most:
        raise PredictionsError(
            f"unpacked, it takes {_format_megabytes(nbytes)}, but an upload may take at "
            f"most {_format_megabytes(most)}: use `ensemble import` on the "
            "machine that serves this page, or give fewer epochs, members or examples."
        )
    free = psutil.virtual_memory().available
    if nbytes > MAX_MEMORY_SHARE * free:
        raise PredictionsError(
            f"it would take {_format_megabytes(nbytes)} of memory, and {_format_megabytes(free)} are "
            "free: give fewer epochs, members or examples."
        )


def estimate_import_bytes(shape: Shape, images: int = 0) -> int:
    """Bytes that taking predictions in needs at its peak: they, and one epoch's averages.

    Args:
      shape: E, M, N, C.
      images: bytes of the images.
    """
    averages = 3 * shape[2] * shape[3] * np.dtype(np.float64).itemsize
    return int(np.prod(shape, dtype=np.int64)) * 4 + averages + images


def allocate_probabilities(shape: Shape) -> NDArray[np.float32]:
    """An array to put predictions (E, M, N, C) into.

    Raises:
      PredictionsError: the system does not give as much.
    """
    try:
        return np.empty(shape, np.float32)
    except MemoryError as error:
        raise PredictionsError(
            f"the system does not provide {_format_megabytes(estimate_import_bytes(shape))} of "
            "memory for it: give fewer epochs, members or examples."
        ) from error


def _format_megabytes(nbytes: int) -> str:
    """A size for people: "512 MB"."""
    return f"{max(1, round(nbytes / 1e6)):,} MB"
