"""Imports run one way, from the disk up to the screens: storage … engine → jobs → runs → ui.

Reads every import, also relative ones and those inside functions, and keeps what design
decided: who may import whom, that no modules import each other in a circle, and from where
Streamlit and JAX can be reached.
"""

import ast
import functools
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sources import find_imports

REPO = Path(__file__).resolve().parent.parent

# From the bottom to the top: each may import those before it.
FLOORS = (
    "errors",
    "extras",
    "settings",
    "architectures",
    "optimizers",
    "storage",
    "files",
    "access",
    "analysis",
    "pictures",
    "datasets",
    "tables",
    "config",
    "machine",
    "engine",
    "cluster",
    "jobs",
    "runs",
    "regression",
    "shift",
    "sweeps",
    "recognition",
    "acquisition",
    "comparison",
    "planning",
    "exchange",
    "wording",
    "figures",
    "views",
    "report",
    "export",
    "api",
    "serving",
    "cli",
    "ui",
    "pages",
    "app",
)
# The face for Python, the command line and the screens stand beside each other.
BESIDE = {(one, other) for one in ("cli", "ui", "pages", "app") for other in ("api", "cli") if one != other}
# What the package itself opens when it is asked for: tests/test_imports.py: none is loaded before.
FACE = {"api", "datasets", "figures", "runs"}
# These draw and say what others have reckoned; nothing else may reach Streamlit.
SHOWS_PAGES = {"ui", "pages", "app"}
WITHOUT_JAX = {
    "errors",
    "settings",
    "config",
    "storage",
    "access",
    "analysis",
    "cluster",
    "wording",
    "figures",
    "views",
    "report",
}


def read_sources() -> dict[str, str]:
    """Every module of the app by its dotted name; a package by its name with `.__init__`."""
    files = [*(REPO / "ensemble").rglob("*.py"), *(REPO / "pages").glob("*.py"), REPO / "app.py"]
    return {
        ".".join(file.relative_to(REPO).with_suffix("").parts): file.read_text("utf-8")
        for file in files
        if file.exists()
    }


def floor_of(module: str) -> str | None:
    """`ensemble.runs.store` is on the floor `runs`; None for what is not of this project."""
    top, *rest = module.split(".")
    if top in {"pages", "app"}:
        return top
    if top != "ensemble" or not rest or rest[0] in {"__init__", "__version__"}:
        return None
    return "cli" if rest[0] == "__main__" else rest[0]


@functools.cache
def imported_names(module: str, source: str) -> frozenset[str]:
    """Dotted names that a module imports; `from a import b` counts as `a` and as `a.b`."""
    return frozenset(names_in_turn(module, source))


def names_in_turn(module: str, source: str) -> Iterator[str]:
    for node in find_imports(source):
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
    if "__import__" not in source and "import_module" not in source:
        return
    for call in ast.walk(ast.parse(source)):
        match call:
            case ast.Call(func=ast.Name("__import__") | ast.Attribute(attr="import_module")):
                if call.args and isinstance(name := call.args[0], ast.Constant):
                    yield str(name.value)


def may_import(floor: str, other: str) -> bool:
    """Whether modules on one floor may import from another."""
    below = other in FLOORS and FLOORS.index(other) <= FLOORS.index(floor)
    return below and (floor, other) not in BESIDE


def offences(sources: dict[str, str]) -> list[str]:
    """What breaks the rules, in words."""
    found = set()
    for module, source in sources.items():
        floor = floor_of(module)
        opened = FACE if floor is None else {"views"} if module == "ensemble.figures.__init__" else set()
        if floor is None:
            floor = "errors"  # the package's own __init__ is as bare as its barest module
        if floor not in FLOORS:
            found.add(f"{module}: there is no floor {floor}")
            continue
        names = imported_names(module, source)
        for other in {floor_of(name) for name in names} - {None, floor} - opened:
            if not may_import(floor, str(other)):
                found.add(f"{module}: {floor} imports {other}")
        if floor not in SHOWS_PAGES and any(is_within(name, "streamlit") for name in names):
            found.add(f"{module}: {floor} imports streamlit")
        if floor in WITHOUT_JAX and any(is_within(name, "jax") for name in names):
            found.add(f"{module}: {floor} imports jax")
    return sorted(found)


def is_within(name: str, package: str) -> bool:
    """Whether a dotted name is the package or something in it."""
    return name == package or name.startswith(f"{package}.")


def circles(sources: dict[str, str]) -> list[str]:
    """Modules that import each other, directly or by way of others, in words."""
    modules = {name.removesuffix(".__init__"): name for name in sources}
    reached = {
        name: {modules[other] for other in imported_names(name, source) if other in modules}
        for name, source in sources.items()
    }
    # A package that gathers its modules is no circle with them.
    for name, others in reached.items():
        others -= {name, *(one for one in others if one.endswith(".__init__"))}
    found = set()
    for name in sources:
        seen, ahead = set(), list(reached[name])
        while ahead:
            if (one := ahead.pop()) not in seen:
                seen.add(one)
                ahead += reached[one]
        if name in seen:
            found.add(name)
    return sorted(found)


def test_imports_run_one_way() -> None:
    assert offences(read_sources()) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(read_sources()) == []


def read_drawn_packages(text: str) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Of a picture in Mermaid: the packages of each box, and the boxes to which arrows lead."""
    (picture,) = re.findall(r"^```mermaid\n(.*?)^```$", text, re.S | re.M)
    labels = dict(re.findall(r"^  (\w+)\[\"(.+)\"\]$", picture, re.M))
    boxes = {box: set(label.partition("<br>")[0].split(", ")) for box, label in labels.items()}
    leads = {box: set[str]() for box in boxes}
    for line in re.findall(r"^  (\w+(?: --> \w+)+)$", picture, re.M):
        for one, other in itertools.pairwise(line.split(" --> ")):
            leads[one].add(other)
    return boxes, leads


def test_the_picture_of_the_packages_has_every_import_and_no_other_arrow() -> None:
    page = REPO / "docs" / "architecture.md"
    boxes, leads = read_drawn_packages(page.read_text("utf-8"))
    box_of = {package: box for box, packages in boxes.items() for package in packages}
    folders = {path.parent.name for path in (REPO / "ensemble").glob("*/__init__.py")}
    assert set(box_of) == folders
    assert sum(map(len, boxes.values())) == len(folders), "a package stands in two boxes"
    found = {box: set[str]() for box in boxes}
    for module, source in read_sources().items():
        if (floor := floor_of(module)) in box_of:
            imported = map(floor_of, imported_names(module, source))
            found[box_of[floor]] |= {box_of[one] for one in imported if one in box_of}
    for box, others in found.items():
        reached, ahead = {box}, [box]
        while ahead:
            more = leads[ahead.pop()] - reached
            reached |= more
            ahead += more
        assert others <= reached, f"{box}: arrows are missing"
        assert leads[box] <= others, f"{box}: arrows that nothing is imported by"


def test_reads_the_modules_that_there_are() -> None:
    assert {"ensemble.__init__", "ensemble.config.ensemble_config", "ensemble.errors"} <= set(read_sources())


@pytest.mark.parametrize(
    ("module", "source", "offence"),
    [
        ("ensemble.engine.step", "from ensemble import runs", "engine imports runs"),
        ("ensemble.engine.step", "import ensemble.runs.store as s", "engine imports runs"),
        ("ensemble.engine.step", "from ..jobs import queue", "engine imports jobs"),
        ("ensemble.engine.__init__", "from .. import jobs", "engine imports jobs"),
        ("ensemble.datasets.idx", "def f():\n    import streamlit", "datasets imports streamlit"),
        ("ensemble.runs.store", "from streamlit.web import cli", "runs imports streamlit"),
        ("ensemble.runs.store", "if True:\n    from ensemble.ui import x", "runs imports ui"),
        ("ensemble.jobs.queue", "from ensemble.runs.store import find_run", "jobs imports runs"),
        ("ensemble.runs.store", "from ensemble.shift import status", "runs imports shift"),
        ("ensemble.analysis.ece", "import jax.numpy as jnp", "analysis imports jax"),
        ("ensemble.analysis.ece", "from ensemble.engine.step import step", "imports engine"),
        ("ensemble.analysis.ece", "importlib.import_module('jax')", "analysis imports jax"),
        ("ensemble.datasets.idx", "from ensemble.config import X", "datasets imports config"),
        ("ensemble.__init__", "from ensemble import config", "errors imports config"),
        ("ensemble.__main__", "from ensemble.ui import theme", "cli imports ui"),
        ("ensemble.__init__", "from ensemble import engine", "errors imports engine"),
        ("ensemble.api.run", "from ensemble.cli import options", "api imports cli"),
        ("ensemble.ui.live", "from ensemble import api", "ui imports api"),
        ("ensemble.ui.live", "from ensemble.cli import program", "ui imports cli"),
        ("ensemble.cli.train", "import streamlit as st", "cli imports streamlit"),
        ("ensemble.figures.chart_style", "import streamlit as st", "figures imports streamlit"),
        ("ensemble.wording.formats", "import streamlit as st", "wording imports streamlit"),
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
        ("ensemble.runs.store", "from ensemble import datasets, engine\nimport jax"),
        ("ensemble.runs.store", "from . import status\nfrom .status import Status"),
        ("ensemble.analysis.ece", "import jaxtyping\nfrom ensemble.errors import DataError"),
        ("ensemble.__main__", "from ensemble.runs import launch_run"),
        ("ensemble.__init__", "from ensemble import runs\nfrom ensemble.api import train"),
        ("pages.train", "import streamlit as st\nfrom ensemble import runs\nfrom ensemble.ui import x"),
    ],
)
def test_lets_the_permitted_pass(module: str, source: str) -> None:
    assert offences({module: source}) == []


def test_sees_a_circle_of_three_and_none_where_a_package_gathers() -> None:
    three = {
        "ensemble.a.x": "from ensemble.b import y",
        "ensemble.b.y": "import ensemble.c.z",
        "ensemble.c.z": "def f():\n    from ensemble.a.x import g",
    }
    assert circles(three) == sorted(three)
    gathers = {"ensemble.a.__init__": "from ensemble.a.x import g", "ensemble.a.x": "import json"}
    assert circles(gathers) == []
