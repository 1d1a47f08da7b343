"""Weights that members start from, in place of what they would draw: `train --from FILE`.

A file is an .npz or .safetensors of arrays by the names of the network's own (`ensemble
network NAME` lists them): (M, …) for a set for each member, or one set for all. What was taken lies
in the run's folder, so that its training needs nothing else.
"""

import functools
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.jobs.network_probe import NetworkProbe
from ensemble.runs.run_folder import NOTE_FILE
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npz import read_arrays, write_arrays
from ensemble.storage.arrays.safetensors import read_safetensors
from ensemble.storage.atomic_files import write_bytes

WEIGHTS_FILE = "start_weights.npz"
_SAFETENSORS_SUFFIX = ".safetensors"
Shapes = Mapping[str, tuple[int, ...]]
_MAX_BYTES_PER_NUMBER = 8
# What a file may hold beside the weights: an optimizer's state, an encoder of another task.
_MAX_OTHER_BYTES = 2**30
_LISTED_NAMES = 3


@dataclass(frozen=True, eq=False)
class StartWeights:
    """What members start from.

    Attributes:
      arrays: by the network's own names, float32: (M, …), or (…) where all members have the same.
      notes: what was taken of the file, and how, a sentence each.
    """

    arrays: dict[str, NDArray[np.float32]]
    notes: tuple[str, ...]


def load_start_weights(source: str | Path | Mapping[str, Any], config: EnsembleConfig) -> StartWeights:
    """The weights of a file, or arrays by name, matched with the network of a run to be.

    Args:
      source: an .npz or .safetensors file, or a (nested) mapping of names to arrays.
      config: of the run; a process of its own says what its network's arrays are.

    Raises:
      ConfigError: it cannot be read, or does not fit the network or the members.
    """
    result = NetworkProbe(str(config.network), str(config.dataset), width=config.width).wait()
    if result.problem:
        raise ConfigError(result.problem)
    shapes = dict(result.layers)
    if isinstance(source, Mapping):
        return match_start_weights(_flatten_names(source), shapes, config, "what was given")
    path = Path(source)
    return match_start_weights(_read_weights_file(path, shapes, config), shapes, config, path.name)


def match_start_weights(
    given: Mapping[str, NDArray[Any]], shapes: Shapes, config: EnsembleConfig, title: str
) -> StartWeights:
    """Which of a network's arrays start from which of those that are given.

    Args:
      given: by names; `params/` before them, and dots in place of slashes, are no matter.
      shapes: of the network's arrays, by its own names.
      config: of the run.
      title: what to call where they are from.

    Raises:
      ConfigError: none has a name of the network's, one comes twice, or its shape is another.
    """
    plain_names = {_simplify_name(name): name for name in shapes}
    arrays: dict[str, NDArray[np.float32]] = {}
    left = []
    for name, array in given.items():
        own_name = plain_names.get(_simplify_name(name))
        if own_name is None:
            left.append(name)
            continue
        if own_name in arrays:
            raise ConfigError(f"{title} has {own_name} twice: leave one of them out.")
        arrays[own_name] = _check_weights(own_name, array, shapes[own_name], config, title)
    if not arrays:
        raise ConfigError(_describe_strange_names(given, shapes, config, title))
    missing = [name for name in shapes if name not in arrays]
    own = [name for name, array in arrays.items() if array.ndim > len(shapes[name])]
    return StartWeights(
        arrays, tuple(_list_notes(title, shapes, arrays=arrays, missing=missing, left=left, own=own, config=config))
    )


def write_start_weights(folder: Path, weights: StartWeights) -> None:
    """Keep in a new run's folder what its members start from; OSError where that fails.

    The run is not its settings alone then: its note says so, in reports too.
    """
    write_arrays(folder / WEIGHTS_FILE, weights.arrays)
    write_bytes(folder / NOTE_FILE, "\n\n".join(weights.notes).encode())


def identify_start_weights(folder: Path) -> str:
    """A short digest of the weights that a run's members were given; "" where they were drawn."""
    path = folder / WEIGHTS_FILE
    try:
        stat = path.stat()
    except OSError:
        return ""
    return _digest_file(path, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=256)
def _digest_file(path: Path, *_version: int) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:8]
    except OSError:
        return ""


def _read_weights_file(path: Path, shapes: Shapes, config: EnsembleConfig) -> Mapping[str, Any]:
    numbers = sum(int(np.prod(shape)) for shape in shapes.values())
    most_bytes = numbers * config.members * _MAX_BYTES_PER_NUMBER + _MAX_OTHER_BYTES
    try:
        if path.suffix.lower() == _SAFETENSORS_SUFFIX:
            return read_safetensors(path, most_bytes)
        return read_arrays(path, None, most_bytes)
    except DamagedFileError as error:
        raise ConfigError(
            f"{path.name} cannot be read ({error}): weights are an .npz or a .safetensors file of arrays by name."
        ) from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror or error}).") from error


def _check_weights(
    name: str, given: Any, shape: tuple[int, ...], config: EnsembleConfig, title: str
) -> NDArray[np.float32]:
    """An array as float32, once its shape is the network's, or that of all members."""
    try:
        array = np.asarray(given, np.float32)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{name} of {title} holds no numbers.") from error
    if array.shape not in (shape, (config.members, *shape)):
        if array.ndim == len(shape) + 1 and array.shape[1:] == shape:
            raise ConfigError(
                f"{name} of {title} is of {array.shape[0]} members, and the run has "
                f"{config.members}: set members to {array.shape[0]}, or give one set for all."
            )
        raise ConfigError(
            f"{name} of {title} has the shape {array.shape}, and the network needs {shape}, or "
            f"{(config.members, *shape)} for a set for each member: leave it out to have it drawn."
        )
    if not np.isfinite(array).all():
        raise ConfigError(f"{name} of {title} holds a number that is not finite.")
    return array


def _list_notes(
    title: str,
    shapes: Shapes,
    arrays: Mapping[str, Any],
    missing: list[str],
    left: list[str],
    own: list[str],
    config: EnsembleConfig,
) -> list[str]:
    one_set = "all members from one set"
    which = one_set if not own else f"each of the {config.members} members from its own set"
    if own and len(own) < len(arrays):
        which += f" of {_list_names(own)}, and from one set of the others"
    notes = [f"{len(arrays)} of the network's {len(shapes)} arrays start from {title}, {which}."]
    if missing:
        notes.append(f"{_list_names(missing)}: not in {title}, and drawn as usual.")
    if left:
        notes.append(f"{_list_names(left)} of {title}: of no such name here, and left out.")
    if not own and not missing and not (config.has_member_views or config.vary):
        notes.append(
            "Members that start alike and see the same images in the same order stay alike: tell "
            "them apart with --shuffle-per-member or --bootstrap."
        )
    if config.folds:
        notes.append(
            f"Labels are judged as if {title} had learnt from none of the training images: where "
            "it has, draw the weights instead."
        )
    return notes


def _describe_strange_names(given: Mapping[str, Any], shapes: Shapes, config: EnsembleConfig, title: str) -> str:
    if not given:
        return f"{title} holds no arrays."
    sentence = (
        f"No array of {title} ({_list_names(list(given))}) has a name of this network's "
        f"({_list_names(list(shapes))}): `ensemble network {config.network}` lists them."
    )
    if any(re.search(r"\.(weight|running_mean)$", name) for name in given):
        sentence += " Names in .weight are PyTorch's: rename them, and turn the axes of kernels as Flax has them."
    return sentence


def _list_names(names: list[str]) -> str:
    listed = ", ".join(f"{name:.60}" for name in names[:_LISTED_NAMES])
    return f"{listed} and {len(names) - _LISTED_NAMES} more" if len(names) > _LISTED_NAMES else listed


def _simplify_name(name: str) -> str:
    return name.replace(".", "/").removeprefix("params/")


def _flatten_names(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            flat |= _flatten_names(value, f"{prefix}{name}/")
        else:
            flat[f"{prefix}{name}"] = value
    return flat
