"""Classes that a table beside the pictures names: labels.csv, train.csv, metadata.jsonl.

A row a picture: its file (a path from the table's folder on, a name, or a name without its ending,
as Kaggle's ids are) and its class. Columns are found by their names; the class may also be the only
other column, or a column each with a single 1 (one-hot). A column `split` parts training and test
images, else the table's name, else the picture's folder.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.folders.folder_layout import read_folder_layout
from ensemble.datasets.own.sources.folders.folder_walk import MAX_DEPTH, FolderWalk
from ensemble.datasets.own.sources.folders.label_table import LabelTable, parse_label_table
from ensemble.datasets.own.sources.folders.layout_reading import SPLIT_TITLES, ClassFiles, FolderLayout, LayoutReading
from ensemble.datasets.own.sources.folders.picture_table import TABLE_SUFFIXES, read_picture_table
from ensemble.datasets.own.sources.folders.split_names import (
    UNLABELLED,
    SplitName,
    parse_split_folder,
    parse_split_location,
)
from ensemble.errors import DataError
from ensemble.files.picture_names import AmbiguousNameError, PictureNames

_GROUP_TABLE = "groups.csv"
_MAX_TABLES = 16
HELP = "a table of labels needs a head with the columns file and label, and a row for each picture"


@dataclass
class _Matched:
    """Which pictures the rows of all tables are of."""

    splits: dict[str, ClassFiles] = field(default_factory=dict)
    groups: dict[Path, str] = field(default_factory=dict)
    label_of: dict[Path, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unlabelled: int = 0


def read_table_layout(walk: FolderWalk) -> FolderLayout | None:
    """The layout of pictures whose classes a table names; None where there is no such table.

    Raises:
      DataError: there is one, and it cannot be read or does not fit the pictures.
    """
    top = _find_table_folder(walk)
    if top is None:
        return None
    folders, beside = walk.list_folder(top)
    paths = _list_table_paths(walk, [top, *folders])
    if not paths:
        return None
    every = [found for path in paths if (found := parse_label_table(read_picture_table(path)))]
    tables = [one for one in every if one.labels]
    if not tables:
        if not every or _has_class_folders(walk, folders):
            return None
        raise DataError(every[0].problem)
    notes = [f"{one.table.path.name} has no column of classes and is left out." for one in every if not one.labels]
    if any(one.splits for one in tables) and not all(one.splits for one in tables):
        left = [one.table.path.name for one in tables if not one.splits]
        notes.append(f"{format_name_list(left)} names no split, as the other tables do, and is left out.")
        tables = [one for one in tables if one.splits]
    pictures = [*beside, *(path for folder in folders for path in walk.list_pictures(folder))]
    matched = _match_rows(walk, top, tables, pictures)
    if not matched.label_of:
        if _has_class_folders(walk, folders):
            return None
        name = tables[0].table.path.name
        raise DataError(
            f"No row of {name} is of a picture in the folder (the first is {matched.missing[0]!r:.120}): {HELP}."
        )
    for table in tables:
        walk.skipped_files.remove(walk.relative_path(table.table.path))
    reading = LayoutReading(walk, top)
    assumed = [*matched.notes, *(note for one in tables for note in [*one.table.notes, *one.notes])]
    reading.notes += [*_describe_tables(tables, matched, len(pictures)), *assumed, *notes]
    if "train" not in matched.splits and _has_class_folders(walk, folders, matched.label_of):
        return _read_labelled_beside(walk, matched, reading.notes)
    roles = reading.assign_roles(set(matched.splits))
    by_split = {split: matched.splits[split] for split in SPLIT_TITLES if split in matched.splits}
    for split, files in by_split.items():
        name = format_name_list([one.table.path.name for one in tables])
        reading.tree.add_split(name, SPLIT_TITLES[roles[split]], files)
    if others := len(pictures) - len(matched.label_of):
        reading.tree.add_left_out("other pictures", others)
    layout = reading.build_layout(by_split, roles)
    layout.groups = matched.groups or None
    return layout


def _find_table_folder(walk: FolderWalk) -> Path | None:
    """The folder with the tables: the root, or the first below it that does not only hold one."""
    top = walk.root
    while len(top.parts) <= len(walk.root.parts) + MAX_DEPTH:
        folders, pictures = walk.list_folder(top)
        if _list_table_paths(walk, [top]) or len(folders) != 1 or pictures:
            return top
        top = folders[0]
    return None


def _list_table_paths(walk: FolderWalk, folders: Sequence[Path]) -> list[Path]:
    for folder in folders:
        walk.list_folder(folder)  # so that what is no picture in it is known
    inside = {folder: number for number, folder in enumerate(folders)}
    found = [
        path
        for name in walk.skipped_files
        if (path := walk.root / name).suffix.lower() in TABLE_SUFFIXES
        and path.parent in inside
        and path.name.lower() != _GROUP_TABLE
    ]
    return sorted(found, key=lambda path: (inside[path.parent], path.name))[:_MAX_TABLES]


def _match_rows(walk: FolderWalk, top: Path, tables: Sequence[LabelTable], pictures: Sequence[Path]) -> _Matched:
    """Which picture each row is of.

    Raises:
      DataError: a row's name is that of several pictures, or one has two classes.
    """
    matched = _Matched()
    names = PictureNames([path.relative_to(top).as_posix() for path in pictures], top.name)
    for label_table in tables:
        table = label_table.table
        base = "" if table.path.parent == top else table.path.parent.relative_to(top).as_posix()
        said = parse_split_folder(table.path.stem)

        def is_of_split(place: int, said: SplitName | None = said) -> bool:
            return said is not None and _is_in_split(pictures[place], said.split)

        cells = table.list_cells(label_table.files)
        matched.notes += names.read_paths_from(cells)
        groups = label_table.groups or [""] * len(cells)
        splits = label_table.splits or [""] * len(cells)
        for cell, label, split, group, place in zip(
            cells, label_table.labels, splits, groups, table.places, strict=True
        ):
            try:
                number = names.find_picture(cell, base, is_of_split)
            except AmbiguousNameError as error:
                raise DataError(f"{place.capitalize()} of {table.path.name}: {error}.") from error
            if number is None:
                matched.missing.append(cell)
                continue
            path = pictures[number]
            if not label:
                matched.unlabelled += 1
                continue
            if matched.label_of.setdefault(path, label) != label:
                raise DataError(
                    f"{place.capitalize()} of {table.path.name} gives {walk.relative_path(path)!r:.120} "
                    f"the class “{label:.60}”, and another row “{matched.label_of[path]:.60}”: keep one of them."
                )
            if group:
                matched.groups[path] = group
            where = split or parse_split_location(path.relative_to(top)) or "train"
            if where != UNLABELLED:
                matched.splits.setdefault(where, {}).setdefault(label, []).append(path)
    for files in matched.splits.values():
        for label, paths in files.items():
            files[label] = list(dict.fromkeys(paths))  # a row may stand there twice
    if matched.groups and len(matched.groups) < len(matched.label_of):
        raise DataError(
            f"{tables[0].table.path.name} names the group of {len(matched.groups):,} of "
            f"{len(matched.label_of):,} pictures: name all, or leave the column out."
        )
    return matched


def _describe_tables(tables: Sequence[LabelTable], matched: _Matched, pictures: int) -> list[str]:
    names = format_name_list([one.table.path.name for one in tables])
    columns = list(dict.fromkeys(one.column for one in tables))
    sentences = [f"Classes are read from {' and '.join(columns)} of {names}, not from folders."]
    if matched.unlabelled:
        rows = "row is" if matched.unlabelled == 1 else "rows are"
        sentences.append(f"{matched.unlabelled:,} {rows} without a class and left out.")
    if matched.missing:
        sentences.append(
            f"{len(matched.missing):,} row{' is' if len(matched.missing) == 1 else 's are'} "
            f"of no picture that is there: {format_name_list(matched.missing)}."
        )
    if left := pictures - len(matched.label_of) - matched.unlabelled:
        sentences.append(
            f"{left:,} picture{' has' if left == 1 else 's have'} no row: left out, as nothing says what they show."
        )
    return sentences


def _read_labelled_beside(walk: FolderWalk, matched: _Matched, notes: list[str]) -> FolderLayout | None:
    """The layout of folders that are classes, next to test images whose classes a table names."""
    walk.claim_pictures(matched.label_of)
    walk.labelled = matched.splits
    layout = read_folder_layout(walk)
    layout.notes[:0] = notes
    return layout


def _has_class_folders(walk: FolderWalk, folders: Sequence[Path], labelled: Collection[Path] = ()) -> bool:
    """Whether several folders hold pictures, or one holds several that do, besides those with a label in a table."""

    def count_full(folders: Sequence[Path]) -> int:
        return sum(bool(set(walk.list_pictures(folder)) - set(labelled)) for folder in folders)

    return count_full(folders) > 1 or any(count_full(walk.list_folder(folder)[0]) > 1 for folder in folders)


def _is_in_split(path: Path, split: str) -> bool:
    return any((said := parse_split_folder(part)) and said.split == split for part in path.parts)
