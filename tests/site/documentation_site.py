"""The pages of docs/ as a site: python -m tests.site.documentation_site stage FOLDER | check FOLDER

`scripts/docs` calls both, before and after Zensical, with nothing but Python's own library at hand.
What is staged is docs/ with the pages that lie above it, as they have to be for a site. What is
checked is the site itself: all that it loads lies within it, and every link leads somewhere.
"""

import itertools
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

REPO = Path(__file__).resolve().parent.parent.parent
DOCS, CONFIG = REPO / "docs", "zensical.toml"
# The demo as scripts/demo writes it, and as the site has it: demo.html there is docs/demo.md.
BUILT_DEMO, DEMO = REPO / "build" / "demo.html", "demo_report.html"
DEMO_PLACE = "<!-- demo -->"
DEMO_LINK = '<p class="demo"><a href="{}">Draw a digit, and every member answers</a></p>'
# Where a report that answers has its sheet, by its own list of sections.
SHEET_LINK = re.compile(r'<a href="(#\w+)">Try it</a>')
# Pages above docs/, by what they are called in the site.
PAGES_ABOVE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
MERMAID = re.compile(r"^```mermaid\n(.*?)^```$", re.S | re.M)
NODE = re.compile(r'^ *(\w+)\["([^"]+)"\]$', re.M)
# Attributes by which a page loads something without being asked to.
LOADING = {("script", "src"), ("img", "src"), ("iframe", "src"), ("link", "href"), ("source", "src")}
LOADING_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect"}


def stage_site(folder: Path, demo: Path | None = None) -> None:
    """Write what the site is built from: `pages/` and the configuration.

    Args:
      folder: it is emptied first.
      demo: a report that answers, for the first page to lead to; None for none.
    """
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    shutil.copytree(DOCS, pages, ignore=shutil.ignore_patterns(CONFIG))
    shutil.copy(DOCS / CONFIG, folder / CONFIG)
    for name, staged in PAGES_ABOVE.items():
        (pages / staged).write_text(convert_page_above((REPO / name).read_text("utf-8")), "utf-8")
    for page in pages.rglob("*.md"):
        text = convert_page(page.read_text("utf-8"), page.relative_to(pages))
        page.write_text(text.replace(DEMO_PLACE, build_demo_link(demo)), "utf-8")
    if demo:
        shutil.copy(demo, pages / DEMO)


def build_demo_link(demo: Path | None) -> str:
    """The link to a report that answers, at its sheet; "" where there is none."""
    if not demo:
        return ""
    sheet = SHEET_LINK.search(demo.read_text("utf-8"))
    return DEMO_LINK.format(DEMO + (sheet[1] if sheet else ""))


def convert_page_above(text: str) -> str:
    """A page of the repository's top folder as one that lies in docs/."""
    return LINK.sub(lambda link: link[1] + lead_from_docs(link[2]) + link[3], text)


def lead_from_docs(target: str) -> str:
    """Where a link of a page in the top folder leads, from docs/."""
    if "://" in target or target.startswith("#"):
        return target
    return target.removeprefix("docs/") if target.startswith("docs/") else f"../{target}"


def convert_page(text: str, place: Path) -> str:
    """A page of docs/ as the site has it: links to files outside docs/ are their names alone.

    Args:
      text: what stands on it.
      place: where it lies in docs/.
    """
    above = "../" * len(place.parts)

    def convert(match: re.Match[str]) -> str:
        target, _, anchor = match[3].partition("#")
        if not target.startswith(above):
            return match[0]
        name = target.removeprefix(above)
        if name == "README.md":
            return f"[{match[1]}]({above.removeprefix('../')}index.md)"
        if name in PAGES_ABOVE:
            suffix = f"#{anchor}" if anchor else ""
            return f"[{match[1]}]({above.removeprefix('../')}{PAGES_ABOVE[name]}{suffix})"
        return match[1]

    converted = re.sub(r"\[([^\]\[]*)\](\()([^)\s]+)\)", convert, text)
    return MERMAID.sub(lambda match: convert_diagram(match[1]), converted)


def convert_diagram(flowchart: str) -> str:
    """A flowchart of Mermaid as a table, for its program would be loaded from elsewhere.

    Args:
      flowchart: lines such as `a["title<br>what it is"]` and `a --> b --> c`.
    """
    titles = {name: text.split("<br>") for name, text in NODE.findall(flowchart)}
    chains = [line.split(" --> ") for line in flowchart.splitlines() if " --> " in line]
    arrows = [(one.strip(), other.strip()) for chain in chains for one, other in itertools.pairwise(chain)]
    rows = [
        f"| {text[0]} | {' '.join(text[1:])} | {'; '.join(titles[other][0] for one, other in arrows if one == name)} |"
        for name, text in titles.items()
    ]
    return "\n".join(["| packages | | import |", "| --- | --- | --- |", *rows])


@dataclass
class SitePage(HTMLParser):
    """What one page of the site loads, links to and can be linked to.

    Attributes:
      loaded: addresses that a browser fetches with the page.
      linked: addresses that a reader may press.
      anchors: ids and names.
    """

    loaded: list[str] = field(default_factory=list)
    linked: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take in one element."""
        given = {name: value for name, value in attrs if value}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        for name, value in given.items():
            if tag == "a" and name == "href":
                self.linked.append(value)
            elif (tag, name) in LOADING:
                if tag != "link" or LOADING_LINKS & set(given.get("rel", "").split()):
                    self.loaded.append(value)
                else:
                    self.linked.append(value)


def read_site_page(path: Path) -> SitePage:
    """One page of a site."""
    page = SitePage()
    page.feed(path.read_text("utf-8"))
    return page


def find_site_faults(site: Path) -> Iterator[str]:
    """What is wrong with a site that was built, a sentence each; nothing is asked of a network."""
    site = site.resolve()
    # The demo is no page of this site's making, and 404 stands at any depth.
    paths = [path for path in sorted(site.rglob("*.html")) if path.name not in (DEMO, "404.html")]
    pages = {path: read_site_page(path) for path in paths}
    if site / "index.html" not in pages:
        yield "There is no index.html."
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        for address in page.loaded:
            parts = urlsplit(address)
            if parts.scheme != "data" and (parts.scheme or parts.netloc):
                yield f"{name} loads {address} from elsewhere."
        for address in [*page.loaded, *page.linked]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.is_relative_to(site) or not target.is_file():
                yield f"{name} leads to {address}, which there is not."
            elif anchor and target in pages and anchor not in pages[target].anchors:
                yield f"{name} leads to {address}: that page has no such place."


def main(words: list[str]) -> None:
    """Stage the pages, or check the site; the demo is taken in where it has been made."""
    match words:
        case ["stage", folder]:
            stage_site(Path(folder), BUILT_DEMO if BUILT_DEMO.is_file() else None)
        case ["check", folder]:
            if faults := list(find_site_faults(Path(folder))):
                sys.exit("\n".join(faults))
            print("Every link of the site leads somewhere, and it loads nothing from elsewhere.")
        case _:
            sys.exit("It takes `stage FOLDER` or `check FOLDER`.")


if __name__ == "__main__":
    main(sys.argv[1:])
