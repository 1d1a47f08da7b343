"""Data flows one way: data → engine → runs → analysis → ui → pages.

Reads every import, also relative ones and those inside functions, and keeps what
design decided: who may import whom, and from where Streamlit and JAX can be reached.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent

COMMON = {"config", "errors"}
PACKAGE = COMMON | {"processor", "data", "engine", "runs", "analysis", "ui", "cli"}
# Floor: the other floors that it may import.
MAY_IMPORT = {
    "config": {"errors"},
    "errors": set(),
    "processor": set(),
    "data": COMMON,
    "engine": COMMON | {"processor"},
    "analysis": COMMON,
    "runs": COMMON | {"processor", "data", "engine", "analysis"},
    "cli": PACKAGE - {"ui"},
    "ui": PACKAGE - {"cli"},
    "pages": PACKAGE - {"cli"},
    "app": PACKAGE - {"cli"},
}
WITHOUT_JAX = COMMON | {"processor", "analysis"}
SHOWS_PAGES = {"ui", "pages", "app"}


def read_sources() -> dict[str, str]:
    """Every module of the app by its dotted name; a package by its name with `.__init__`."""
    files = [*(REPO / "ensemble").rglob("*.py"), *(REPO / "pages").glob("*.py"), REPO / "app.py"]
    return {
        ".".join(file.relative_to(REPO).with_suffix("").parts): file.read_text("utf-8")
        for file in files
        if file.exists()
    }


def floor_of(module: str) -> str | None:
    """`ensemble.runs.worker` is on the floor `runs`; None for what is not of this project."""
    top, *rest = module.split(".")
    if top in {"pages", "app"}:
        return top
    if top != "ensemble" or not rest or rest[0] == "__init__":
        return None
    return "cli" if rest[0].startswith(("__main__", "cli")) else rest[0]


def imported_names(module: str, source: str) -> Iterator[str]:
    """Dotted names that a module imports; `from a import b` counts as `a` and as `a.b`."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom():
                base = node.module or ""
                if node.level:
                    parent = module.split(".")[: -node.level]
                    base = ".".join([*parent, base]) if base else ".".join(parent)
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)
            case ast.Call(func=ast.Name("__import__") | ast.Attribute(attr="import_module")):
                if node.args and isinstance(name := node.args[0], ast.Constant):
                    yield str(name.value)


def offences(sources: dict[str, str]) -> list[str]:
    """What breaks the rules, in words."""
    found = set()
    for module, source in sources.items():
        floor = floor_of(module)
        if floor is None:
            floor = "errors"  # the package's own __init__ is as bare as its barest module
        if floor not in MAY_IMPORT:
            found.add(f"{module}: there is no floor {floor}")
            continue
        names = set(imported_names(module, source))
        for other in {floor_of(name) for name in names} & (PACKAGE | {"pages", "app"}):
            if other != floor and other not in MAY_IMPORT[floor]:
                found.add(f"{module}: {floor} imports {other}")
        if floor not in SHOWS_PAGES and any(is_within(name, "streamlit") for name in names):
            found.add(f"{module}: {floor} imports streamlit")
        if floor in WITHOUT_JAX and any(is_within(name, "jax") for name in names):
            found.add(f"{module}: {floor} imports jax")
    return sorted(found)


def is_within(name: str, package: str) -> bool:
    """Whether a dotted name is the package or something in it."""
    return name == package or name.startswith(f"{package}.")


def test_data_flows_one_way() -> None:
    assert offences(read_sources()) == []


def test_reads_the_modules_that_there_are() -> None:
    assert {"ensemble.__init__", "ensemble.config", "ensemble.errors"} <= set(read_sources())


@pytest.mark.parametrize(
    ("module", "source", "offence"),
    [
        ("ensemble.engine.model", "from ensemble import runs", "engine imports runs"),
        ("ensemble.engine.model", "import ensemble.runs.worker as w", "engine imports runs"),
        ("ensemble.engine.model", "from ..data import load", "engine imports data"),
        ("ensemble.engine.__init__", "from .. import data", "engine imports data"),
        ("ensemble.data.mnist", "def f():\n    import streamlit", "data imports streamlit"),
        ("ensemble.runs.worker", "from streamlit.web import cli", "runs imports streamlit"),
        ("ensemble.runs.worker", "if True:\n    from ensemble.ui import x", "runs imports ui"),
        ("ensemble.analysis.ece", "import jax.numpy as jnp", "analysis imports jax"),
        ("ensemble.analysis.ece", "from ensemble.engine.model import CNN", "imports engine"),
        ("ensemble.analysis.ece", "importlib.import_module('jax')", "analysis imports jax"),
        ("ensemble.config", "from ensemble.data import load", "config imports data"),
        ("ensemble.__init__", "from ensemble import config", "errors imports config"),
        ("ensemble.__main__", "from ensemble.ui import theme", "cli imports ui"),
        ("ensemble.cli.train", "import streamlit as st", "cli imports streamlit"),
        ("ensemble.ui.charts", "from pages import train", "ui imports pages"),
        ("pages.train", "import pages.runs", None),
        ("ensemble.helpers", "", "there is no floor helpers"),
    ],
)
def test_sees_an_offence(module: str, source: str, offence: str | None) -> None:
    found = offences({module: source})
    assert (offence is None and found == []) or (len(found) == 1 and str(offence) in found[0])


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("ensemble.runs.worker", "from ensemble import data, engine\nimport jax"),
        ("ensemble.runs.worker", "from . import status\nfrom .status import Status"),
        ("ensemble.analysis.ece", "import jaxtyping\nfrom ensemble.errors import DataError"),
        ("ensemble.__main__", "from ensemble.runs import launch"),
        (
            "pages.train",
            "import streamlit as st\nfrom ensemble import runs\nfrom ensemble.ui import x",
        ),
    ],
)
def test_lets_the_permitted_pass(module: str, source: str) -> None:
    assert offences({module: source}) == []
