"""Folders that are classes, and the splits that lie within them, in their names or beside them."""

from collections.abc import Sequence
from pathlib import Path

from ensemble.datasets.own.class_spelling import fold_class_name
from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.folders.layout_reading import (
    SPLIT_TITLES,
    ClassFiles,
    FolderLayout,
    LayoutReading,
    merge_class_files,
)
from ensemble.datasets.own.sources.folders.split_folders import SplitFolder, describe_unlabelled_split, unwrap_split
from ensemble.datasets.own.sources.folders.split_names import UNLABELLED, normalize_name, parse_split_folder


def read_class_folders(reading: LayoutReading, folders: Sequence[Path]) -> FolderLayout:
    if by_split := _find_splits_within(reading, folders):
        titles = [SPLIT_TITLES[split] for split in by_split]
        reading.notes.append(f"Folders within each class are read as splits: {', '.join(titles)} images.")
    elif by_split := _find_splits_in_names(reading, folders):
        titles = [SPLIT_TITLES[split] for split in by_split]
        reading.notes.append(f"Names of folders are read as a class and a split: {', '.join(titles)} images.")
    else:
        by_split, folders = _part_beside_classes(reading, folders)
        below = {folder: sorted(reading.list_names(folder)) for folder in folders}
        holding = [folder for folder in folders if below[folder]]
        if holding and len(folders) > 1 and len(set(map(tuple, below.values()))) == 1:
            reading.notes.append(
                f"Every class holds the folders {format_name_list(below[holding[0]])}: the "
                "pictures of these are taken together."
            )
        elif holding:
            count = f"{len(holding):,} classes hold" if len(holding) > 1 else "1 class holds"
            reading.notes.append(
                f"{count} folders ({format_name_list([holding[0].name])}: "
                f"{format_name_list(below[holding[0]])}): the pictures within a class are taken together."
            )
    roles = reading.assign_roles(set(by_split))
    reading.tree.add_classes(by_split, {split: SPLIT_TITLES[role] for split, role in roles.items()})
    return reading.build_layout(by_split, roles)


def _find_splits_within(reading: LayoutReading, folders: Sequence[Path]) -> dict[str, ClassFiles]:
    """The splits that every class holds for itself: cat/train, cat/test, dog/train."""
    by_split: dict[str, ClassFiles] = {}
    for folder in folders:
        inner, pictures = reading.walk.list_folder(folder)
        if not inner and not pictures:
            continue
        said = [parse_split_folder(one.name) for one in inner]
        if pictures or any(one is None or not one.is_plain for one in said):
            return {}
        for one, name in zip(inner, said, strict=True):
            if name is None or name.split == UNLABELLED:
                return {}
            files = {reading.note_class(folder): reading.walk.list_pictures(one)}
            merge_class_files(by_split.setdefault(name.split, {}), files)
    if len(by_split) < 2:
        return {}
    return {split: by_split[split] for split in SPLIT_TITLES if split in by_split}


def _find_splits_in_names(reading: LayoutReading, folders: Sequence[Path]) -> dict[str, ClassFiles]:
    """The splits of classes whose folders name both: cat_train, cat_test, dog_train."""
    said = {folder: parse_split_folder(folder.name) for folder in folders}
    rests: dict[str, set[str]] = {}
    for name in said.values():
        if name is None or name.is_plain or name.split == UNLABELLED or not name.remainder:
            return {}
        rests.setdefault(name.rest, set()).add(name.split)
    if len(rests) < 2 or any(len(splits) < 2 for splits in rests.values()):
        return {}
    by_split: dict[str, ClassFiles] = {}
    for folder, name in said.items():
        if name is not None:
            files = {normalize_name(name.remainder): reading.walk.list_pictures(folder)}
            merge_class_files(by_split.setdefault(name.split, {}), files)
    return {split: by_split[split] for split in SPLIT_TITLES if split in by_split}


def _part_beside_classes(reading: LayoutReading, folders: Sequence[Path]) -> tuple[dict[str, ClassFiles], list[Path]]:
    """Classes, and what lies beside them: a test folder, with classes or without, or a copy.

    Returns:
      the pictures of each split, and the folders that are classes.
    """
    said = {folder: parse_split_folder(folder.name) for folder in folders}
    beside = {
        folder: name for folder, name in said.items() if name is not None and name.is_plain and name.split != "train"
    }
    classes = [folder for folder in folders if folder not in beside]
    copies = [folder for folder in classes if _holds_its_neighbors(reading, folder, classes)]
    classes = [folder for folder in classes if folder not in copies]
    for folder in copies:
        reading.notes.append(f"{folder.name} holds folders as they lie beside it, perhaps a copy: it is left out.")
        reading.tree.add_left_out(folder.name)
    if not beside and copies:
        return {"train": reading.list_class_files(classes)}, classes
    if not beside or len(classes) < 2:
        return {"train": reading.list_class_files(folders)}, list(folders)
    by_split = {"train": reading.list_class_files(classes)}
    known = {fold_class_name(folder.name) for folder in classes}
    for folder, name in beside.items():
        inner, pictures = reading.walk.list_folder(unwrap_split(reading, folder))
        labelled = [one for one in inner if fold_class_name(one.name) in known]
        if labelled and name.split != UNLABELLED:
            merge_class_files(by_split.setdefault(name.split, {}), reading.list_class_files(labelled))
            reading.notes.append(
                f"{folder.name} holds classes that lie beside it: it is read as "
                f"{SPLIT_TITLES[name.split]} images, the others as training images."
            )
        elif pictures or inner:
            left = SplitFolder(folder, UNLABELLED, folder.name)
            left.loose = reading.walk.list_pictures(folder)
            reading.notes.append(describe_unlabelled_split(left, []))
            reading.tree.add_left_out(folder.name, left.count)
    return by_split, classes


def _holds_its_neighbors(reading: LayoutReading, folder: Path, classes: Sequence[Path]) -> bool:
    """Whether a folder holds nothing but two or more folders that are also beside it."""
    inner, pictures = reading.walk.list_folder(folder)
    others = {fold_class_name(one.name) for one in classes if one != folder}
    return (
        len(inner) > 1
        and not pictures
        and {fold_class_name(one.name) for one in inner} <= others
        and any(map(reading.walk.has_pictures, inner))
    )
