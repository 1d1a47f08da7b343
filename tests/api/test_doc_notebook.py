"""docs/python.ipynb is docs/python.md as a notebook, and runs from its first cell to its last."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.api.doc_notebook import NOTEBOOK, REPO, format_notebook

RUN_CELLS = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for source in json.load(sys.stdin):
    shell.run_cell(source).raise_error()
"""


def test_the_notebook_is_the_page() -> None:
    assert NOTEBOOK.read_text("utf-8") == format_notebook(), "python -m tests.api.doc_notebook"


@pytest.mark.variant
def test_every_cell_runs(tmp_path: Path) -> None:
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(sources) >= 20
    done = subprocess.run(
        [sys.executable, "-P", "-c", RUN_CELLS],
        input=json.dumps(sources),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPO), "IPYTHONDIR": str(tmp_path)},
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "accuracy" in done.stdout
