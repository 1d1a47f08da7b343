"""Rooms by noun: folders that can be taken in at a glance."""

from collections import Counter
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
FILES = [
    path.relative_to(REPO)
    for top in ("ensemble", "pages", "benchmarks")
    for path in sorted((REPO / top).rglob("*.py"))
    if not path.name.startswith("__")
]
MOST, FEWEST = 20, 3


def rooms() -> dict[Path, int]:
    """How many files and folders of code each folder holds."""
    folders = {folder for file in FILES for folder in file.parents if folder != Path(".")}
    inside = Counter(file.parent for file in FILES)
    inside.update(folder.parent for folder in folders if folder.parent != Path("."))
    return dict(inside)


def most(folder: Path) -> int:
    return MOST if len(folder.parts) > 1 else 2 * MOST  # the package itself holds the floors


def test_a_folder_is_neither_a_hall_nor_a_closet() -> None:
    wrong = {str(at): held for at, held in rooms().items() if not FEWEST <= held <= most(at)}
    assert wrong == {}
