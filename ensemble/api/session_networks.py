"""A network that is defined in a notebook cell or a script: written to a file for other processes.

Members are trained by other processes, which import their network by name. What was typed into this
session has none: its source is taken, with the imports, functions, classes and plain values that it
uses, and written into the working folder. Nothing is pickled.
"""

import ast
import builtins
import hashlib
import inspect
import linecache
import math
import symtable
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ensemble.architectures import allow_network, is_custom_network
from ensemble.errors import ConfigError
from ensemble.storage.atomic_files import open_atomic_write

FOLDER = "session_networks"  # in the working folder
_SESSION_MODULE = "__main__"
_MAX_CONSTANT_LENGTH = 10_000
# Where what has no module of its own is looked for.
_COMMON_MODULES = ("jax.numpy", "jax.nn", "jax", "flax.linen", "flax.nnx", "numpy", "functools")
_REMEDY = "put the network into a file, and give its name package.module:Factory"


def name_network(factory: Any) -> str:
    """The name by which other processes import a network, which is allowed from now on.

    Args:
      factory: a module's class, or a function that makes one; of a file that Python finds, or of
        this session, whose source is then written to a file below the working folder.

    Raises:
      ConfigError: it has no name, or its source cannot be had, or uses what no file can hold.
    """
    title = getattr(factory, "__qualname__", None)
    if not isinstance(factory, type | FunctionType) or title is None:
        raise ConfigError(
            f"A network is a class or a function, not a {type(factory).__name__}: give its class, "
            "with every setting of it as a default, or a function that makes it."
        )
    if not title.isidentifier():
        raise ConfigError(
            f"The network {title} is defined inside something else, where no other process finds "
            f"it: define it at the top of a cell or a file."
        )
    name = f"{factory.__module__}:{title}"
    if factory.__module__ == _SESSION_MODULE:
        name = f"{FOLDER}.{_write_session_network(factory)}:{title}"
    if not is_custom_network(name):
        raise ConfigError(f"The network {title} has no name to import it by: {_REMEDY}.")
    allow_network(name)
    return name


def find_session_file(name: str) -> Path | None:
    """The file of a network's source that was written here; None of any other."""
    module = name.partition(":")[0]
    folder, _, stem = module.partition(".")
    return Path(folder, f"{stem}.py") if folder == FOLDER else None


def extract_network_source(factory: Any) -> str:
    """A module's source in which a class or function of this session stands on its own.

    Raises:
      ConfigError: as `name_network`.
    """
    source = _SessionSource(factory.__qualname__)
    source.add_definition(factory)
    parts = (source.imports, source.constants, source.definitions)
    return "\n\n".join("\n".join(part.values()) for part in parts if part) + "\n"


def _write_session_network(factory: Any) -> str:
    text = extract_network_source(factory)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    stem = f"{factory.__qualname__}_{digest}"
    path = Path(FOLDER, f"{stem}.py")
    try:
        path.parent.mkdir(exist_ok=True)
        with open_atomic_write(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise ConfigError(
            f"The network {factory.__qualname__} cannot be written to {path} in the working folder "
            f"({error.strerror or error}): start in a folder that can be written, or {_REMEDY}."
        ) from error
    return stem


class _SessionSource:
    """The source of a network, and of all that it uses, each name once and in order."""

    def __init__(self, title: str) -> None:
        self._title = title
        self.imports: dict[str, str] = {}
        self.constants: dict[str, str] = {}
        self.definitions: dict[str, str] = {}
        self._begun: set[str] = set()

    def add_definition(self, thing: Any) -> None:
        """Add a class or a function of the session, behind what it uses."""
        name = thing.__qualname__
        if name in self._begun:
            return
        self._begun.add(name)
        function = _find_function(thing)
        text = _find_definition(thing, function)
        if text is None or function is None:
            raise ConfigError(
                f"The source of {name} cannot be had from this session, and the process that "
                f"trains {self._title} needs it: {_REMEDY}."
            )
        for used in sorted(_list_used_names(text) - {name}):
            self._add_name(used, function.__globals__)
        self.definitions[name] = f"\n{text}\n"

    def _add_name(self, name: str, namespace: Mapping[str, Any]) -> None:
        if name not in namespace:  # one of Python's own, or what is missing says so itself
            return
        value = namespace[name]
        if hasattr(builtins, name) and getattr(builtins, name) is value:
            return
        if isinstance(value, ModuleType):
            self.imports[name] = f"import {value.__name__} as {name}"
        elif getattr(value, "__module__", None) == _SESSION_MODULE and isinstance(value, type | FunctionType):
            self.add_definition(value)
        elif found := _find_import(value):
            self.imports[name] = f"from {found[0]} import {found[1]} as {name}"
        elif (text := _spell_constant(value)) is not None:
            self.constants[name] = f"{name} = {text}"
        else:
            raise ConfigError(
                f"The network {self._title} uses {name}, which in this session is "
                f"{_describe_value(value)}, and the process that trains it does not have that: "
                f"make it inside the network, or {_REMEDY}."
            )


def _list_used_names(text: str) -> set[str]:
    names: set[str] = set()
    top = symtable.symtable(text, "session", "exec")
    names.update(
        symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced() and not symbol.is_assigned()
    )
    tables = top.get_children()
    while tables:
        table = tables.pop()
        tables.extend(table.get_children())
        names.update(symbol.get_name() for symbol in table.get_symbols() if symbol.is_global())
    return names


def _find_function(thing: Any) -> FunctionType | None:
    candidates = [thing] if isinstance(thing, FunctionType) else list(vars(thing).values())
    for candidate in candidates:
        function = inspect.unwrap(candidate) if callable(candidate) else None
        if (
            isinstance(function, FunctionType)
            and function.__module__ == _SESSION_MODULE
            and linecache.getlines(function.__code__.co_filename)
        ):
            return function
    return None


def _find_definition(thing: Any, function: FunctionType | None) -> str | None:
    """The text of a class or function as it was typed; None where nobody has it."""
    if function is None:
        return None
    code: CodeType = function.__code__
    lines = linecache.getlines(code.co_filename)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name != thing.__name__:
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        if first <= code.co_firstlineno <= (node.end_lineno or first):
            return textwrap.dedent("".join(lines[first - 1 : node.end_lineno])).rstrip()
    return None


def _find_import(value: Any) -> tuple[str, str] | None:
    """The module and the name that a thing can be imported by; None if there is none."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(name, str) or not name.isidentifier():
        return None
    own = getattr(value, "__module__", None)
    for module in (own, *_COMMON_MODULES):
        if not isinstance(module, str) or module == _SESSION_MODULE:
            continue
        if getattr(sys.modules.get(module), name, None) is value:
            return module, name
    return None


def _spell_constant(value: Any) -> str | None:
    """A plain value as Python writes it; None of any other."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if not isinstance(value, int | float | str | bytes | tuple | list | dict | set | None):
        return None
    text = repr(value)
    try:
        same = len(text) <= _MAX_CONSTANT_LENGTH and ast.literal_eval(text) == value
    except (ValueError, SyntaxError, RecursionError, TypeError):
        return None
    return text if same else None


def _describe_value(value: Any) -> str:
    shape = getattr(value, "shape", None)
    kind = type(value).__name__
    return f"an array {tuple(shape)}" if shape is not None else f"a value of type {kind}"
