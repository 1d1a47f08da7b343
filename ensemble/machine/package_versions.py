"""Versions of the packages that a run's numbers depend on."""

import functools
import importlib.metadata
import os
import sys

_PACKAGES = ("jax", "jaxlib", "flax", "optax", "orbax-checkpoint", "numpy")


def read_package_versions() -> dict[str, str]:
    """Versions of the packages that a run's numbers depend on, as they are installed now."""
    return dict(_read_cached_versions(tuple((folder, _read_folder_mtime(folder)) for folder in sys.path)))


@functools.lru_cache(maxsize=1)
def _read_cached_versions(places: tuple[tuple[str, int], ...]) -> dict[str, str]:
    # Reading the six takes longer than making a run; a package that is installed, updated or
    # removed changes the folder that it is in.
    return {name: importlib.metadata.version(name) for name in _PACKAGES}


def _read_folder_mtime(folder: str) -> int:
    """When something last came into a folder or went, in nanoseconds; 0 if there is none."""
    try:
        return os.stat(folder or ".").st_mtime_ns
    except OSError:
        return 0
