"""Print the weight of each package in Markdown, one column per commit: the table of docs/architecture.md.

Usage: scripts/ledger [--test] [COMMIT ...]    (default: the working tree)

A cell has files, lines, statements and AST nodes of the Python files. A docstring is not a statement; nodes are
counted so that denser statements do not look lighter. With --test each commit is cloned into a temporary folder
and its scripts/test runs there, with an empty cache: last row, the seconds that pytest reports for the units with
the browser tests (up to 613221ea for each of them: they run next to each other), and for the services.
"""

import argparse
import ast
import io
import os
import re
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("ensemble", "pages", "tests", "benchmarks")
FIGURES = ("files", "lines", "statements", "nodes")
WORKING_TREE = "working tree"
SUMMARY = re.compile(r"^=* ?(?:\d+ failed, )?\d+ passed.* in ([\d.]+)s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", action="store_true", help="time the tests of each commit, about 15 minutes each")
    parser.add_argument("commits", nargs="*", metavar="COMMIT", help="as git names it")
    options = parser.parse_args()
    commits = options.commits or [WORKING_TREE]
    columns = [weigh_packages(read_sources(commit)) for commit in commits]
    rows = {name: [format_cell(column.get(name)) for column in columns] for name in sort_packages(columns)}
    if options.test:
        rows["seconds of the tests"] = [time_tests("HEAD" if commit == WORKING_TREE else commit) for commit in commits]
    print(f"| {' / '.join(FIGURES)} |", " | ".join(commits), "|")
    print("| --- |", " | ".join("---" for _ in commits), "|")
    for name, cells in rows.items():
        print(f"| {name} |", " | ".join(cells), "|")


def read_sources(commit: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each Python file."""
    if commit == WORKING_TREE:
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *FOLDERS]
        paths = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
        yield from ((path, (ROOT / path).read_text("utf-8")) for path in paths if is_source(ROOT / path))
        return
    archive = subprocess.run(["git", "archive", commit, *FOLDERS], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for entry in files:
            if entry.name.endswith(".py") and (file := files.extractfile(entry)):
                yield entry.name, file.read().decode("utf-8")


def is_source(path: Path) -> bool:
    return path.suffix == ".py" and path.is_file()


def weigh_packages(sources: Iterator[tuple[str, str]]) -> dict[str, Counter[str]]:
    weights: dict[str, Counter[str]] = {}
    for path, text in sources:
        top, *inner = path.split("/")
        package = f"{top}/{inner[0]}" if top == "ensemble" and len(inner) > 1 else top
        nodes = list(ast.walk(ast.parse(text)))
        weight = Counter(
            files=1,
            lines=text.count("\n"),
            statements=sum(isinstance(node, ast.stmt) and not is_docstring(node) for node in nodes),
            nodes=len(nodes),
        )
        for name in {package, "ensemble in all"} if top == "ensemble" else {package}:
            weights.setdefault(name, Counter()).update(weight)
    return weights


def is_docstring(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def sort_packages(columns: list[dict[str, Counter[str]]]) -> list[str]:
    last = ["ensemble in all", *FOLDERS[1:]]
    names = {name for column in columns for name in column}
    return [*sorted(names - set(last)), *(name for name in last if name in names)]


def format_cell(weight: Counter[str] | None) -> str:
    return " / ".join(f"{weight[figure]:,}" for figure in FIGURES) if weight else "–"


def time_tests(commit: str) -> str:
    """Run the tests of a commit in a fresh clone; the seconds of its calls of pytest, in order."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", ROOT, clone], check=True)
        subprocess.run(["git", "checkout", "--quiet", commit], cwd=clone, check=True)
        environment = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache"}
        ended = subprocess.run(
            ["bash", "scripts/test"],
            cwd=clone,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        (ROOT / ".pytest_cache").mkdir(exist_ok=True)
        (ROOT / ".pytest_cache" / f"ledger-{commit}.txt").write_text(ended.stdout, "utf-8")
        # What failed next to others is run once more, alone: that is not counted.
        lines = re.sub(r"(?s)Once more, alone.*? in [\d.]+s", "", ended.stdout).splitlines()
        seconds = [f"{float(found[1]):.0f}" for found in map(SUMMARY.match, lines) if found]
        return " / ".join(seconds) + ("" if ended.returncode == 0 else f" (scripts/test ended with {ended.returncode})")


if __name__ == "__main__":
    main()
