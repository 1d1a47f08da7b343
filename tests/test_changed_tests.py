"""Which tests are of what changed, in a checkout of a few files."""

from pathlib import Path

import pytest

from tests.changed_tests import REPO, ImportGraph

TREE = {
    "ensemble/sums/__init__.py": "from ensemble.sums.adding import add\nfrom ensemble.sums.taking import take\n",
    "ensemble/sums/adding.py": "def add(): ...\n",
    "ensemble/sums/taking.py": "from ensemble.sums.adding import add\n\n\ndef take(): ...\n",
    "ensemble/sums/unasked.py": "",
    "ensemble/ui/sums/panel.py": "from ensemble import sums\n\nsums.take()\n",
    "ensemble/ui/sums/part.py": "",
    "ensemble/ui/sums/whole.py": "import ensemble.ui.sums.part\n",
    "ensemble/ui/sums/page.py": "from ensemble.ui.sums import panel, whole\n",
    "ensemble/report/static/sums.js": "",
    "pages/sums.py": "from ensemble.ui.sums.page import panel\n",
    "tests/sums/conftest.py": "",
    "tests/sums/test_adding.py": "from ensemble.sums import add\n",
    "tests/sums/test_taking.py": "ENTRY = 'ensemble.sums.taking:take'\n",
    "tests/ui/test_panel.py": "from ensemble.ui.sums import panel\n",
    "tests/pages/test_sums.py": "PAGE = 'pages/sums.py'\n",
    "tests/pages/test_script.py": "SCRIPT = 'sums.js'\n",
}


@pytest.fixture
def graph(tmp_path: Path) -> ImportGraph:
    for path, text in TREE.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return ImportGraph(tmp_path)


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        # What a package passes on is the module's: who takes another name from it is no importer.
        ("ensemble/sums/adding.py", ["sums/test_adding", "sums/test_taking"]),
        ("ensemble/sums/taking.py", ["sums/test_taking", "ui/test_panel"]),
        ("ensemble/ui/sums/part.py", ["pages/test_sums"]),
        ("ensemble/ui/sums/panel.py", ["pages/test_sums", "ui/test_panel"]),
        ("pages/sums.py", ["pages/test_sums"]),
        ("ensemble/report/static/sums.js", ["pages/test_script"]),
        ("ensemble/sums/unasked.py", ["sums/test_adding", "sums/test_taking"]),
        ("tests/sums/conftest.py", ["sums/test_adding", "sums/test_taking"]),
        ("tests/ui/test_panel.py", ["ui/test_panel"]),
        ("LICENSE", []),
    ],
)
def test_tests_are_those_that_import_what_changed_or_what_imports_it(
    graph: ImportGraph, changed: str, tests: list[str]
) -> None:
    assert sorted(graph.find_tests([changed])) == [f"tests/{name}.py" for name in tests]


@pytest.mark.long
def test_every_module_of_the_package_has_tests() -> None:
    graph = ImportGraph(REPO)
    modules = [path for path in graph.sources if path.startswith("ensemble/") and not path.endswith("__init__.py")]
    assert len(modules) > 500
    assert [path for path in modules if not graph.find_tests([path])] == []
