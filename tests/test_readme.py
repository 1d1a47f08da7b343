"""The pages of the documents: short, with links, pictures and commands that are there."""

import importlib.util
import re
import shlex
from pathlib import Path

import click
import pytest
from PIL import Image

from ensemble.__main__ import main
from tests.documents import PAGES, README, REPO, list_inline_code, list_shell_lines

PICTURES = sorted((REPO / "docs").glob("*.png"))
MOVING_PICTURE = REPO / "docs" / "first-run.webp"

MAX_LINES = 120
MAX_PICTURE_BYTES = 250_000
MAX_MOVING_BYTES = 2_000_000
# Words that stand for what a reader puts there, each with something that parses.
STANDS_FOR = {"RUN": "digits-0101-000000", "IMAGE...": "number.jpg", "FILE...": "ensemble.npz"}
# What begins like one in a line: the name of a format.
NOT_COMMANDS = {"ensemble capsule 1"}
# What our commands begin with, and the other programs that a page may tell a reader to start.
OWN_PROGRAMS = ("ensemble", "scripts/", "python -m benchmarks.")
OTHER_PROGRAMS = (
    *("cd", "curl", "docker", "export", "git tag", "install", "kubectl", "python predict.py"),
    *("python3 -m venv", "qsub", "systemctl"),
)


def relative(path: Path) -> str:
    return path.relative_to(REPO).as_posix()


def words_of(pages: list[Path]) -> str:
    return "\n".join(page.read_text("utf-8") for page in pages)


def links(page: Path) -> set[str]:
    """Where a page's links and pictures lead, but for those to other machines."""
    found = re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))
    return {link.partition("#")[0] for link in found if "://" not in link} - {""}


def commands(beginning: str) -> list[str]:
    """Every command of the pages that begins so, in a block of code or within a line."""
    text = words_of(PAGES)
    inline = [span.partition(" #")[0].strip() for span in list_inline_code(text)]
    return sorted({line for line in (*list_shell_lines(text), *inline) if line.startswith(beginning)})


def parse(words: list[str]) -> click.Context:
    """The context of a command of the program with its options and arguments understood, not run.

    Raises:
      click.UsageError: there is no such command, option or value.
    """
    command: click.Command = main
    context = click.Context(main)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, found, words = command.resolve_command(context, words)
        assert found is not None
        command, context = found, click.Context(found, parent=context, info_name=name)
    return command.make_context(context.info_name, words, resilient_parsing="--help" in words)


def folders_of_the_table() -> set[str]:
    """The folders of ensemble/ that the page on architecture has a row for."""
    page = REPO / "docs" / "architecture.md"
    return set(re.findall(r"^\| `ensemble/(\w+)/` \|", page.read_text("utf-8"), re.M))


def test_readme_can_be_read_in_one_sitting() -> None:
    assert len(README.read_text("utf-8").splitlines()) < MAX_LINES


def test_every_link_and_picture_is_there() -> None:
    pages = [*PAGES, REPO / "CHANGELOG.md"]
    every = [(page, link) for page in pages for link in sorted(links(page))]
    lost = [(relative(page), link) for page, link in every if not (page.parent / link).exists()]
    assert lost == []


def test_every_page_of_docs_and_every_picture_is_shown() -> None:
    start = REPO / "docs" / "index.md"
    # From the first pages, or from the pages of the screens.
    first = [README, start, *(REPO / "docs" / "screens").glob("*.md")]
    shown = {(page.parent / link).resolve() for page in first for link in links(page)}
    assert {*PAGES[1:], *PICTURES} - shown == set()
    assert start in shown


def test_a_picture_is_as_wide_as_a_screen_and_quick_to_load() -> None:
    assert PICTURES
    for path in PICTURES:
        with Image.open(path) as picture:
            assert picture.width == 1280, path.name
        assert path.stat().st_size <= MAX_PICTURE_BYTES, path.name


def test_the_moving_picture_moves_and_is_quick_to_load() -> None:
    with Image.open(MOVING_PICTURE) as picture:
        assert picture.n_frames > 10  # type: ignore[attr-defined]
        assert picture.info["loop"] == 0
    assert MOVING_PICTURE.stat().st_size <= MAX_MOVING_BYTES
    assert MOVING_PICTURE.relative_to(REPO).as_posix() in links(README)


def test_every_folder_has_a_row_and_every_row_a_folder() -> None:
    there = {path.parent.name for path in (REPO / "ensemble").glob("*/__init__.py")}
    assert folders_of_the_table() == there


def test_every_line_for_a_shell_is_a_command_that_is_looked_at() -> None:
    lines = list_shell_lines(words_of(PAGES))
    programs = (*OWN_PROGRAMS, *OTHER_PROGRAMS)
    # Behind what is set for this command alone.
    bare = [re.sub(r"^(?:[A-Z_]+=(?:\"[^\"]*\"|\S+) )+", "", line) for line in lines]
    assert [line for line in bare if not line.startswith(programs)] == []
    unused = [name for name in programs if not any(line.startswith(name) for line in bare)]
    assert unused == []


def test_no_document_has_python_look_in_the_working_folder_first() -> None:
    # Two say what it would do.
    said = [relative(page) for page in PAGES if "python -m ensemble" in page.read_text("utf-8")]
    assert said == ["docs/command-line.md", "docs/security.md"]


@pytest.mark.parametrize("line", sorted({*commands("ensemble ")} - NOT_COMMANDS))
def test_a_command_of_the_program_is_understood(line: str) -> None:
    words = [STANDS_FOR.get(word, word) for word in shlex.split(line)[1:]]
    assert parse(words)


@pytest.mark.parametrize("line", commands("python -m benchmarks."))
def test_a_benchmark_is_there(line: str) -> None:
    module = shlex.split(line)[2]
    path = REPO / module.replace(".", "/")
    assert (path / "__main__.py").is_file() or path.with_suffix(".py").is_file()
    assert importlib.util.find_spec(module) is not None


def test_every_figure_has_its_machine_and_its_command_beside_it() -> None:
    measured = (REPO / "docs" / "measured.md").read_text("utf-8")
    rows = [row for row in measured.splitlines() if row.startswith("| ") and "`python" in row]
    assert rows
    assert all(re.search(r"\| (AMD|Intel) \| `python -m benchmarks\.[^`]+` \|$", r) for r in rows)


@pytest.mark.parametrize("line", commands("scripts/"))
def test_a_script_is_there(line: str) -> None:
    assert (REPO / line.split()[0]).exists()
