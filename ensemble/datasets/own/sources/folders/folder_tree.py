"""How a folder of pictures was understood, drawn as a tree in lines of text."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ensemble.datasets.own.request import MAX_NAME_LENGTH, sanitize_text
from ensemble.datasets.own.source import sort_class_names

MAX_CLASSES = 12  # of a split that are drawn
_MAX_BRANCHES = 20  # splits, and what is left out, that are drawn

Files = Mapping[str, Sequence[Path]]


class FolderTree:
    """Branches, one below the other, each perhaps with twigs.

    Args:
      name: of the folder.
    """

    def __init__(self, name: str) -> None:
        self._name = sanitize_text(name)
        self._branches: list[tuple[str, list[str]]] = []

    def add_split(self, name: str, title: str, files: Files) -> None:
        """A folder that is a split, and its classes."""
        count = sum(map(len, files.values()))
        twigs = [f"{format_name(each)}: {len(files[each]):,}" for each in _list_classes(files)]
        self._branches.append((f"{format_name(name)} → {count:,} {title} {_format_images(count)}", shorten(twigs)))

    def add_left_out(self, name: str, count: int = 0) -> None:
        """A folder that is left out, and how many pictures without a class it has."""
        pictures = f", {count:,} without a class" if count else ""
        self._branches.append((f"{format_name(name)} → left out{pictures}", []))

    def add_classes(self, splits: Mapping[str, Files], titles: Mapping[str, str]) -> None:
        """Folders that are classes, with their pictures in each split."""
        merged = {name: paths for files in splits.values() for name, paths in files.items()}
        for name in _list_classes(merged):
            counts: dict[str, int] = {}
            for split, files in splits.items():
                title = titles[split] if len(splits) > 1 else ""
                counts[title] = counts.get(title, 0) + len(files.get(name, ()))
            words = [
                " ".join(filter(None, (f"{count:,}", title, _format_images(count)))) for title, count in counts.items()
            ]
            self._branches.append((f"{format_name(name)}: {', '.join(words)}", []))

    @property
    def lines(self) -> list[str]:
        """The tree, a line for each folder."""
        shown = self._branches[:_MAX_BRANCHES]
        if (more := len(self._branches) - _MAX_BRANCHES) > 0:
            shown = [*shown, (f"and {more:,} more", [])]
        lines = [self._name]
        for number, (text, twigs) in enumerate(shown):
            last = number == len(shown) - 1
            lines.append(f"{'└──' if last else '├──'} {text}")
            for place, twig in enumerate(twigs):
                mark = "└──" if place == len(twigs) - 1 else "├──"
                lines.append(f"{'    ' if last else '│   '}{mark} {twig}")
        return lines


def _list_classes(files: Files) -> list[str]:
    return sort_class_names(name for name, paths in files.items() if paths)


def shorten(twigs: list[str]) -> list[str]:
    more = len(twigs) - MAX_CLASSES
    return [*twigs[:MAX_CLASSES], f"and {more:,} more classes"] if more > 1 else twigs


def format_name(name: str) -> str:
    return sanitize_text(name)[:MAX_NAME_LENGTH]


def _format_images(count: int) -> str:
    """ "image" or "images"."""
    return "image" if count == 1 else "images"
