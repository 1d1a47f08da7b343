"""List the tests of changed files: python -m tests.changed_tests [COMMIT]   (scripts/test --changed)

Compares with the last commit (or COMMIT). Selects test files that import a changed module, mention its path or import a
direct importer of it; the test file of the same name; and changed tests. Modules further away are not followed unless
no test is closer, because within three steps nearly every module imports every other.
"""

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.sources import find_imports

REPO = Path(__file__).resolve().parent.parent
FOLDERS = ("ensemble", "pages", "tests", "benchmarks")
NAMED_FOLDERS, SUFFIXES = ("pages", "docs", "scripts", "deploy", "benchmarks", "ensemble"), "py|js|css|toml|md|txt"
WORD = re.compile(r"\w+")
# The search for a text at the start of a pattern is quick; that it starts a word is looked at after it.
DOTTED = [re.compile(rf"{name}(?<!\w{name})(?:\.\w+)+") for name in ("ensemble", "tests", "benchmarks")]
PATH = re.compile(rf"\b(?:{'|'.join(NAMED_FOLDERS)})/[\w./]+\w|\b\w+\.(?:{SUFFIXES})\b")


class ImportGraph:
    """Imports between the Python files of a checkout, as paths relative to its root.

    A name that a package re-exports (`from ensemble.runs import find_run`, or `runs.find_run`) is resolved to the
    module that defines it. A module or file named in a string or comment counts as imported.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        files = [root / "app.py", *(file for folder in FOLDERS for file in (root / folder).rglob("*.py"))]
        self.sources = {file.relative_to(root).as_posix(): file.read_text("utf-8") for file in files if file.is_file()}
        self._modules = {find_module_name(path): path for path in self.sources}
        self._passed_on = {path: self._list_names(path) for path in self.sources if path.endswith("__init__.py")}
        self._packages = [name for name, path in self._modules.items() if path in self._passed_on]
        self._importers: defaultdict[str, set[str]] = defaultdict(set)
        for path in self.sources.keys() - self._passed_on.keys():
            for imported in set(self._find_imported(path)) - {path}:
                self._importers[imported].add(path)

    def find_importers(self, path: str) -> set[str]:
        """Return the files that import or mention this one, without packages that only re-export it."""
        return self._importers[path] | (set() if path.endswith(".py") else self._importers[Path(path).name])

    def find_tests(self, changed: Iterable[str]) -> set[str]:
        """Return the test files for changed paths; see the module's docstring."""
        tests: set[str] = set()
        for path in changed:
            if is_test(path):
                tests.add(path)
                continue
            if path.startswith("tests/") and path.endswith("conftest.py"):
                tests |= {other for other in self.sources if other.startswith(path.removesuffix("conftest.py"))}
            tests |= self._find_nearest_tests(path)
            mirrored = f"test_{Path(path).stem}.py"
            package = path.split("/")[1] if path.startswith("ensemble/") else Path(path).parent.name
            of_package = {one for one in self.sources if one.startswith(f"tests/{package}/")}
            tests |= {one for one in of_package if Path(one).name == mirrored} or (set() if tests else of_package)
        return {path for path in tests if is_test(path) and path in self.sources}

    def _find_nearest_tests(self, path: str) -> set[str]:
        """Return tests that import the file or a direct importer; if there are none, follow importers until some do.

        Parts of a screen are followed up to the pages, because tests open pages by their paths.
        """
        reached = near = {path, *self.find_importers(path)}
        while not (tests := self._find_importing_tests(near)) and near:
            near = {one for before in near for one in self.find_importers(before)} - reached
            reached = reached | near
        screens = near = (
            {path} if path.startswith("ensemble/ui/") and not path.startswith("ensemble/ui/shared/") else set()
        )
        while near := {one for before in near for one in self.find_importers(before) if is_screen(one)} - screens:
            screens = screens | near
        return tests | self._find_importing_tests(screens)

    def _find_importing_tests(self, paths: Iterable[str]) -> set[str]:
        return {one for path in paths for one in (path, *self.find_importers(path)) if is_test(one)}

    def _find_imported(self, path: str) -> Iterator[str]:
        source = self.sources[path]
        words = set(WORD.findall(source))  # Most sources have few of the names that are looked for.
        for node in find_imports(source):
            names = [alias.name for alias in node.names]
            module = getattr(node, "module", None)
            for name in names:
                yield from self._resolve(f"{module}.{name}" if module else name)
        for package in self._packages:
            used = package.rpartition(".")[2]
            if used in words and (f"import {used}" in source or f"{used}," in source):
                for name in re.findall(rf"{used}(?<!\w{used})\.(\w+)", source):
                    yield from self._resolve(f"{package}.{name}")
        for name in (name for dotted in DOTTED for name in dotted.findall(source)):
            yield from self._resolve(name)
        if not words.isdisjoint(SUFFIXES.split("|")) or any(f"{folder}/" in source for folder in NAMED_FOLDERS):
            yield from PATH.findall(source)

    def _resolve(self, name: str) -> Iterator[str]:
        """Yield the file of a module, or the file that defines an attribute of a module."""
        if name in self._modules:
            yield self._modules[name]
            return
        module, _, last = name.rpartition(".")
        if path := self._modules.get(module):
            yield self._passed_on.get(path, {}).get(last, path)

    def _list_names(self, path: str) -> dict[str, str]:
        names: dict[str, str] = {}
        for node in find_imports(self.sources[path]):
            if module := self._modules.get(getattr(node, "module", None) or ""):
                names |= {alias.asname or alias.name: module for alias in node.names}
        return names


def find_module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def is_screen(path: str) -> bool:
    return path.startswith(("ensemble/ui/", "pages/"))


def is_test(path: str) -> bool:
    return path.startswith("tests/") and Path(path).name.startswith("test_") and path.endswith(".py")


def list_changed_files(commit: str = "HEAD") -> list[str]:
    """Return the files that differ from a commit, and untracked files that are not ignored."""
    commands = (["git", "diff", "--name-only", commit], ["git", "ls-files", "--others", "--exclude-standard"])
    outputs = [subprocess.run(words, cwd=REPO, check=True, capture_output=True, text=True).stdout for words in commands]
    return "".join(outputs).splitlines()


def main(words: list[str]) -> None:
    """Print the tests. Slow ones (browser, cluster, services) are listed on standard error and left out."""
    tests = ImportGraph(REPO).find_tests(list_changed_files(*words))
    long = {path for path in tests if path.startswith(("tests/browser/", "tests/cluster/", "tests/services/"))}
    if long:
        print("Left to the whole suite:", *sorted(long), file=sys.stderr)
    print("\n".join(sorted(tests - long)))


if __name__ == "__main__":
    main(sys.argv[1:])
