"""A cache on disk of arrays that take seconds to make and come out the same each time.

The key is a digest of what they were made from, the program's own source included: another version
makes its own. Nothing depends on the files; they may be deleted at any time.
"""

import contextlib
import functools
import hashlib
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.storage.arrays.array_digest import digest_named_arrays
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npz import Arrays, read_arrays, write_arrays
from ensemble.storage.folders import data_folder

_CACHE_FOLDER = "kept"  # below the data folder; the name is documented
MAX_CACHE_BYTES = 256 * 1024 * 1024  # of the whole cache; what was used last stays
_PACKAGES = ("jax", "numpy", "scipy", "pillow")
# Folders that draw and say what others have reckoned: no number depends on them.
_IGNORED_PACKAGES = {"cli", "figures", "ui", "wording"}


def load_or_compute_arrays(name: str, made_from: str, make: Callable[[], Arrays]) -> Arrays:
    """The arrays that `make` makes, read from the cache where they are there.

    Args:
      name: the beginning of the file's name.
      made_from: what it depends on beside the program: a dataset, a digest of parameters.
      make: called where the file is missing or damaged. A full disk raises nothing.
    """
    path = _locate_cache_file(name, made_from)
    try:
        arrays = read_arrays(path, None, MAX_CACHE_BYTES, need_checksum=True)
        os.utime(path)
        return arrays
    except (OSError, DamagedFileError):
        result = make()
        with contextlib.suppress(OSError):  # A full disk costs the next one seconds, no more.
            _write_cache_file(path, result)
        return result


def is_kept(name: str, made_from: str) -> bool:
    """Whether `load_or_compute_arrays` would find a file, which it may still find damaged."""
    return _locate_cache_file(name, made_from).is_file()


def _locate_cache_file(name: str, made_from: str) -> Path:
    whole = f"{name} {made_from} {_digest_program_source()}"
    digest = hashlib.sha256(whole.encode()).hexdigest()[:20]
    return data_folder() / _CACHE_FOLDER / f"{name}-{digest}.npz"


def digest_array_list(tree: list[NDArray[np.generic]]) -> str:
    """SHA-256 of the arrays' types, shapes and bytes, in their order."""
    return digest_named_arrays((str(number), array) for number, array in enumerate(tree))


@functools.cache
def _digest_program_source() -> str:
    """SHA-256 of the source that numbers depend on, and of the packages' versions."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256(" ".join(map(version, _PACKAGES)).encode())
    for file in sorted(root.rglob("*.py")):
        if file.relative_to(root).parts[0] not in _IGNORED_PACKAGES:
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _write_cache_file(path: Path, arrays: Arrays) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_arrays(path, arrays)
    files = sorted(path.parent.glob("*.npz"), key=lambda cache_file: cache_file.stat().st_mtime, reverse=True)
    total = 0
    for file in files:
        total += file.stat().st_size
        if total > MAX_CACHE_BYTES:
            file.unlink(missing_ok=True)
