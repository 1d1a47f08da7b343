"""Traces of programs, kept on disk beside the programs that JAX keeps.

JAX keeps what XLA has compiled, and looks for it by the program's text. For that text a new process
traces the function in Python and lowers it: a second for the tower's training step, which is most
of what a start costs that finds everything else ready. `kept` writes the text down as well, in the
form that `jax.export` has for it (StableHLO of a stated version), in `traces/` of JAX's own folder
of compiled programs, and only where and while JAX is told to keep those. The arithmetic is the same
to the last bit: it is the same text.

A trace is found by all that it was made from: this package's sources, the versions of JAX, Flax and
Optax, JAX's settings, its name and settings, and the shapes and types of its arguments.
"""

import functools
import hashlib
import importlib.util
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import flax
import jax
import optax
from jax import export

MOST = 64  # The one that was not used for longest goes; each has some 50 KB.
DIGEST_BYTES = 32

Named = TypeVar("Named", bound=type)


def written_down(kind: Named) -> Named:
    """A named tuple that may be among the arguments or results of what is kept."""
    name = f"{kind.__module__}.{kind.__name__}"
    export.register_namedtuple_serialization(kind, serialized_name=name)
    return kind


def kept(name: str, function: Callable[..., Any], *settings: object) -> Callable[..., Any]:
    """The same function, to be compiled by `jax.jit` or `jax.pmap`, traced once for all processes.

    Args:
      name: what it is called, once in this package.
      function: of arrays in tuples, lists, dicts and what is `written_down`. What it does depends
        on nothing but them, `settings` and this package's sources, and asks for no axis by name.
      settings: what else decides what it does; told apart by their `repr`.
    """

    def call(*arguments: Any) -> Any:
        folder = traces_folder()
        if folder is None:
            return function(*arguments)
        leaves, structure = jax.tree.flatten(arguments)
        shapes = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves]
        made_from = (name, settings, str(structure), shapes)
        file = folder / hashlib.sha256(repr((_circumstances(), made_from)).encode()).hexdigest()
        text = read(file)
        if text is None:
            traced = export.export(jax.jit(function))(*jax.tree.unflatten(structure, shapes))
            text = traced.serialize()
            write(file, text)
        return export.deserialize(text).call(*arguments)

    call.__name__ = name  # In profiles, too.
    return call


def traces_folder() -> Path | None:
    """Where traces are kept; None where JAX keeps nothing, or not on this machine's disk.

    Only for CPUs: the tower, whose trace is long, is theirs alone.
    """
    config, folder = jax.config, jax.config.values["jax_compilation_cache_dir"]
    if not folder or "://" in folder or not config.values["jax_enable_compilation_cache"]:
        return None
    if jax.default_backend() != "cpu" or not _can_be_written():
        return None
    return Path(folder) / "traces"


def read(file: Path) -> bytearray | None:
    """What `write` wrote, and that it was used now; None where that is not there, or not whole."""
    try:
        content = file.read_bytes()
        os.utime(file)
    except OSError:
        return None
    digest, text = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    return bytearray(text) if hashlib.sha256(text).digest() == digest else None


def write(file: Path, text: bytes | bytearray) -> None:
    """Keep it, and let those go that are too many. A disk that says no keeps nothing."""
    beside = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(hashlib.sha256(text).digest() + text)
        beside.replace(file)
        for old in sorted(file.parent.iterdir(), key=_used, reverse=True)[MOST:]:
            old.unlink(missing_ok=True)
    except OSError:
        return


def _used(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:  # Another process has let it go.
        return 0.0


def _circumstances() -> tuple[object, ...]:
    """What all traces of this process are made from."""
    settings = {name: value for name, value in jax.config.values.items() if "cache" not in name}
    return _sources(), jax.__version__, flax.__version__, optax.__version__, settings


@functools.cache
def _sources() -> str:
    """A digest of this package's files."""
    found = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        found.update(file.name.encode() + file.read_bytes())
    return found.hexdigest()


@functools.cache
def _can_be_written() -> bool:
    """Whether there is what `jax.export` writes with; without it all is traced each time."""
    return importlib.util.find_spec("flatbuffers") is not None
