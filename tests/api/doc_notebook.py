"""docs/python.md as a notebook, docs/python.ipynb: python -m tests.api.doc_notebook

The page is the source: its texts become cells of text, its walk cells of code, one for each answer
that the page shows. Before them stands the training of the run that the walk looks at.
"""

import doctest
import json
import re
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[2]
PAGE, NOTEBOOK = REPO / "docs" / "python.md", REPO / "docs" / "python.ipynb"
FENCE = re.compile(r"```python\n(?=>>>)(.*?)```\n", re.DOTALL)
FIRST_CELL = """import ensemble

ensemble.train(ensemble.Config(members=3, epochs=2), name="three of them")"""


def build_notebook() -> dict[str, Any]:
    """The notebook as its file holds it (nbformat 4.5), without outputs."""
    page = PAGE.read_text("utf-8")
    intro, rest = page.split("\n## ", 1)
    parts = FENCE.split("## " + rest)
    cells = [_build_cell("markdown", intro), _build_cell("code", FIRST_CELL)]
    for number, part in enumerate(parts):
        if number % 2 == 0:
            cells += [_build_cell("markdown", part)] if part.strip() else []
        else:
            cells += [_build_cell("code", source) for source in split_examples(part)]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def split_examples(block: str) -> list[str]:
    """The code of a block of examples, cut after each that shows an answer."""
    cells, lines = [], ""
    for example in doctest.DocTestParser().get_examples(block):
        lines += example.source
        if example.want:
            cells.append(lines)
            lines = ""
    return [*cells, lines] if lines else cells


def _build_cell(kind: str, source: str) -> dict[str, Any]:
    code: dict[str, Any] = {}
    if kind == "code":
        code = {"execution_count": None, "outputs": []}
    lines = source.strip().splitlines(keepends=True)
    return {"cell_type": kind, "id": "", "metadata": {}, "source": lines, **code}


def format_notebook() -> str:
    """The text of the notebook's file."""
    return json.dumps(build_notebook(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    NOTEBOOK.write_text(format_notebook(), "utf-8")
