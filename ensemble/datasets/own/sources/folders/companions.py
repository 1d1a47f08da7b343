"""Masks, thumbnails and segmentation images next to pictures: found by their names, and kept or left out."""

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
    """Leave masks and the like out of what the folder lists from now on; return a note about them, if there are any."""
    pictures = walk.list_pictures(walk.root)
    found = _find_companions(pictures, walk)
    walk.claim_pictures(found)
    return [f"{_describe_companions(found, walk)}, and left out."] if found else []


def ask_about_companions(walk: FolderWalk, splits: Mapping[str, ClassFiles], choice: str) -> list[str]:
    """Refuse masks and the like among the pictures of classes, unless a choice was made.

    Args:
      walk: of the folder.
      splits: the pictures of each split and class.
      choice: one of `COMPANION_CHOICES`; "" if none was made.

    Returns:
      A note about those that are kept, if there are any.

    Raises:
      DataError: there are some, and no choice was made.
    """
    found = _find_companions([path for files in splits.values() for paths in files.values() for path in paths], walk)
    if not found:
        return []
    if not choice:
        raise DataError(
            f"{_describe_companions(found, walk)}. Choose with {COMPANION_OPTION} what to do with them: "
            f"{' or '.join(COMPANION_CHOICES)}."
        )
    return [f"{_describe_companions(found, walk)}, and kept."]


def _describe_companions(found: set[Path], walk: FolderWalk) -> str:
    are = "1 picture looks" if len(found) == 1 else f"{len(found):,} pictures look"
    listing = format_name_list(sorted(map(walk.relative_path, found)))
    return f"{are} like a mask, thumbnail or segmentation image of another ({listing})"


def _find_companions(pictures: Sequence[Path], walk: FolderWalk) -> set[Path]:
    """Pictures that have the name of another and such a word, in its folder, or the name alone in a folder named so."""
    bases = {path: match[1] or match[2] for path in pictures if (match := _NAME.fullmatch(path.stem))}
    folders = {
        folder
        for folder in {path.parent for path in pictures}
        if any(map(_FOLDER.fullmatch, folder.relative_to(walk.root).parts))
    }
    if not (bases or folders):
        return set()
    there = {(path.parent, path.stem) for path in pictures}
    found = {path for path, base in bases.items() if (path.parent, base) in there}
    stems = {path.stem for path in pictures if path.parent not in folders and path not in found}
    return found | {path for path in pictures if path.parent in folders and {path.stem, bases.get(path)} & stems}
