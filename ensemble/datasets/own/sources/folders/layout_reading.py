"""What is gathered while a folder of splits or classes is read: classes, notes, the tree."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from ensemble.datasets.own.class_spelling import describe_similar_names
from ensemble.datasets.own.source import (
    TEST_ONLY_NOTE,
    VALIDATION_ONLY_NOTE,
    VALIDATION_TESTED_NOTE,
    VALIDATION_TRAINED_NOTE,
)
from ensemble.datasets.own.sources.folders.folder_tree import FolderTree
from ensemble.datasets.own.sources.folders.folder_walk import FolderWalk
from ensemble.datasets.own.sources.folders.split_names import normalize_name

ClassFiles = dict[str, list[Path]]  # by the class's name
SPLIT_TITLES = {"train": "training", "val": "validation", "test": "test"}


@dataclass
class FolderLayout:
    """What a folder of pictures was read as.

    Attributes:
      top: the folder of the splits or classes.
      splits: the pictures of "train", and of "test" where there are any, by class; classes without
        a picture too.
      notes: what was assumed, a sentence each.
      tree: how it was understood, a line for each.
      groups: the group of each picture; None where nothing is known of them.
    """

    top: Path
    splits: dict[str, ClassFiles]
    notes: list[str]
    tree: list[str]
    groups: dict[Path, str] | None = None


class LayoutReading:
    """A folder that is being read.

    Args:
      walk: looks into folders.
      top: the folder of the splits or classes.

    Attributes:
      walk, top: as given.
      notes: what was assumed by now, a sentence each.
      tree: how it was understood.
    """

    def __init__(self, walk: FolderWalk, top: Path) -> None:
        self.walk, self.top = walk, top
        self.notes: list[str] = []
        self.tree = FolderTree(top.name)
        self._spellings: dict[str, set[str]] = {}

    def list_names(self, folder: Path) -> frozenset[str]:
        """The names of the folders in a folder, in the one Unicode form."""
        return frozenset(normalize_name(one.name) for one in self.walk.list_folder(folder)[0])

    def list_class_files(self, folders: Sequence[Path]) -> ClassFiles:
        """The pictures of folders that are classes."""
        files: ClassFiles = {}
        for folder in folders:
            merge_class_files(files, {self.note_class(folder): self.walk.list_pictures(folder)})
        return files

    def note_class(self, folder: Path) -> str:
        """The name of a class's folder, in the one Unicode form."""
        name = normalize_name(folder.name)
        self._spellings.setdefault(name, set()).add(folder.name)
        return name

    def assign_roles(self, found: set[str]) -> dict[str, str]:
        """What each split that was found becomes: "train" or "test"; it is noted."""
        roles, notes = assign_split_roles(found | self.walk.labelled.keys())
        self.notes += notes
        return roles

    def build_layout(self, by_split: dict[str, ClassFiles], roles: dict[str, str]) -> FolderLayout:
        """The layout, each split in its role."""
        splits: dict[str, ClassFiles] = {}
        for split, files in [*by_split.items(), *self.walk.labelled.items()]:
            merge_class_files(splits.setdefault(roles[split], {}), files)
        if forms := [sorted(names) for names in self._spellings.values() if len(names) > 1]:
            self.notes.append(f"{describe_similar_names(forms)} are spelt in two forms of Unicode: each is one class.")
        ordered = sorted(splits.items(), key=lambda item: item[0] != "train")
        return FolderLayout(self.top, dict(ordered), self.notes, self.tree.lines)


def assign_split_roles(found: set[str]) -> tuple[dict[str, str], list[str]]:
    """What each split that was found becomes, "train" or "test", and what is to be said of it."""
    roles, notes = {split: split for split in found}, list[str]()
    if "val" in found and "train" in found:
        roles["val"] = "train" if "test" in found else "test"
        notes.append(VALIDATION_TRAINED_NOTE if "test" in found else VALIDATION_TESTED_NOTE)
    elif "val" in found:
        roles["val"] = "train"
        notes.append(VALIDATION_ONLY_NOTE)
    elif found == {"test"}:
        roles["test"] = "train"
        notes.append(TEST_ONLY_NOTE)
    return roles, notes


def describe_followed_split(origin: str, splits: Collection[str]) -> str:
    """What was followed, and how many images each split has: a sentence."""
    counts = Counter(splits)
    parts = [f"{counts[split]:,} {title}" for split, title in SPLIT_TITLES.items() if counts[split]]
    return f"The split follows {origin}: {', '.join(parts)} images."


def merge_class_files(into: ClassFiles, files: ClassFiles) -> None:
    for name, paths in files.items():
        into.setdefault(name, []).extend(paths)
