"""Masks, thumbnails and segmentation images next to pictures: found by their names, kept or left out as was chosen."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ensemble.datasets.own.request import COMPANION_CHOICES, COMPANION_OPTION
from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.folders.folder_walk import FolderWalk
from ensemble.datasets.own.sources.folders.layout_reading import ClassFiles
from ensemble.errors import DataError

_WORDS = (
    "masks?|mask[_ -]?\\d+|seg|segs|segm|segmentations?|segmented|gt|ground[_ -]?truth|annotations?|annotated|trimaps?"
    "|thumb|thumbs|thumbnails?|preview|overlays?|heatmaps?|labelmaps?|contours?|depth"
)
_NAME = re.compile(rf"(?:(?:{_WORDS})[_ .-]+(.+)|(.+?)[_ .-]+(?:{_WORDS}))", re.IGNORECASE)
_FOLDER = re.compile(rf"(?:(?:train|test|val|images?|img)[_ .-])?(?:{_WORDS})", re.IGNORECASE)


def leave_out_companions(walk: FolderWalk) -> list[str]:
    """Leave masks and the like out of what the folder lists from now on; return what is to be said of it."""
    pictures = walk.list_pictures(walk.root)
    found = _find_companions(pictures, walk)
    walk.claim_pictures(found)
    return [f"{_describe_companions(found, walk)}, and left out."] if found else []


def ask_about_companions(walk: FolderWalk, splits: Mapping[str, ClassFiles], choice: str) -> list[str]:
    """Refuse masks and the like among the pictures of classes, unless somebody said what to do with them.

    Args:
      walk: of the folder.
      splits: the pictures of each split and class.
      choice: one of `COMPANION_CHOICES`; "" where nobody has said.

    Returns:
      What is to be said of them.

    Raises:
      DataError: there are some, and nobody has said what to do with them.
    """
    found = _find_companions([path for files in splits.values() for paths in files.values() for path in paths], walk)
    if not found:
        return []
    if not choice:
        raise DataError(
            f"{_describe_companions(found, walk)}. Say with {COMPANION_OPTION} what to do with them: "
            f"{' or '.join(COMPANION_CHOICES)}."
        )
    return [f"{_describe_companions(found, walk)}, and kept."]


def _describe_companions(found: set[Path], walk: FolderWalk) -> str:
    are = "1 picture looks" if len(found) == 1 else f"{len(found):,} pictures look"
    listing = format_name_list(sorted(map(walk.relative_path, found)))
    return f"{are} like a mask, thumbnail or segmentation image of another ({listing})"


def _find_companions(pictures: Sequence[Path], walk: FolderWalk) -> set[Path]:
    """Pictures called as another one with such a word, in its folder or in a folder called so."""
    strange = [path for path in pictures if _NAME.fullmatch(path.stem)]
    found = set[Path]()
    if strange:
        there = {(path.parent, path.stem) for path in pictures}
        for path in strange:
            match = _NAME.fullmatch(path.stem)
            if match and (path.parent, match[1] or match[2]) in there:
                found.add(path)
    folders = {
        folder
        for folder in {path.parent for path in pictures}
        if any(map(_FOLDER.fullmatch, folder.relative_to(walk.root).parts))
    }
    if folders:
        stems = {path.stem for path in pictures if path.parent not in folders and path not in found}
        for path in pictures:
            match = _NAME.fullmatch(path.stem)
            names = {path.stem, match[1] or match[2]} if match else {path.stem}
            if path.parent in folders and names & stems:
                found.add(path)
    return found
