"""What all pictures of a dataset have in common: sizes, colours, what is black and white in them.

Headers tell the sizes. Numbers of more than 8 bits are read once for their range, as far as that
can still change the levels; pictures of 8 bits until one is lighter than 16 of 255, mostly the
first.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from itertools import chain

from ensemble.datasets.own.source import PictureSurvey
from ensemble.datasets.own.sources.encoded import picture_decoding
from ensemble.datasets.own.sources.encoded.parallel_reading import count_pictures_ahead, map_files
from ensemble.datasets.own.sources.encoded.picture_decoding import PictureFile
from ensemble.files.image_levels import MAX_LEVEL, MAX_SMALL_LEVEL, LevelRange, describe_levels, format_level
from ensemble.pictures.files import transparency, working_image
from ensemble.pictures.files.levels import PictureLevels

MAX_CLEAR_PICTURES = 512  # transparent ones that are looked at, evenly chosen
_DRAFT_SIDE = 64  # a JPEG's largest number is looked for at this size


def survey_picture_files(paths: Sequence[PictureFile], pool: Executor, notes: list[str]) -> PictureSurvey:
    """Sizes and colours of picture files, and what is black and white in them.

    Args:
      paths: of all pictures; those that cannot be read are passed over.
      pool: what reads several at once.
      notes: what was assumed is added to them.
    """
    survey = PictureSurvey()
    by_depth: dict[str, list[PictureFile]] = {"shallow": [], "deep": [], "fraction": []}
    clear = []
    for path, traits in zip(paths, map_files(_try_picture_traits, paths, pool), strict=True):
        if traits:
            survey.sizes[traits.size] += 1
            survey.grey &= traits.grey
            if traits.clear:
                clear.append(path)
            else:
                by_depth[traits.depth].append(path)
    levels = PictureLevels(ground=_choose_ground(clear, pool, notes))
    if by_depth["shallow"] and not clear:
        found = _find_shallow_range(by_depth["shallow"], pool)
        if 0 < found.high <= MAX_SMALL_LEVEL:
            levels = replace(levels, shallow=found.levels)
            notes.append(_describe_small_levels("Pictures", found))
    if by_depth["deep"]:
        found = _find_range(by_depth["deep"], pool)
        levels = replace(levels, deep=found.levels)
        notes.append(f"Pictures of more than 8 bits {_describe_range(found)}.")
    if by_depth["fraction"]:
        found = _find_range(by_depth["fraction"], pool)
        levels = replace(levels, fraction=found.levels)
        notes.append(f"Pictures of fractions {_describe_range(found)}.")
    survey.levels = levels
    return survey


def _describe_range(found: LevelRange) -> str:
    upper = ", whose upper eight bits are kept" if found.levels[1] == MAX_LEVEL else ""
    to = "beyond" if found.is_final else "to"
    most = MAX_LEVEL // 4 if found.is_final else found.high
    return (
        f"run from {format_level(found.low)} {to} {format_level(most)}: in all of them "
        f"{describe_levels(found.levels)}{upper}"
    )


def _describe_small_levels(what: str, found: LevelRange) -> str:
    """A sentence on pictures of 8 bits that would be nearly black."""
    return (
        f"{what} have no number above {format_level(found.high)} of 255: in all of them "
        f"{describe_levels(found.levels)}."
    )


def _try_picture_traits(path: PictureFile) -> picture_decoding.PictureTraits | None:
    """`picture_decoding.read_picture_traits`, or None if there is none to be read."""
    try:
        return picture_decoding.read_picture_traits(path)
    except picture_decoding.UnreadablePictureError:
        return None


def _find_range(paths: Sequence[PictureFile], pool: Executor) -> LevelRange:
    """The range of the numbers of deep pictures, until no other can change the levels."""

    def read_range(path: PictureFile) -> LevelRange:
        with picture_decoding.open_picture_file(path) as image, picture_decoding.limit_large_decoding(image):
            return working_image.find_level_range(image)

    return _join_ranges(map_files(_skip_unreadable(read_range), paths, pool, count_pictures_ahead()), None)


def _find_shallow_range(paths: Sequence[PictureFile], pool: Executor) -> LevelRange:
    """The range of the numbers of pictures of 8 bits, until one is not nearly black."""

    def read_range(path: PictureFile) -> LevelRange:
        found = LevelRange()
        with picture_decoding.open_picture_file(path) as image:
            image.draft(None, (_DRAFT_SIDE, _DRAFT_SIDE))
            with picture_decoding.limit_large_decoding(image):
                plain = image if image.mode in ("L", "RGB") else image.convert("RGB")
                extrema = plain.getextrema()
        channels = extrema if isinstance(extrema[0], tuple) else (extrema,)
        found.low = min(float(low) for low, _ in channels)  # type: ignore[misc]
        found.high = max(float(high) for _, high in channels)  # type: ignore[misc]
        return found

    read = _skip_unreadable(read_range)
    ranges = chain(map(read, paths[:1]), map_files(read, paths[1:], pool, count_pictures_ahead()))
    return _join_ranges(ranges, MAX_SMALL_LEVEL)


def _skip_unreadable(read: Callable[[PictureFile], LevelRange]) -> Callable[[PictureFile], LevelRange]:
    def read_or_skip(path: PictureFile) -> LevelRange:
        try:
            return read(path)
        except picture_decoding.UnreadablePictureError:
            return LevelRange()

    return read_or_skip


def _join_ranges(ranges: Iterator[LevelRange], enough: float | None) -> LevelRange:
    """All ranges in one, until the largest number exceeds `enough`, or nothing can change."""
    found = LevelRange()
    for each in ranges:
        found.join(each)
        if found.is_final or (enough is not None and found.high > enough):
            break
    return found


def _choose_ground(clear: Sequence[PictureFile], pool: Executor, notes: list[str]) -> str:
    step = max(1, -(-len(clear) // MAX_CLEAR_PICTURES))
    scan = transparency.GroundScan()

    def read_scan(path: PictureFile) -> transparency.GroundScan:
        each = transparency.GroundScan()
        try:
            with picture_decoding.open_picture_file(path) as image, picture_decoding.limit_large_decoding(image):
                each.add(image)
        except picture_decoding.UnreadablePictureError:
            pass
        return each

    for each in map_files(read_scan, clear[::step], pool):
        scan.join(each)
    notes += scan.describe_ground()
    return scan.ground
