"""The site has every page, its pages lead somewhere, and what is wrong with a site is found."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import ensemble
from ensemble.report.elements import SHEET_TITLE
from tests.documents import DOCS, REPO, list_links, read_sections
from tests.site import documentation_site

CONFIG = tomllib.loads((REPO / "docs" / "zensical.toml").read_text("utf-8"))["project"]
ABOUT = '<script src="a.js"></script><a href="other.html#here">other</a><img src="a.png">'


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as the site is built from them, with a demo."""
    folder = tmp_path_factory.mktemp("staged")
    (demo := folder / "made.html").write_text(f'<a href="#s1">{SHEET_TITLE}</a>')
    documentation_site.stage_site(folder / "docs", demo)
    return folder / "docs" / "pages"


def list_navigation(entries: list[dict[str, Any]]) -> list[str]:
    """The pages of a navigation in their order."""
    found: list[str] = []
    for entry in entries:
        (target,) = entry.values()
        found += list_navigation(target) if isinstance(target, list) else [target]
    return found


def test_the_navigation_has_every_page_once(staged: Path) -> None:
    pages = [path.relative_to(staged).as_posix() for path in staged.rglob("*.md")]
    assert sorted(list_navigation(CONFIG["nav"])) == sorted(pages)
    assert len(pages) == len(DOCS) + len(documentation_site.PAGES_ABOVE)


def test_every_link_of_a_staged_page_leads_into_the_site(staged: Path) -> None:
    every = [(page, link) for page in staged.rglob("*.md") for link in list_links(page.read_text())]
    lost = [(page.name, link) for page, link in every if not leads_somewhere(page, link, staged)]
    assert lost == []


def leads_somewhere(page: Path, link: str, folder: Path) -> bool:
    """Whether a link finds a file within the folder, and there the heading that it names."""
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    there = target.is_relative_to(folder.resolve()) and target.is_file()
    return there and (not anchor or anchor in read_sections(target))


def test_the_first_page_leads_to_the_demo_where_there_is_one(staged: Path, tmp_path: Path) -> None:
    assert '<a href="demo_report.html#s1">' in (staged / "index.md").read_text("utf-8")
    assert (staged / "demo_report.html").is_file()
    documentation_site.stage_site(tmp_path / "docs")
    assert "demo_report" not in (tmp_path / "docs" / "pages" / "index.md").read_text("utf-8")


def test_no_staged_file_has_the_name_of_what_a_page_becomes(staged: Path) -> None:
    files = {path.relative_to(staged) for path in staged.rglob("*") if path.suffix != ".md"}
    pages = {path.relative_to(staged).with_suffix(".html") for path in staged.rglob("*.md")}
    assert Path("demo.html") in pages
    assert files & pages == set()


def test_the_diagram_of_the_packages_is_a_table_with_every_arrow(staged: Path) -> None:
    (drawn,) = documentation_site.MERMAID.findall((REPO / "docs/architecture.md").read_text())
    (table,) = re.findall(r"^\| packages.*?\n\n", (staged / "architecture.md").read_text(), re.S | re.M)
    assert "mermaid" not in (staged / "architecture.md").read_text("utf-8")
    imports = [row.split(" | ")[2].rstrip(" |") for row in table.strip().splitlines()[2:]]
    assert sum(len(one.split("; ")) for one in imports if one) == drawn.count("-->")


def test_the_reference_has_every_public_name() -> None:
    text = (REPO / "docs" / "reference.md").read_text("utf-8")
    named = set(re.findall(r"^::: ensemble\.api\.(\w+)$", text, re.M))
    assert named == set(ensemble.__all__) - {"datasets", "figures", "runs"}


def write_site(folder: Path, **pages: str) -> Path:
    """A site of pages by their names, with a script and a picture."""
    for name in ("a.js", "a.png"):
        (folder / name).write_text("")
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text)
    return folder


def test_a_site_without_fault_has_none(tmp_path: Path) -> None:
    site = write_site(tmp_path, index=ABOUT, other='<h2 id="here">Here</h2>')
    assert list(documentation_site.find_site_faults(site)) == []


@pytest.mark.parametrize(
    ("index", "other", "said"),
    [
        (ABOUT, "", "no such place"),
        ('<a href="gone.html">', "", "which there is not"),
        ('<a href="../secret.html">', "", "which there is not"),
        ('<script src="https://example.org/a.js"></script>', "", "from elsewhere"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "", "from elsewhere"),
        ('<img src="https://example.org/count.png">', "", "from elsewhere"),
    ],
)
def test_a_fault_of_a_site_is_found(tmp_path: Path, index: str, other: str, said: str) -> None:
    (fault,) = documentation_site.find_site_faults(write_site(tmp_path, index=index, other=other))
    assert fault.startswith("index.html")
    assert said in fault


def test_a_site_without_a_first_page_is_no_site(tmp_path: Path) -> None:
    assert list(documentation_site.find_site_faults(write_site(tmp_path))) == ["There is no index.html."]


def test_a_link_that_a_reader_has_to_press_may_lead_elsewhere(tmp_path: Path) -> None:
    site = write_site(tmp_path, index='<a href="https://example.org">there</a>')
    assert list(documentation_site.find_site_faults(site)) == []
