"""The imports of a source are those of its syntax tree, however they are found."""

import ast

import pytest

from tests.conftest import REPO
from tests.sources import find_imports

CODE = '"""A module.\n\nimport text\n"""\nimport os, sys\n\nPROGRAM = """\nimport json\n"""\n'
FOLDERS = ("ensemble", "pages", "tests", "benchmarks")


def parse_imports(source: str) -> list[str]:
    """The same by the syntax tree of all of it."""
    nodes = ast.walk(ast.parse(source))
    return sorted(ast.unparse(n) for n in nodes if isinstance(n, ast.Import | ast.ImportFrom))


@pytest.mark.parametrize(
    "source",
    [
        CODE,
        "from a import (  # many\n    b,\n    c as d,\n)\n\n\ndef f():\n    from .. import e\n",
        "from a import (\n    b,  # (or another)\n    c,\n)\n",
        "import a \\\n    as b\n",
        'QUOTES = \'"""\'\nimport a\n',
        "TEXT = '''\nfrom here on\n'''\nfrom a import b\n",
        "with x:\n\timport a  # here\n",
        "imports = 1\nfromage = 2\n",
    ],
)
def test_imports_are_found(source: str) -> None:
    assert sorted(map(ast.unparse, find_imports(source))) == parse_imports(source)


@pytest.mark.variant  # The rules that ask for them hold for what is found.
def test_the_imports_of_every_file_are_found() -> None:
    for folder in FOLDERS:
        for file in (REPO / folder).rglob("*.py"):
            source = file.read_text("utf-8")
            found = sorted(map(ast.unparse, find_imports(source)))
            assert found == parse_imports(source), file
