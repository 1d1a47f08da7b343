"""Classes that the pictures' own names begin with or hold: cat.12.jpg, Abyssinian_201.jpg.

Which part of a name is the class is said by a pattern, `{class}_*`: `*` stands for anything and `#`
for digits. Without one nothing is taken from names; which pattern would fit is proposed.
"""

import re
from collections import Counter

from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.folders.folder_walk import FolderWalk
from ensemble.datasets.own.sources.folders.layout_reading import SPLIT_TITLES, ClassFiles, FolderLayout, LayoutReading
from ensemble.datasets.own.sources.folders.split_names import UNLABELLED, normalize_name, parse_split_location
from ensemble.errors import ConfigError, DataError

_CLASS_MARK = "{class}"
_MAX_PATTERN_LENGTH = 100
_MAX_WILDCARDS = 5
_PROPOSED_PATTERNS = ("{class}.#", "{class}_#", "{class}-#", "{class} (#)", "{class} #", "{class}#")
_MAX_PROPOSED_CLASSES = 1_000
_MIN_PROPOSED_PICTURES = 2  # of each class


def read_named_layout(walk: FolderWalk, pattern: str) -> FolderLayout:
    """The layout of pictures whose names hold their class.

    Args:
      walk: of their folder.
      pattern: as of `compile_class_pattern`, of names without their ending.

    Raises:
      DataError: no name fits the pattern, or the folder cannot be read.
      ConfigError: the pattern is none.
    """
    compiled = compile_class_pattern(pattern)
    by_split: dict[str, ClassFiles] = {}
    strange = []
    for path in walk.list_pictures(walk.root):
        found = compiled.fullmatch(normalize_name(path.stem))
        split = parse_split_location(path.relative_to(walk.root)) or "train"
        if not found or not found[1].strip():
            strange.append(walk.relative_path(path))
        elif split != UNLABELLED:
            by_split.setdefault(split, {}).setdefault(found[1].strip(), []).append(path)
    if not by_split:
        beside = f", such as {format_name_list(strange)}" if strange else ""
        raise DataError(
            f"No picture's name fits {pattern!r}{beside}: in it {_CLASS_MARK} stands for the class, "
            "# for digits and * for anything."
        )
    reading = LayoutReading(walk, walk.root)
    reading.notes.append(f"Classes are read from the pictures' names by {pattern}, not from folders.")
    if strange:
        reading.notes.append(
            f"{len(strange):,} names do not fit: their pictures are left out ({format_name_list(strange)})."
        )
    roles = reading.assign_roles(set(by_split))
    ordered = {split: by_split[split] for split in SPLIT_TITLES if split in by_split}
    for split, files in ordered.items():
        reading.tree.add_split(pattern, SPLIT_TITLES[roles[split]], files)
    if strange:
        reading.tree.add_left_out("names that do not fit", len(strange))
    return reading.build_layout(ordered, roles)


def compile_class_pattern(pattern: str) -> re.Pattern[str]:
    """A pattern such as `{class}_*` as an expression whose first group is the class.

    Raises:
      ConfigError: it does not name the class once, or is too long.
    """
    parts = re.split(r"(\{class\}|\*+|#+)", pattern)
    wildcards = sum(part[:1] in ("*", "#") for part in parts)
    if parts.count(_CLASS_MARK) != 1 or len(pattern) > _MAX_PATTERN_LENGTH or wildcards > _MAX_WILDCARDS:
        raise ConfigError(
            f"{pattern!r:.120} is no pattern of a class in a name: it needs {_CLASS_MARK} once, and "
            f"at most {_MAX_WILDCARDS} times * (anything) or # (digits), as in {_CLASS_MARK}_#."
        )
    meanings = {_CLASS_MARK: "(.+)", "*": ".*", "#": r"\d+"}
    return re.compile("".join(meanings.get(part) or meanings.get(part[:1]) or re.escape(part) for part in parts))


def propose_class_pattern(walk: FolderWalk) -> str:
    """A sentence with the pattern that all names would fit, and its classes; "" without one.

    Where there is a folder of training images, those of the others need not fit.
    """
    pictures = walk.list_pictures(walk.root)
    learnt = [path for path in pictures if parse_split_location(path.relative_to(walk.root)) == "train"]
    stems = [normalize_name(path.stem) for path in learnt or pictures]
    for pattern in _PROPOSED_PATTERNS if stems else ():
        compiled = compile_class_pattern(pattern)
        found = [compiled.fullmatch(stem) for stem in stems]
        counts = Counter(match[1].strip() for match in found if match)
        if (
            all(found)
            and 2 <= len(counts) <= _MAX_PROPOSED_CLASSES
            and all(counts)
            and min(counts.values()) >= _MIN_PROPOSED_PICTURES
        ):
            classes = [f"{name} {count:,}" for name, count in counts.most_common()]
            return (
                f" Their names look as if they held the class ({format_name_list(classes)}): if "
                f"that is so, set --class-pattern to {pattern}."
            )
    return ""
