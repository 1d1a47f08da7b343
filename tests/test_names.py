"""Names can be found by one search: their figures do not rise again."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPO

Nodes = dict[type[ast.AST], list[tuple[Path, Any]]]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Shares, as they stand; what is renamed brings them down, and then these.
MOST_ONE_WORD, MOST_SHARED, MOST_ONE_WORD_METHODS = 0.05, 0.05, 0.70
# Titles that a framework or the documented figures ask for in several modules.
ASKED_FOR = {"main"}


@pytest.fixture(scope="module")
def trees(collector: None) -> dict[Path, ast.Module]:
    """Every module of the program, by its path."""
    paths = [path for top in ("ensemble", "pages") for path in sorted((REPO / top).rglob("*.py"))]
    return {path: ast.parse(path.read_text()) for path in paths}


@pytest.fixture(scope="module")
def nodes(trees: dict[Path, ast.Module]) -> Nodes:
    """Every node of them, by its kind, with the path."""
    found = defaultdict(list)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            found[type(node)].append((path, node))
    return found


def is_one_word(name: str) -> bool:
    return "_" not in name.strip("_")


def list_module_functions(tree: ast.Module) -> list[str]:
    return [node.name for node in tree.body if isinstance(node, FUNCTIONS)]


def test_few_functions_of_modules_are_called_by_one_word(trees: dict[Path, ast.Module]) -> None:
    names = [name for tree in trees.values() for name in list_module_functions(tree)]
    short = Counter(filter(is_one_word, names))
    assert sum(short.values()) <= MOST_ONE_WORD * len(names), short.most_common(20)


def test_few_functions_share_their_name_with_another_modules(trees: dict[Path, ast.Module]) -> None:
    places = defaultdict(list)
    for path, tree in trees.items():
        for name in list_module_functions(tree):
            places[name].append(path.relative_to(REPO).as_posix())
    shared = {name: found for name, found in places.items() if len(found) > 1}
    count = sum(len(found) for name, found in shared.items() if name not in ASKED_FOR)
    assert count <= MOST_SHARED * sum(map(len, places.values())), shared


def test_no_more_methods_and_inner_functions_are_called_by_one_word(
    trees: dict[Path, ast.Module], nodes: Nodes
) -> None:
    outer = {id(node) for tree in trees.values() for node in tree.body}
    names = [
        node.name
        for kind in FUNCTIONS
        for _, node in nodes[kind]
        if id(node) not in outer and not (node.name.startswith("__") and node.name.endswith("__"))
    ]
    short = Counter(filter(is_one_word, names))
    assert sum(short.values()) <= MOST_ONE_WORD_METHODS * len(names), short.most_common(20)


def test_the_formatter_decides_every_line() -> None:
    marks = ["# fmt: " + word for word in ("skip", "off", "on")]
    for top in ("ensemble", "pages", "tests", "benchmarks"):
        for path in sorted((REPO / top).rglob("*.py")):
            text = path.read_text()
            assert not [mark for mark in marks if mark in text], path


WORD = re.compile(r"[A-Za-z_]\w*")
# Packages in which a reader needs no docstring: what they show says it.
PLAIN_PACKAGES = {"cli", "figures", "report", "ui", "views", "wording"}
# Classes that are called by the quantity itself.
QUANTITIES = {
    *("CacheKey", "ExportFormat", "ImageShape", "JobStatus", "OnSelect", "OodSet", "OptState", "RunFilter"),
    *("SoftTargets", "ConfidenceThreshold", "BestValue", "MeanGain"),
}
MAX_POSITIONAL = 5
ARRAY_METHODS = {"reshape", "transpose"}


@pytest.fixture(scope="module")
def words() -> Counter[str]:
    """In how many files of the repository each word is."""
    found: Counter[str] = Counter()
    for top in ("ensemble", "pages", "app.py", "tests", "benchmarks", "docs", "scripts", "CONTRIBUTING.md"):
        for path in [REPO / top, *(REPO / top).rglob("*")]:
            if path.is_file() and path.suffix in (".py", ".md", ".toml", ""):
                found.update(set(WORD.findall(path.read_text("utf-8"))))
    return found


def list_defined_names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def test_a_name_that_one_module_uses_starts_with_an_underscore(
    trees: dict[Path, ast.Module], words: Counter[str]
) -> None:
    wrong = [
        f"{path.relative_to(REPO)}: {name}"
        for path, tree in trees.items()
        if path.is_relative_to(REPO / "ensemble") and not path.name.startswith("__")
        for name in list_defined_names(tree)
        if words[name] == 1 and not name.startswith("_") and not is_found_by_its_form(path, name, tree)
    ]
    assert wrong == []


def is_found_by_its_form(path: Path, name: str, tree: ast.Module) -> bool:
    """Views, commands, entry points, networks and type variables: a registry or a library asks for their name."""
    if f"ensemble.{'.'.join(path.relative_to(REPO / 'ensemble').with_suffix('').parts)}:{name}" in ast.unparse(tree):
        return True
    if path.is_relative_to(REPO / "ensemble/views") and name == f"build_{path.stem}":
        return True
    if name.startswith("run_") and name.endswith("_command"):
        return True
    if f"{name} = TypeVar(" in ast.unparse(tree):
        return True
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    return any("Module" in ast.unparse(base) for node in classes for base in node.bases)


def test_no_call_has_more_than_five_arguments_without_their_names(nodes: Nodes) -> None:
    functions = [node for kind in FUNCTIONS for _, node in nodes[kind] if not node.args.vararg]
    ours = {node.name for node in functions} | {node.name for _, node in nodes[ast.ClassDef]}
    wrong = [
        f"{path.relative_to(REPO)}:{call.lineno}"
        for path, call in nodes[ast.Call]
        if len(call.args) > MAX_POSITIONAL
        and not any(isinstance(argument, ast.Starred) for argument in call.args)
        and ast.unparse(call.func).rpartition(".")[2] in {*ours, "cls"} - ARRAY_METHODS
    ]
    assert wrong == []


def test_what_other_packages_import_has_a_docstring(trees: dict[Path, ast.Module], nodes: Nodes) -> None:
    imported = {
        (node.module, alias.name)
        for path, node in nodes[ast.ImportFrom]
        if node.module and node.module.startswith("ensemble.")
        if get_package(path) != node.module.split(".")[1]
        for alias in node.names
    }
    bare = [
        f"{module}.{node.name}"
        for path, tree in trees.items()
        if get_package(path) not in PLAIN_PACKAGES
        for module in [".".join(path.relative_to(REPO).with_suffix("").parts)]
        for node in tree.body
        if isinstance(node, (*FUNCTIONS, ast.ClassDef))
        if (module, node.name) in imported and not ast.get_docstring(node)
    ]
    assert bare == []


def get_package(path: Path) -> str:
    parts = path.relative_to(REPO).parts
    return parts[1] if parts[0] == "ensemble" and len(parts) > 2 else ""


def test_a_parameter_is_called_by_its_quantity_and_not_by_its_class(nodes: Nodes) -> None:
    wrong = []
    for path, node in nodes[ast.arg]:
        if node.annotation and "_" in node.arg:
            kind = ast.unparse(node.annotation).replace(" | None", "").strip("'").rpartition(".")[2]
            if kind not in QUANTITIES and re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower() == node.arg:
                wrong.append(f"{path.relative_to(REPO)}:{node.lineno}: {node.arg}")
    assert wrong == []
