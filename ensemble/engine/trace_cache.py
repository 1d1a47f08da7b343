"""A cache of traced programs on disk, beside JAX's own cache of compiled ones.

JAX caches what XLA has compiled, and finds it by the program's text. To have that text a new
process traces the function in Python and lowers it: a second for the tower's training step, most of
what a start costs where everything else is ready. `cache_trace` stores the text too, as
`jax.export` writes it (StableHLO of a stated version), in `traces/` of JAX's cache folder, and only
while JAX's cache is on. The arithmetic is the same to the last bit: it is the same text.

A trace's key is all that it was made from: the sources of this package and of the optimizers, the
versions of JAX, jaxlib, Flax and Optax, JAX's settings, its name and settings, and the shapes and
types of its arguments.
"""

import contextlib
import hashlib
import importlib
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import flax
import jax
import jaxlib
import optax
from jax import export

from ensemble import optimizers
from ensemble.storage.atomic_files import write_bytes

MAX_STORED_TRACES = 1_000  # The one that was not used for longest goes; each has some 50 KB.
_DIGEST_BYTES = 32

NamedTupleType = TypeVar("NamedTupleType", bound=type)

# Folders of compiled programs that this process has seen to: see `_limit_cache_scans`.
_scanned_folders: set[object] = set()
# Types that cannot be written down. Nothing is cached then, and all is traced each time.
_unserializable_types: list[type] = []


def register_serialization(kind: NamedTupleType) -> NamedTupleType:
    """Register a named tuple, so that a cached function may take or return it; returns the type."""
    name = f"{kind.__module__}.{kind.__name__}"
    try:
        export.register_namedtuple_serialization(kind, serialized_name=name)
    except ValueError:  # Imported again, while somebody writes code; or no named tuple any more.
        _unserializable_types.append(kind)
    return kind


def cache_trace(name: str, function: Callable[..., Any], *settings: object) -> Callable[..., Any]:
    """The function with its trace cached, to be given to `jax.jit` or `jax.pmap`.

    Args:
      name: what it is called, once in this package.
      function: of arrays in tuples, lists, dicts and types given to `register_serialization`. It
        may depend on nothing but these, `settings` and the sources that are read, and name no
        mapped axis.
      settings: what else decides what it does; told apart by their `repr`. With a network of a
        person's own among them nothing is cached: its sources are not this package's.
    """
    foreign = any(getattr(setting, "is_custom", False) for setting in settings)

    def call_cached(*arguments: Any) -> Any:
        traced = None if foreign else _load_or_trace(name, function, settings, arguments)
        return traced.call(*arguments) if traced else function(*arguments)

    call_cached.__name__ = name  # In profiles, too.
    return call_cached


def _load_or_trace(
    name: str, function: Callable[..., Any], settings: tuple[object, ...], arguments: Any
) -> export.Exported | None:
    """The function's trace for arguments of these shapes; None if it cannot be cached."""
    folder = find_traces_folder()
    if folder is None:
        return None
    shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), arguments)
    made_from = repr((_describe_trace_environment(), name, settings, shapes))
    file = folder / hashlib.sha256(made_from.encode()).hexdigest()
    try:
        text = _read_trace(file)
        if text is None:
            text = export.export(jax.jit(function))(*shapes).serialize()
            _write_trace(file, text)
        return export.deserialize(text)
    except (ValueError, NotImplementedError):  # What `jax.export` cannot do, JAX itself can.
        return None


def find_traces_folder() -> Path | None:
    """The cache's folder; None if JAX's cache is off, or not on this machine's disk.

    Only for CPUs: the tower, whose trace is long, is theirs alone.
    """
    config, folder = jax.config, jax.config.values["jax_compilation_cache_dir"]
    if not folder or "://" in folder or not config.values["jax_enable_compilation_cache"]:
        return None
    if jax.default_backend() != "cpu" or _unserializable_types or not _CAN_WRITE:
        return None
    return Path(folder) / "traces"


def _read_trace(file: Path) -> bytearray | None:
    """The text that `_write_trace` stored, marked as used; None if missing or damaged."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):  # Somebody else's folder.
        os.utime(file)
    digest, text = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return bytearray(text) if hashlib.sha256(text).digest() == digest else None


def _write_trace(file: Path, text: bytes | bytearray) -> None:
    """Store the text, delete the least recently used over `MAX_STORED_TRACES`."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(file, hashlib.sha256(text).digest() + text)
        for old in sorted(file.parent.iterdir(), key=_read_last_use, reverse=True)[MAX_STORED_TRACES:]:
            old.unlink(missing_ok=True)


def _read_last_use(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:  # Another process has let it go.
        return 0.0


def _describe_trace_environment() -> tuple[object, ...]:
    settings = {name: value for name, value in jax.config.values.items() if "cache" not in name}
    versions = [package.__version__ for package in (jax, jaxlib, flax, optax)]
    return _SOURCES, versions, settings


def _limit_cache_scans() -> None:
    """Have JAX look once a process, for each folder, whether its cache has become too large.

    JAX (0.10 and 0.11) looks whenever it adds a program, and reads a file of every other one for
    that, while all processes wait for it: with 1,000 programs there, 0.06 s for each that is added.
    """
    cache: Any = importlib.import_module("jax._src.lru_cache")
    look = getattr(cache.LRUCache, "_evict_if_needed", None)
    if look is None:  # Another JAX, which has its own way.
        return

    def evict_once(self: Any, *, additional_size: int = 0) -> None:
        if self.path not in _scanned_folders:
            look(self, additional_size=additional_size)
            _scanned_folders.add(self.path)

    cache.LRUCache._evict_if_needed = evict_once


def _digest_sources() -> str:
    digest = hashlib.sha256()
    for file in (*sorted(Path(__file__).parent.rglob("*.py")), Path(optimizers.__file__)):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


# Read when the code is, or a file that changes later would pass for what runs here.
_SOURCES = _digest_sources()
# Whether there is what `jax.export` writes with.
_CAN_WRITE = importlib.util.find_spec("flatbuffers") is not None
with contextlib.suppress(ImportError):
    _limit_cache_scans()
