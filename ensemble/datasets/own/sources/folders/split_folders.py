"""Folders that are splits: found by their names and by what they hold, and read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ensemble.datasets.own.class_spelling import fold_class_name
from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.folders.folder_walk import MAX_DEPTH
from ensemble.datasets.own.sources.folders.layout_reading import (
    SPLIT_TITLES,
    ClassFiles,
    FolderLayout,
    LayoutReading,
    merge_class_files,
)
from ensemble.datasets.own.sources.folders.split_names import (
    UNLABELLED,
    is_fold_name,
    is_wrapper_name,
    parse_split_folder,
)


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


def find_split_folders(reading: LayoutReading, folders: Sequence[Path]) -> list[SplitFolder]:
    """The folders that are splits, each at the level of its classes; none where none are."""
    named = {folder: said for folder in folders if (said := parse_split_folder(folder.name))}
    inner = {folder: unwrap_split(reading, folder) for folder in folders}
    below = {folder: reading.list_names(inner[folder]) for folder in folders}
    holders = [folder for folder in folders if below[folder]]
    alike = len(holders) > 1 and len({below[folder] for folder in holders}) == 1
    alike = alike and len(below[holders[0]]) > 1
    if not named:
        is_folds = alike and len(holders) == len(folders)
        if not is_folds or not all(is_fold_name(folder.name) for folder in folders):
            return []
        listing = format_name_list([folder.name for folder in folders])
        reading.notes.append(f"{listing} are parts of one set: they are taken together.")
        return [SplitFolder(inner[folder], "train", _name_below(reading, inner[folder])) for folder in folders]
    if not any(len(below[folder]) > 1 for folder in named):
        return []
    plain = [folder for folder, said in named.items() if said.is_plain]
    same_rest = len({said.rest for said in named.values()}) == 1
    others = [folder for folder in folders if folder not in named]
    sure = (
        (len(named) > 1 and (same_rest or len(plain) > 1))
        or (alike and all(folder in holders for folder in named))
        or (bool(plain) and not any(map(reading.walk.has_pictures, others)))
    )
    if not sure:
        return []
    if len(plain) > 1 and not same_rest:
        named = {folder: named[folder] for folder in plain}
    splits = [
        SplitFolder(inner[folder], said.split, _name_below(reading, inner[folder])) for folder, said in named.items()
    ]
    if alike and {one.split for one in splits} == {"test"} and len(others) == 1:
        only = inner[others[0]]
        splits.append(SplitFolder(only, "train", _name_below(reading, only)))
    return splits


def read_split_folders(reading: LayoutReading, splits: list[SplitFolder], folders: Sequence[Path]) -> FolderLayout:
    used = {one.name.partition("/")[0] for one in splits}
    left = [folder for folder in folders if folder.name not in used]
    for one in splits:
        classes, loose = reading.walk.list_folder(one.folder)
        one.files, one.loose = reading.list_class_files(classes), loose
    _leave_unlabelled(reading, splits)
    order = list(SPLIT_TITLES)
    kept = [one for one in splits if one.split != UNLABELLED]
    kept.sort(key=lambda one: order.index(one.split))
    by_split: dict[str, ClassFiles] = {}
    for one in kept:
        reading.walk.skipped_files += map(reading.walk.relative_path, one.loose)
        merge_class_files(by_split.setdefault(one.split, {}), one.files)
    if by_split:
        parts = [
            f"{name} as {SPLIT_TITLES[split]} images"
            for split in SPLIT_TITLES
            if (name := format_name_list([one.name for one in kept if one.split == split]))
        ]
        reading.notes.insert(0, f"Folders are read as splits: {', '.join(parts)}.")
    if left:
        reading.notes.append(
            f"Folders besides those of the splits are left out: {format_name_list([folder.name for folder in left])}."
        )
    roles = reading.assign_roles(set(by_split))
    for one in kept:
        reading.tree.add_split(one.name, SPLIT_TITLES[roles[one.split]], one.files)
    for one in splits:
        if one.split == UNLABELLED:
            reading.tree.add_left_out(one.name, one.count)
    for folder in left:
        reading.tree.add_left_out(folder.name)
    return reading.build_layout(by_split, roles)


def _leave_unlabelled(reading: LayoutReading, splits: Iterable[SplitFolder]) -> None:
    learnt = {
        fold_class_name(name) for one in splits if one.split == "train" for name, paths in one.files.items() if paths
    }
    for one in splits:
        full = [name for name, paths in one.files.items() if paths]
        foreign = bool(learnt) and not learnt & {fold_class_name(name) for name in full}
        if one.split == UNLABELLED or not full or foreign:
            if one.count:
                reading.notes.append(describe_unlabelled_split(one, full))
            one.split = UNLABELLED


def unwrap_split(reading: LayoutReading, folder: Path) -> Path:
    """The folder of a split's classes: train/train and train/images are one step further."""
    while len(folder.parts) <= len(reading.top.parts) + MAX_DEPTH:
        inner, pictures = reading.walk.list_folder(folder)
        if len(inner) != 1 or pictures or not is_wrapper_name(inner[0].name, folder.name):
            break
        folder = inner[0]
    return folder


def _name_below(reading: LayoutReading, folder: Path) -> str:
    """A folder's name for people: from the folder of all splits on."""
    return folder.relative_to(reading.top).as_posix()


def describe_unlabelled_split(one: SplitFolder, full: Sequence[str]) -> str:
    pictures = f"{one.count:,} picture{'' if one.count == 1 else 's'}"
    if one.split != UNLABELLED and len(full) > 1:
        return (
            f"{one.name} holds none of the classes of the training images, but "
            f"{format_name_list(full)}: its {pictures} are left out."
        )
    return f"{one.name} has {pictures} without a class: left out, as nothing says what they show."
