"""Ruled and squared paper: the printed lines found and taken out, the strokes across them kept.

The picture is cut into strips across the lines' direction; the profile of each strip has a peak
where a line crosses it, also where the line is faint, because noise averages out (projection
profiles: Postl, "Detection of linear oblique structures and skew scan in digitized documents",
1986). Peaks are followed from strip to strip, which lets a line lean and bend. A line runs from
one side of the picture to the other, or is one of several alike; a person's stroke is neither.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Away = NDArray[np.float32]
_STRIPS = 32
_MAX_TILT = 0.14  # tangent of the largest tilt: 8 degrees
_MAX_BEND = 2.0  # pixels, at a length of 1000, that a line may leave the course of its last strips
_MIN_PEAK_NOISE_RATIO = 4.0  # deviations of a strip's profile that a line stands out by
_FULL_SPAN_SHARE = 0.9  # share of the side that a single line spans
PARTIAL_SPAN_SHARE, _MIN_SIMILAR_LINES = 0.55, 4  # share that each of so many similar lines spans
_MAX_PEAKS_PER_STRIP = 90  # peaks of a strip that are followed, the highest ones
_MIN_STRIP_SHARE = 0.6  # share of the strips between its ends in which a line is seen


class RuledLine(NamedTuple):
    """A printed line, nearly along the rows of the array in which it was found.

    Attributes:
      rows: float (W,) its middle at every column.
      start, stop: columns between which it runs.
      half_width: half its width in pixels.
      contrast: how far it is from paper, as the array says it.
    """

    rows: NDArray[np.floating]
    start: int
    stop: int
    half_width: float
    contrast: float


class _StripProfiles(NamedTuple):
    """Peaks of each strip's profile: their rows, refined, and how high they are."""

    strip_width: float
    rows: list[NDArray[np.floating]]
    heights: list[NDArray[np.floating]]
    profile: _Away


def find_ruled_lines(away: _Away) -> list[RuledLine]:
    """Printed lines nearly along the rows of a picture of contrasts float32 (H, W)."""
    height, width = away.shape
    if width < 2 * _STRIPS or height < 48:
        return []
    profiles = _find_strip_peaks(away)
    # Far fewer strips have a peak at all in a drawing than a line would need.
    if sum(rows.size > 0 for rows in profiles.rows) < PARTIAL_SPAN_SHARE * _MIN_STRIP_SHARE * _STRIPS:
        return []
    tracks: list[dict[int, int]] = []
    used: set[tuple[int, int]] = set()
    for seed in (_STRIPS // 2, _STRIPS // 4, 3 * _STRIPS // 4):
        for peak in np.argsort(-profiles.heights[seed])[:_MAX_PEAKS_PER_STRIP]:
            if (seed, int(peak)) not in used:
                track = _track_ruled_line(profiles, seed, int(peak), max(width, height))
                if len(track) >= PARTIAL_SPAN_SHARE * _MIN_STRIP_SHARE * _STRIPS:
                    used |= set(track.items())
                    tracks.append(track)
    lines = [line for track in tracks if (line := _fit_ruled_line(profiles, track, away)) is not None]
    return sorted(_filter_ruled_lines(lines, width), key=lambda line: float(line.rows.mean()))


def _find_strip_peaks(away: _Away) -> _StripProfiles:
    """Local maxima of the mean over each of `_STRIPS` vertical strips, clear of its noise."""
    from scipy import ndimage

    height, width = away.shape
    wide = width // _STRIPS
    left = (width - wide * _STRIPS) // 2
    cut = away[:, left : left + wide * _STRIPS]
    if cut.strides[0] < cut.strides[1]:  # a transposed view: summed in the order of its memory
        profile = cut.T.reshape(_STRIPS, wide, height).mean(axis=1).T
    else:
        profile = cut.reshape(height, _STRIPS, wide).mean(axis=2)
    smooth = ndimage.uniform_filter1d(profile, 3, axis=0)
    around = ndimage.uniform_filter1d(profile, max(15, height // 40) | 1, axis=0)
    apart = smooth - around
    noise = 1.4826 * np.median(np.abs(apart - np.median(apart, axis=0)), axis=0) + 1e-3
    top = (apart == ndimage.maximum_filter1d(apart, 7, axis=0)) & (apart > _MIN_PEAK_NOISE_RATIO * noise)
    rows = [np.flatnonzero(top[:, strip]) for strip in range(_STRIPS)]
    heights = [apart[row, strip] for strip, row in enumerate(rows)]
    return _StripProfiles(wide, [row.astype(float) for row in rows], heights, apart)


def _track_ruled_line(profiles: _StripProfiles, seed: int, peak: int, longest: int) -> dict[int, int]:
    """Strip: number of its peak, for the line through one peak of the strip `seed`."""
    track = {seed: peak}
    reach = _MAX_TILT * profiles.strip_width + 1
    tight = 1.0 + _MAX_BEND * longest / 1000
    for step in (1, -1):
        missed, strip = 0, seed + step
        while 0 <= strip < _STRIPS and missed < 5:
            expected, room = _predict_line_course(profiles, track, strip, reach, tight)
            nearest_peak = _find_nearest_peak(profiles, strip, expected, room, profiles.heights[seed][peak])
            if nearest_peak is None:
                missed += 1
            else:
                track[strip], missed = nearest_peak, 0
            strip += step
    return track


def _predict_line_course(
    profiles: _StripProfiles, track: dict[int, int], strip: int, reach: float, tight: float
) -> tuple[float, float]:
    near = sorted(track, key=lambda other: abs(other - strip))[:6]
    rows = [profiles.rows[other][track[other]] for other in near]
    away = abs(near[0] - strip)
    if len(near) < 3:
        return float(rows[0]), reach * away
    steps = [other - strip for other in near]
    mean, level = sum(steps) / len(steps), sum(rows) / len(rows)
    spread = sum((step - mean) ** 2 for step in steps)
    slope = sum((step - mean) * row for step, row in zip(steps, rows, strict=True)) / spread
    return float(level - slope * mean), tight + 0.25 * away


def _find_nearest_peak(profiles: _StripProfiles, strip: int, row: float, room: float, height: float) -> int | None:
    rows, heights = profiles.rows[strip], profiles.heights[strip]
    if not rows.size:
        return None
    off = np.abs(rows - row) + 1e3 * (heights < 0.25 * height)
    best = int(off.argmin())
    return best if off[best] <= room else None


def _fit_ruled_line(profiles: _StripProfiles, track: dict[int, int], away: _Away) -> RuledLine | None:
    """The smooth curve through a track's peaks; None if it is not one thin line."""
    height, width = away.shape
    strips = np.array(sorted(track))
    left = (width - profiles.strip_width * _STRIPS) / 2
    columns = left + (strips + 0.5) * profiles.strip_width
    rows = np.array([profiles.rows[strip][track[strip]] for strip in strips])
    ends = strips[0] * profiles.strip_width, (strips[-1] + 1) * profiles.strip_width + 2 * left
    if len(strips) < _MIN_STRIP_SHARE * (strips[-1] - strips[0] + 1):
        return None
    centred = columns / width - 0.5
    curve = np.polyfit(centred, rows, 2)
    off = np.abs(np.polyval(curve, centred) - rows)
    if np.median(off) > 1.5 + max(height, width) / 1000:
        return None
    good = off <= 2 + 2 * np.median(off)
    curve = np.polyfit(centred[good], rows[good], 2)
    course = np.polyval(curve, np.arange(width) / width - 0.5)
    if course.min() < 1 or course.max() > height - 2:
        course = course.clip(1, height - 2)
    return _measure_ruled_line(away, course, int(ends[0]), int(min(width, ends[1])))


def _measure_ruled_line(away: _Away, course: NDArray[np.floating], start: int, stop: int) -> RuledLine | None:
    """The line's width and contrast, from the rows around its course; None for a thick one."""
    height = len(away)
    most = max(3, round(0.009 * max(away.shape)))
    around = np.arange(-3 * most, 3 * most + 1)
    columns = np.arange(start, stop)
    rows = (np.rint(course[start:stop])[None].astype(int) + around[:, None]).clip(0, height - 1)
    across = np.median(away[rows, columns[None]], axis=1)
    across -= np.quantile(across, 0.3)
    middle = 3 * most - 1 + int(across[3 * most - 1 : 3 * most + 2].argmax())
    peak = across[middle]
    if peak <= 0:
        return None
    inside = across > 0.35 * peak
    up = middle - np.argmin(inside[middle::-1]) if not inside[: middle + 1].all() else 0
    down = middle + np.argmin(inside[middle:]) if not inside[middle:].all() else len(inside)
    half = (down - up - 1) / 2
    if half > most:
        return None
    shift = (down + up) / 2 - 3 * most
    return RuledLine(course + shift, start, stop, half, float(peak))


def _filter_ruled_lines(lines: list[RuledLine], width: int) -> list[RuledLine]:
    span = np.array([line.stop - line.start for line in lines]) / max(1, width)
    slope = np.array([line.rows[-1] - line.rows[0] for line in lines]) / max(1, width)
    alike = [(np.abs(slope - own) < 0.02).sum() for own in slope]
    kept: list[RuledLine] = []
    for line, share, like in zip(lines, span, alike, strict=True):
        if share >= _FULL_SPAN_SHARE or (share >= PARTIAL_SPAN_SHARE and like >= _MIN_SIMILAR_LINES):
            new = all(np.abs(line.rows - other.rows).mean() > line.half_width + 2 for other in kept)
            if new:
                kept.append(line)
    return kept


def select_line_pixels(line: RuledLine, height: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows (B, L) and columns (1, L) of the pixels that a line covers, with its soft edges."""
    half = int(np.ceil(line.half_width + 1))
    around = np.arange(-half, half + 1)
    columns = np.arange(line.start, line.stop)
    rows = np.rint(line.rows[line.start : line.stop]).astype(np.intp) + around[:, None]
    return rows.clip(0, height - 1), columns[None]


def erase_ruled_line(away: _Away, line: RuledLine) -> None:
    """Puts paper where a line is, in place; what is far darker than the line is ink and stays."""
    rows, columns = select_line_pixels(line, len(away))
    under = away[rows, columns]
    away[rows, columns] = np.where(under < 1.6 * line.contrast, np.minimum(under, 0), under)


def mend_strokes(mask: NDArray[np.bool_], line: RuledLine) -> None:
    """Joins, in place, strokes that end on both sides of an erased line."""
    from scipy import ndimage

    half = int(np.ceil(line.half_width + 1))
    height = len(mask)
    reach = np.arange(-2 * half - 2, 2 * half + 3)
    columns = np.arange(line.start, line.stop)
    rows = np.rint(line.rows[line.start : line.stop]).astype(np.intp) + reach[:, None]
    rows = rows.clip(0, height - 1)
    strip = mask[rows, columns[None]]
    if not strip.any():
        return
    joined = np.zeros_like(strip)
    for lean in (-1.0, -0.5, 0.0, 0.5, 1.0):
        joined |= ndimage.binary_closing(strip, _build_slanted_segment(2 * half + 2, lean))
    inner = np.abs(reach) <= half
    strip[inner] |= joined[inner]
    mask[rows, columns[None]] = strip


def _build_slanted_segment(length: int, lean: float) -> NDArray[np.bool_]:
    steps = np.rint(np.arange(length) * lean).astype(int)
    segment = np.zeros((length, int(steps.max() - steps.min()) + 1), bool)
    segment[np.arange(length), steps - steps.min()] = True
    return segment
