"""A page of the documents for each screen: its picture, its words in the address, its equals."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ensemble
from ensemble.ui.shared import address
from tests.documents import REPO, list_inline_code, list_links, list_shell_lines, list_table_rows

PAGES = sorted((REPO / "docs" / "screens").glob("*.md"))
SCREENS = sorted(path.stem for path in (REPO / "pages").glob("*.py"))
# What a name in the Python of these pages stands for.
CLASSES = {"run": ensemble.Run, "made": ensemble.Predictions, "asked": ensemble.Predictions}


def list_address_words(page: Path) -> set[str]:
    """The words that the first column of a page's table names."""
    rows = list_table_rows(page.read_text("utf-8"))
    return {word for row in rows for word in list_inline_code(row[0])}


def list_known_words() -> set[str]:
    """The words that an address may have: those of the app, and of what is chosen in a view."""
    parameters = [one for one in vars(address).values() if isinstance(one, address.QueryParameter)]
    views = "\n".join(path.read_text("utf-8") for path in (REPO / "ensemble/views").rglob("*.py"))
    return {one.name for one in parameters} | set(re.findall(r'\bChoice\(\s*"(\w+)"', views))


def test_every_screen_has_a_page() -> None:
    assert [page.stem for page in PAGES] == SCREENS


def test_the_first_page_leads_to_every_screen() -> None:
    links = list_links((REPO / "docs" / "index.md").read_text("utf-8"))
    assert {f"screens/{screen}.md" for screen in SCREENS} - links == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_a_question_a_picture_and_a_command(page: Path) -> None:
    text = page.read_text("utf-8")
    assert re.search(r"^\*\*[^*]+\?\*\*", text, re.M)
    assert any(link.endswith(".png") for link in list_links(text))
    assert any(line.startswith("ensemble ") for line in list_shell_lines(text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_word_of_the_address_is_one_that_is_read(page: Path) -> None:
    assert list_address_words(page) - list_known_words() == set()


def test_every_word_of_the_address_stands_on_a_page() -> None:
    parameters = [one for one in vars(address).values() if isinstance(one, address.QueryParameter)]
    named = {word for page in PAGES for word in list_address_words(page)}
    assert {one.name for one in parameters} - named == set()


def list_calls(text: str) -> Iterator[ast.Call | ast.Attribute]:
    """What the Python of a page calls and asks for."""
    for block in re.findall(r"^```python\n(.*?)^```", text, re.S | re.M):
        yield from (node for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Call | ast.Attribute))


def find_owner(node: ast.expr) -> object:
    """What stands before a dot, of what is known: the package, a run, predictions."""
    if isinstance(node, ast.Name):
        return ensemble if node.id == "ensemble" else CLASSES.get(node.id)
    return None


@pytest.mark.parametrize(
    "page", [page for page in PAGES if "```python" in page.read_text()], ids=lambda page: page.stem
)
def test_what_a_page_calls_from_python_is_there_and_takes_it(page: Path) -> None:
    looked_at = 0
    for node in list_calls(page.read_text("utf-8")):
        name = node.func if isinstance(node, ast.Call) else node
        if not isinstance(name, ast.Attribute) or not (owner := find_owner(name.value)):
            continue
        looked_at += 1
        if name.attr in getattr(owner, "__dataclass_fields__", {}):
            continue
        found = getattr(owner, name.attr)  # an AttributeError says which
        if isinstance(node, ast.Call):
            given = {word.arg: None for word in node.keywords if word.arg}
            itself = [] if owner is ensemble else [None]
            inspect.signature(found).bind(*itself, *[None for _ in node.args], **given)
    assert looked_at
