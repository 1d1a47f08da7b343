"""Which folders are splits and which are classes, as far as names and the tree itself say.

Folders are splits where their names say so and hold classes, or where all of them hold the same
folders and one is named as a split. Else they are classes, which may hold their own train and test.
What is read is said, and drawn as a tree.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ensemble.datasets.own.class_spelling import describe_similar_names, fold_class_name
from ensemble.datasets.own.source import (
    TEST_ONLY_NOTE,
    VALIDATION_ONLY_NOTE,
    VALIDATION_TESTED_NOTE,
    VALIDATION_TRAINED_NOTE,
    format_name_list,
)
from ensemble.datasets.own.sources.folder_tree import FolderTree
from ensemble.datasets.own.sources.folder_walk import MAX_DEPTH, FolderWalk
from ensemble.datasets.own.sources.split_names import (
    UNLABELLED,
    is_fold_name,
    is_wrapper_name,
    normalize_name,
    parse_split_folder,
)

ClassFiles = dict[str, list[Path]]  # by the class's name
SPLIT_TITLES = {"train": "training", "val": "validation", "test": "test"}


@dataclass
class SplitFolder:
    """A folder that is a split.

    Attributes:
      folder: that of the classes, which may lie within the one that is named as a split.
      split: "train", "val" or "test"; `UNLABELLED` where it is left out.
      name: from the folder of all splits on.
      files: of each class.
      loose: pictures that lie in none.
    """

    folder: Path
    split: str
    name: str
    files: ClassFiles = field(default_factory=dict)
    loose: list[Path] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many pictures it holds."""
        return len(self.loose) + sum(map(len, self.files.values()))


@dataclass
class FolderLayout:
    """What a folder of pictures was read as.

    Attributes:
      top: the folder of the splits or classes.
      splits: the pictures of "train", and of "test" where there are any, by class; classes without
        a picture too.
      notes: what was assumed, a sentence each.
      tree: how it was understood, a line for each.
    """

    top: Path
    splits: dict[str, ClassFiles]
    notes: list[str]
    tree: list[str]


def read_folder_layout(walk: FolderWalk) -> FolderLayout:
    """Tells splits and classes of the folders below a root apart.

    Raises:
      DataError: a folder cannot be read, or holds too many pictures.
    """
    top = _find_top_folder(walk)
    folders, beside = walk.list_folder(top)
    walk.skipped_files += [walk.relative_path(path) for path in beside]
    reader = _LayoutReader(walk, top)
    if found := reader.find_split_folders(folders):
        return reader.read_splits(found, folders)
    return reader.read_classes(folders)


def _find_top_folder(walk: FolderWalk) -> Path:
    """The folder that holds the classes or splits: an archive often wraps it in another."""
    top = walk.root
    while len(top.parts) <= len(walk.root.parts) + MAX_DEPTH:
        folders, pictures = walk.list_folder(top)
        if len(folders) != 1 or pictures or not walk.list_folder(folders[0])[0]:
            break
        top = folders[0]
    return top


class _LayoutReader:
    def __init__(self, walk: FolderWalk, top: Path) -> None:
        self._walk, self._top = walk, top
        self._notes: list[str] = []
        self._tree = FolderTree(top.name)
        self._spellings: dict[str, set[str]] = {}

    def find_split_folders(self, folders: Sequence[Path]) -> list[SplitFolder]:
        """The folders that are splits, each at the level of its classes; none where none are."""
        named = {folder: said for folder in folders if (said := parse_split_folder(folder.name))}
        inner = {folder: self._unwrap_split(folder) for folder in folders}
        below = {folder: self._list_names(inner[folder]) for folder in folders}
        holders = [folder for folder in folders if below[folder]]
        alike = len(holders) > 1 and len({below[folder] for folder in holders}) == 1
        alike = alike and len(below[holders[0]]) > 1
        if not named:
            is_folds = alike and len(holders) == len(folders)
            if not is_folds or not all(is_fold_name(folder.name) for folder in folders):
                return []
            listing = format_name_list([folder.name for folder in folders])
            self._notes.append(f"{listing} are parts of one set: they are taken together.")
            return [self._make_split(folder, inner[folder], "train") for folder in folders]
        if not any(len(below[folder]) > 1 for folder in named):
            return []
        plain = [folder for folder, said in named.items() if said.is_plain]
        same_rest = len({said.rest for said in named.values()}) == 1
        others = [folder for folder in folders if folder not in named]
        sure = (
            (len(named) > 1 and (same_rest or len(plain) > 1))
            or (alike and all(folder in holders for folder in named))
            or (bool(plain) and not any(map(self._walk.list_pictures, others)))
        )
        if not sure:
            return []
        if len(plain) > 1 and not same_rest:
            named = {folder: named[folder] for folder in plain}
        splits = [
            self._make_split(folder, inner[folder], said.split) for folder, said in named.items()
        ]
        if alike and {one.split for one in splits} == {"test"} and len(others) == 1:
            splits.append(self._make_split(others[0], inner[others[0]], "train"))
        return splits

    def read_splits(self, splits: list[SplitFolder], folders: Sequence[Path]) -> FolderLayout:
        """The layout of folders that are splits."""
        used = {self._first_below_top(one.folder) for one in splits}
        left = [folder for folder in folders if folder.name not in used]
        for one in splits:
            classes, loose = self._walk.list_folder(one.folder)
            one.files, one.loose = self._list_class_files(classes), loose
        self._leave_unlabelled(splits)
        order = list(SPLIT_TITLES)
        kept = [one for one in splits if one.split != UNLABELLED]
        kept.sort(key=lambda one: order.index(one.split))
        by_split: dict[str, ClassFiles] = {}
        for one in kept:
            self._walk.skipped_files += map(self._walk.relative_path, one.loose)
            merge_class_files(by_split.setdefault(one.split, {}), one.files)
        if by_split:
            parts = [
                f"{name} as {SPLIT_TITLES[split]} images"
                for split in SPLIT_TITLES
                if (name := format_name_list([one.name for one in kept if one.split == split]))
            ]
            self._notes.insert(0, f"Folders are read as splits: {', '.join(parts)}.")
        if left:
            self._notes.append(
                "Folders besides those of the splits are left out: "
                f"{format_name_list([folder.name for folder in left])}."
            )
        roles = self._assign_roles(set(by_split))
        for one in kept:
            self._tree.add_split(one.name, SPLIT_TITLES[roles[one.split]], one.files)
        for one in splits:
            if one.split == UNLABELLED:
                self._tree.add_left_out(one.name, one.count)
        for folder in left:
            self._tree.add_left_out(folder.name, None)
        return self._finish(by_split, roles)

    def read_classes(self, folders: Sequence[Path]) -> FolderLayout:
        """The layout of folders that are classes, perhaps with splits of their own."""
        if by_split := self._find_splits_within(folders):
            titles = [SPLIT_TITLES[split] for split in by_split]
            self._notes.append(
                f"Folders within each class are read as splits: {' and '.join(titles)} images."
            )
        else:
            by_split = {"train": self._list_class_files(folders)}
            below = {self._list_names(folder) for folder in folders}
            if len(folders) > 1 and len(below) == 1 and (names := sorted(below.pop())):
                self._notes.append(
                    f"Every class holds the folders {format_name_list(names)}: the pictures of "
                    "these are taken together."
                )
        roles = self._assign_roles(set(by_split))
        self._tree.add_classes(
            by_split, {split: SPLIT_TITLES[role] for split, role in roles.items()}
        )
        return self._finish(by_split, roles)

    def _finish(self, by_split: dict[str, ClassFiles], roles: dict[str, str]) -> FolderLayout:
        splits: dict[str, ClassFiles] = {}
        for split, files in by_split.items():
            merge_class_files(splits.setdefault(roles[split], {}), files)
        if forms := [sorted(names) for names in self._spellings.values() if len(names) > 1]:
            self._notes.append(
                f"{describe_similar_names(forms)} are spelt in two forms of Unicode: each is one "
                "class."
            )
        ordered = sorted(splits.items(), key=lambda item: item[0] != "train")
        return FolderLayout(self._top, dict(ordered), self._notes, self._tree.lines)

    def _assign_roles(self, found: set[str]) -> dict[str, str]:
        """What each split that was found becomes: "train" or "test"."""
        roles = {split: split for split in found}
        if "val" in found and "train" in found:
            roles["val"] = "train" if "test" in found else "test"
            self._notes.append(
                VALIDATION_TRAINED_NOTE if "test" in found else VALIDATION_TESTED_NOTE
            )
        elif "val" in found:
            roles["val"] = "train"
            self._notes.append(VALIDATION_ONLY_NOTE)
        elif found == {"test"}:
            roles["test"] = "train"
            self._notes.append(TEST_ONLY_NOTE)
        return roles

    def _leave_unlabelled(self, splits: Iterable[SplitFolder]) -> None:
        """Splits whose pictures have no class that is learnt are left out, and said."""
        learnt = {
            fold_class_name(name)
            for one in splits
            if one.split == "train"
            for name, paths in one.files.items()
            if paths
        }
        for one in splits:
            full = [name for name, paths in one.files.items() if paths]
            foreign = bool(learnt) and not learnt & {fold_class_name(name) for name in full}
            if one.split == UNLABELLED or not full or foreign:
                if one.count:
                    self._notes.append(_describe_unlabelled(one, full))
                one.split = UNLABELLED

    def _find_splits_within(self, folders: Sequence[Path]) -> dict[str, ClassFiles]:
        """The splits that every class holds for itself: cat/train, cat/test, dog/train."""
        by_split: dict[str, ClassFiles] = {}
        for folder in folders:
            inner, pictures = self._walk.list_folder(folder)
            if not inner and not pictures:
                continue
            said = [parse_split_folder(one.name) for one in inner]
            if pictures or any(one is None or not one.is_plain for one in said):
                return {}
            for one, name in zip(inner, said, strict=True):
                if name is None or name.split == UNLABELLED:
                    return {}
                files = {self._note_class(folder): self._walk.list_pictures(one)}
                merge_class_files(by_split.setdefault(name.split, {}), files)
        if len(by_split) < 2:
            return {}
        return {split: by_split[split] for split in SPLIT_TITLES if split in by_split}

    def _unwrap_split(self, folder: Path) -> Path:
        """The folder of a split's classes: train/train and train/images are one step further."""
        while len(folder.parts) <= len(self._top.parts) + MAX_DEPTH:
            inner, pictures = self._walk.list_folder(folder)
            if len(inner) != 1 or pictures or not is_wrapper_name(inner[0].name, folder.name):
                break
            folder = inner[0]
        return folder

    def _make_split(self, folder: Path, inner: Path, split: str) -> SplitFolder:
        return SplitFolder(inner, split, inner.relative_to(self._top).as_posix())

    def _first_below_top(self, folder: Path) -> str:
        return folder.relative_to(self._top).parts[0]

    def _list_names(self, folder: Path) -> frozenset[str]:
        return frozenset(normalize_name(one.name) for one in self._walk.list_folder(folder)[0])

    def _list_class_files(self, folders: Sequence[Path]) -> ClassFiles:
        files: ClassFiles = {}
        for folder in folders:
            merge_class_files(files, {self._note_class(folder): self._walk.list_pictures(folder)})
        return files

    def _note_class(self, folder: Path) -> str:
        """The name of a class's folder, in the one Unicode form."""
        name = normalize_name(folder.name)
        self._spellings.setdefault(name, set()).add(folder.name)
        return name


def merge_class_files(into: ClassFiles, files: ClassFiles) -> None:
    """Adds the pictures of each class to those that are there."""
    for name, paths in files.items():
        into.setdefault(name, []).extend(paths)


def _describe_unlabelled(one: SplitFolder, full: Sequence[str]) -> str:
    """Why the pictures of a split are left out."""
    pictures = f"{one.count:,} picture{'' if one.count == 1 else 's'}"
    if one.split != UNLABELLED and len(full) > 1:
        return (
            f"{one.name} holds none of the classes of the training images, but "
            f"{format_name_list(full)}: its {pictures} are left out."
        )
    return f"{one.name} has {pictures} without a class: left out, as nothing says what they show."
