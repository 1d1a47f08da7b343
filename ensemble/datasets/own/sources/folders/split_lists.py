"""Lists next to folders of pictures that divide them into splits: train.txt, train_test_split.txt.

A line names a picture, as a path with or without its ending, perhaps followed by its class; or, in a list of all
pictures, a picture and its split. Tables with a column of files and no classes are such lists too. CUB-200 numbers
its pictures in images.txt.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.folders.folder_walk import FolderWalk
from ensemble.datasets.own.sources.folders.label_table import parse_label_table
from ensemble.datasets.own.sources.folders.layout_reading import (
    FolderLayout,
    assign_split_roles,
    describe_followed_split,
    merge_class_files,
)
from ensemble.datasets.own.sources.folders.picture_table import TABLE_SUFFIXES, read_picture_table, read_table_lines
from ensemble.datasets.own.sources.folders.split_columns import read_split_columns
from ensemble.datasets.own.sources.folders.split_names import UNLABELLED, parse_split_folder
from ensemble.errors import DataError
from ensemble.files.picture_names import AmbiguousNameError, PictureNames

_SUFFIXES = (".txt", ".lst", ".list", ".json")
_ALL_NAME = re.compile(
    r"(train[_-]?test[_-]?)?(splits?|partitions?)|list_eval_partition|evaluation_status", re.IGNORECASE
)
_FLAG_NAME = re.compile(r"train[_-]?test[_-]?splits?", re.IGNORECASE)  # whose 1 is a training image
_NUMBERS_FILE = "images.txt"
_MOST_LISTS = 16
_LEAST_SHARE = 0.5  # of a list's lines that name a picture

_Line = tuple[str, str]  # a picture and its split


@dataclass
class _SplitList:
    """A list of pictures and their splits.

    Attributes:
      path: of its file.
      lines: the picture and the split of each line.
      notes: what was assumed, a sentence each.
    """

    path: Path
    lines: list[_Line]
    notes: list[str] = field(default_factory=list)


def follow_split_lists(walk: FolderWalk, layout: FolderLayout) -> None:
    """Divide the pictures of a layout as the lists in its folders say.

    If folders or tables have divided them already, a note says that the lists are not followed.

    Args:
      walk: of the folder.
      layout: what was read; changed in place.

    Raises:
      DataError: a list cannot be read.
    """
    lists = [read for name in walk.skipped_files if (read := _read_split_list(walk.root / name))][:_MOST_LISTS]
    if not lists:
        return
    listing = format_name_list([one.path.name for one in lists])
    if "test" in layout.splits:
        layout.notes.append(f"{listing} names splits and is not followed: folders or columns are.")
        return
    class_of = {path: name for name, paths in layout.splits["train"].items() for path in paths}
    pictures = list(class_of)
    below = PictureNames([path.relative_to(layout.top).as_posix() for path in pictures], layout.top.name)
    above = PictureNames([path.relative_to(walk.root).as_posix() for path in pictures], walk.root.name)
    split_of, problem = dict[Path, str](), ""
    missing = list[str]()
    for one in lists:
        places, lost = _match_lines(one, below, above, one.path.parent.relative_to(walk.root).as_posix())
        found = {pictures[place]: split for place, split in places.items()}
        if len(found) < _LEAST_SHARE * len(one.lines):
            problem = f"{one.path.name} names {len(lost):,} pictures that are not there, such as {lost[0]!r:.80}"
        if twice := [path for path, split in found.items() if split_of.get(path, split) != split]:
            are = "picture is" if len(twice) == 1 else "pictures are"
            problem = f"{len(twice):,} {are} in two splits, such as {walk.relative_path(twice[0])!r:.120}"
        split_of |= found
        missing += lost
    if problem or set(split_of.values()) <= {"train"}:
        layout.notes.append(
            f"The split in {listing} is not followed: {problem or 'it names no test images'}. Give one list of "
            "training and one of test images, train.txt and test.txt, with a path of a picture in each line."
        )
        return
    for one in lists:
        walk.skipped_files.remove(walk.relative_path(one.path))
        layout.notes += one.notes
    rest = "" if "train" in split_of.values() else "train"
    left = [path for path in pictures if path not in split_of]
    split_of |= dict.fromkeys(left, rest)
    layout.notes.append(describe_followed_split(listing, split_of.values()))
    if left and not rest:
        are = "picture is" if len(left) == 1 else "pictures are"
        layout.notes.append(f"{len(left):,} {are} in no list and left out.")
    if missing:
        lines = "1 line names" if len(missing) == 1 else f"{len(missing):,} lines name"
        layout.notes.append(f"Of the lists, {lines} no picture that is there: {format_name_list(missing)}.")
    roles, notes = assign_split_roles({split for split in split_of.values() if split})
    layout.notes += notes
    layout.splits = {"train": {}}
    for path, split in split_of.items():
        if split and split != UNLABELLED:
            merge_class_files(layout.splits.setdefault(roles[split], {}), {class_of[path]: [path]})


def _match_lines(
    one: _SplitList, below: PictureNames, above: PictureNames, base: str
) -> tuple[dict[int, str], list[str]]:
    """The split of each picture that a list names, by its place, and the lines that name none."""
    found, lost = dict[int, str](), list[str]()
    for name, split in one.lines:
        place = None
        for candidate in _list_candidates(name):
            try:
                place = below.find_picture(candidate)
                place = above.find_picture(candidate, base) if place is None else place
            except AmbiguousNameError:
                continue
            if place is not None:
                break
        if place is None:
            lost.append(name)
        else:
            found[place] = split
    return found, lost


def _list_candidates(line: str) -> dict[str, None]:
    """What may be the picture in a line: all of it, or what is before a class, a number or a delimiter."""
    return dict.fromkeys(
        [line, re.split(r"[\t,;|]", line)[0], (line.rsplit(None, 1) or [""])[0], (line.split() or [""])[0]]
    )


def _read_split_list(path: Path) -> _SplitList | None:
    """The list in a file; None if it is not one."""
    suffix, said = path.suffix.lower(), parse_split_folder(path.stem)
    split = said.split if said and said.is_plain and said.split != UNLABELLED else ""
    try:
        if suffix in TABLE_SUFFIXES:
            table = parse_label_table(read_picture_table(path))
            if table is None or table.labels or not table.splits:
                return None
            lines = list(zip(table.table.list_cells(table.files), table.splits, strict=True))
            return _SplitList(path, lines, [*table.table.notes, *table.notes])
        is_whole = bool(_ALL_NAME.fullmatch(path.stem))
        if suffix not in _SUFFIXES or not (split or is_whole):
            return None
        text = "\n".join(read_table_lines(path)[0])
        if suffix == ".json":
            lines = list(_list_json_lines(json.loads(text), split))
            return _SplitList(path, lines) if lines else None
        names = [line.strip() for line in text.splitlines() if line.strip()]
        return _SplitList(path, [(name, split) for name in names]) if split else _read_whole_list(path, names)
    except (DataError, ValueError, RecursionError):
        return None  # any other file may be next to pictures


def _read_whole_list(path: Path, names: list[str]) -> _SplitList | None:
    """A list of all pictures whose lines end in a split; None if it is not one."""
    pairs = [pair for name in names if len(pair := re.split(r"[\s,;]+", name)) > 1]
    is_flag = bool(_FLAG_NAME.fullmatch(path.stem)) and {pair[-1] for pair in pairs} <= {"0", "1"}
    parts = read_split_columns({"is_train" if is_flag else "split": [pair[-1] for pair in pairs]}, path.name)
    if not parts.splits:
        return None
    names = [" ".join(pair[:-1]) for pair in pairs]
    if all(map(str.isdigit, names)) and (numbers := path.parent / _NUMBERS_FILE).is_file():
        numbered = dict(line.split(None, 1) for line in read_table_lines(numbers)[0] if len(line.split(None, 1)) == 2)
        names = [numbered.get(name, name) for name in names]
    return _SplitList(path, list(zip(names, parts.splits, strict=True)))


def _list_json_lines(value: object, split: str) -> Iterator[_Line]:
    """The texts in JSON with their splits: the first of a list such as ["cat/1.png", 0]."""
    if isinstance(value, str) and split:
        yield value, split
    elif isinstance(value, list):
        are_texts = [isinstance(one, str) for one in value]
        for one in value if all(are_texts) or not are_texts[0] else value[:1]:
            yield from _list_json_lines(one, split)
    elif isinstance(value, dict):
        for name, one in value.items():
            said = None if split else parse_split_folder(name)
            yield from _list_json_lines(one, said.split if said and said.is_plain else split)
