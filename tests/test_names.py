"""Names can be found by one search: their figures do not rise again."""

import ast
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.conftest import REPO

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Shares, as they stand; what is renamed brings them down, and then these.
MOST_ONE_WORD, MOST_SHARED, MOST_ONE_WORD_METHODS = 0.05, 0.05, 0.70
# Titles that a framework or the documented figures ask for in several modules.
ASKED_FOR = {"main"}


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    """Every module of the program, by its path."""
    paths = [path for top in ("ensemble", "pages") for path in sorted((REPO / top).rglob("*.py"))]
    return {path: ast.parse(path.read_text()) for path in paths}


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


def test_no_more_methods_and_inner_functions_are_called_by_one_word(trees: dict[Path, ast.Module]) -> None:
    names = []
    for tree in trees.values():
        outer = {id(node) for node in tree.body}
        names += [
            node.name
            for node in ast.walk(tree)
            if isinstance(node, FUNCTIONS)
            and id(node) not in outer
            and not (node.name.startswith("__") and node.name.endswith("__"))
        ]
    short = Counter(filter(is_one_word, names))
    assert sum(short.values()) <= MOST_ONE_WORD_METHODS * len(names), short.most_common(20)


def test_the_formatter_decides_every_line() -> None:
    marks = ["# fmt: " + word for word in ("skip", "off", "on")]
    for top in ("ensemble", "pages", "tests", "benchmarks"):
        for path in sorted((REPO / top).rglob("*.py")):
            text = path.read_text()
            assert not [mark for mark in marks if mark in text], path
