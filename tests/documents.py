"""The pages of the documents as tests read them: their sections, and what stands there as code."""

import re
from collections.abc import Iterator
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
README = REPO / "README.md"
DOCS = sorted((REPO / "docs").rglob("*.md"))
PAGES = [README, REPO / "CONTRIBUTING.md", *DOCS]
REFERENCE = REPO / "docs" / "command-line.md"

LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"^ *```.*?^ *```", re.S | re.M)
SHELL = re.compile(r"^ *```bash\n(.*?)^ *```", re.S | re.M)


def list_links(text: str) -> set[str]:
    """Where the links and pictures of a text lead, but for those to other machines."""
    return {link for link in LINK.findall(text) if "://" not in link}


def list_inline_code(text: str) -> list[str]:
    """What stands between backticks within lines; a line may break in it."""
    found = re.findall(r"`([^`]+)`", FENCED.sub("", text))
    return [" ".join(span.split()) for span in found]


def list_code_lines(text: str) -> list[str]:
    """The lines of the blocks of code."""
    return [line.strip() for block in FENCED.findall(text) for line in block.splitlines()[1:-1]]


def list_shell_lines(text: str) -> list[str]:
    """The commands of the blocks for a shell, without comments."""
    lines = [line for block in SHELL.findall(text) for line in block.splitlines()]
    return [line for line in (re.split(r"(?:^| )#", one)[0].strip() for one in lines) if line]


def read_sections(page: Path) -> dict[str, str]:
    """What stands below each heading of a page, up to the next of its level, by its anchor.

    What stands before the first one below the title has the anchor "".
    """
    text = page.read_text("utf-8")
    code = [match.span() for match in FENCED.finditer(text)]
    headings = [
        (len(found[1]), found[2], found.start(), found.end())
        for found in re.finditer(r"^(#+) (.+)$", text, re.M)
        if not any(start <= found.start() < end for start, end in code)
    ]
    sections = {"": text[: next((at for level, _, at, _ in headings if level > 1), len(text))]}
    for number, (level, title, _, begin) in enumerate(headings):
        later = (at for below, _, at, _ in headings[number + 1 :] if below <= level)
        sections[format_anchor(title)] = text[begin : next(later, len(text))]
    return sections


def format_anchor(title: str) -> str:
    """What a link to a heading has behind its #, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def read_linked_texts(text: str, page: Path) -> Iterator[str]:
    """What the links of a text on a page lead to in the documents: a section, or a whole page."""
    for link in sorted(list_links(text)):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if target.suffix == ".md":
            yield read_sections(target)[anchor] if anchor else target.read_text("utf-8")


def list_table_rows(text: str) -> list[list[str]]:
    """The cells of every row of a text's tables."""
    rows = re.findall(r"^\| (.*) \|$", text, re.M)
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)] for row in rows]
