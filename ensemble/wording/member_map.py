"""The map of the members in words: how far they stand apart, and whether the picture holds."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ensemble.analysis.positions.classical_scaling import ClassicalScaling
from ensemble.analysis.positions.diversity_plane import PairDiversity
from ensemble.analysis.positions.member_groups import MemberGroups, RatioEstimate
from ensemble.analysis.positions.member_map import MemberMap, SnapshotSpread
from ensemble.wording import formats
from ensemble.wording.formats import format_percent, join_items, pluralize_noun

# Kruskal's words for the stress that a map has at most: above the last it misleads.
_STRESS_WORDS = {0.025: "excellent", 0.05: "good", 0.1: "fair", 0.2: "poor"}
_MAX_STRESS = 0.2
MAX_LISTED_MEMBERS = 16  # in groups, by their numbers
_MAX_HOVER_MEMBERS = 6
_MAX_TABULATED_PAIRS = 10_000
_MIN_TOLD_NEGATIVE = 1e-6  # a smaller share of negative eigenvalues is rounding


class Pair(NamedTuple):
    """Two members, from 0; the one that was chosen last comes last."""

    first: int
    second: int


def format_ratio(estimate: RatioEstimate) -> str:
    """ "1.7 times as many (1.5 to 1.9)"."""
    ratio, low, high = (formats.format_significant(value, 2) for value in (estimate.ratio, estimate.low, estimate.high))
    return f"{ratio} times as many ({low} to {high})"


def describe_member_map(found: MemberMap, groups: MemberGroups | None, n: int, noun: str) -> str:
    """What the map says, in one line.

    Args:
      found: the map; of at least two members.
    """
    images = pluralize_noun(noun)
    if groups:
        return describe_groups(groups)
    if not found.apart and not found.moved:
        return f"The {found.members} members answer every {noun} alike: they are one point."
    spread = found.snapshots
    if spread and spread.times and spread.times.low > 1:
        return (
            f"Snapshots of one member differ on {format_percent(spread.own, n)} of the {images}, "
            f"those of two members on {format_percent(spread.others, n)}."
        )
    text = f"Two members differ on {format_percent(found.apart, n)} of the {images}"
    if found.moved is None:
        return f"{text} on average."
    return f"{text}; since epoch {found.epochs[0]} each has changed {format_percent(found.moved, n)}."


def describe_groups(groups: MemberGroups) -> str:
    alone = [members[0] for members in groups.members if len(members) == 1]
    if len(groups.members) == 2 and alone:
        others = sum(map(len, groups.members)) - 1
        return f"Member {alone[0] + 1} stands apart from the other {others}."
    if sum(map(len, groups.members)) > MAX_LISTED_MEMBERS:
        sizes = join_items([str(len(members)) for members in groups.members])
        return f"The members stand in {len(groups.members)} groups, of {sizes}."
    numbers = "; ".join(join_items([str(member + 1) for member in members]) for members in groups.members)
    return f"The members stand in {len(groups.members)} groups: {numbers}."


def list_map_evidence(
    found: MemberMap, groups: MemberGroups | None, diversity: PairDiversity, n: int, noun: str
) -> list[str]:
    images = pluralize_noun(noun)
    lines = []
    if groups:
        between, within = (format_percent(share, n) for share in (groups.between, groups.within))
        lines.append(
            f"Members of two groups differ on {between} of the {images}, those of one on {within}: "
            f"found on one half of the {images}, shown on the other (at least twice as many, 95 %)."
        )
    if found.snapshots:
        lines.append(_describe_snapshot_spread(found.snapshots, n))
    if found.times_apart:
        lines.append(
            f"Since epoch {found.epochs[0]} a member has changed {format_ratio(found.times_apart)} "
            f"{images} as two differ on after epoch {found.epochs[-1]}."
        )
    if found.apart:
        lines.append(_describe_diversity(diversity, n))
    lines.append(
        f"On these {formats.format_count(n, f'test {noun}')}, of these members; intervals are for other {images}."
    )
    return lines


def _describe_snapshot_spread(spread: SnapshotSpread, n: int) -> str:
    epochs = join_items([str(epoch) for epoch in spread.epochs])
    text = f"Snapshots of epochs {epochs}: {format_percent(spread.others, n)} between members,"
    if spread.times is None:
        return f"{text} none within one."
    return f"{text} {format_percent(spread.own, n)} within one, {format_ratio(spread.times)}."


def _describe_diversity(diversity: PairDiversity, n: int) -> str:
    disagreement, independent = (format_percent(share, n) for share in (diversity.disagreement, diversity.independent))
    text = f"Two members differ on {disagreement}: independent ones as accurate would on {independent}"
    if diversity.perturbed is None:
        return f"{text}."
    changed = format_percent(diversity.perturbed, n)
    return f"{text}, a member and its randomly changed copy on {changed}."


def format_stress(scaling: ClassicalScaling) -> str:
    """The stress as a number: "0.37"."""
    return formats.format_significant(scaling.stress, 2) if scaling.stress >= 0.001 else "0"


def describe_stress(scaling: ClassicalScaling) -> str:
    stress = format_stress(scaling)
    shown = format_percent(scaling.shown_share, places=0)
    if scaling.stress > _MAX_STRESS:
        text = (
            f"The picture misleads: a plane holds {shown} of the spread (stress {stress}, above "
            f"{_MAX_STRESS:g}). Believe the numbers, not the distances."
        )
    else:
        word = next(word for most, word in _STRESS_WORDS.items() if scaling.stress <= most)
        caution = ": only large differences in it count" if word == "poor" else ""
        text = f"As a picture of the distances it is {word} (stress {stress}){caution}."
    if scaling.negative_share > _MIN_TOLD_NEGATIVE:
        negative = format_percent(scaling.negative_share, figures=2)
        text += f" No space holds these distances: {negative} of the eigenvalues was left out."
    return text


def explain_member_map(found: MemberMap, figure: str, noun: str) -> str:
    """How the picture is read, and whether it can be believed.

    Args:
      figure: "path" or "ends".
    """
    scaling = found.path if figure == "path" else found.ends
    text = "The nearer two points, the more alike what they answer"
    if scaling.stress <= _MAX_STRESS:
        text += f": twice as far is four times as many {pluralize_noun(noun)}"
    text += f" (stress {format_stress(scaling)})."
    if figure == "path":
        text += f" A line leads from a member's epoch {found.epochs[0]} to its number."
        if found.snapshots:
            text += " Diamonds are snapshots."
    return text


def explain_diversity_plane(found: MemberMap, base: int, shown: int, noun: str) -> str:
    """What stands where in the plane of diversity against accuracy.

    Args:
      base: the member from which the others are seen, from 0.
    """
    if not shown:
        return f"No member makes a mistake: disagreement per mistake is not defined on these {pluralize_noun(noun)}."
    return (
        f"Seen from member {base + 1}: how many answers differ from its own, per mistake of the "
        "other. The upper line is where independent answers of that accuracy lie, the lower where "
        f"answers of member {base + 1} lie that were changed at random."
    )


def describe_map_alt(found: MemberMap, figure: str) -> str:
    if figure == "plane":
        return (
            f"Disagreement per mistake against accuracy of {found.members} members, between the "
            "limits of independent answers and of random changes"
        )
    epochs = f" after epochs {found.epochs[0]} to {found.epochs[-1]}" if figure == "path" else ""
    return f"{found.members} members{epochs} as points, the nearer the more alike their answers"


def describe_point(found: MemberMap, place: int, member: int, n: int, noun: str) -> list[str]:
    """What the pointer says of a member after an epoch, in lines.

    Args:
      member: from 0.
    """
    accuracy = format_percent(float(found.accuracy[place, member]), n)
    lines = [f"Member {member + 1}, epoch {found.epochs[place]}: {accuracy} right"]
    last = len(found.epochs) - 1
    if place != last:
        own = float(found.disagreement[place, member, -1, member])
        lines.append(f"differs from its epoch {found.epochs[-1]} on {format_images(own, n, noun)}")
    ends = found.disagreement[place, member, -1]
    others = [other for other in np.argsort(ends, kind="stable").tolist() if other != member]
    for other in _select_ends(others):
        lines.append(f"differs from member {other + 1} on {format_images(float(ends[other]), n, noun)}")
    if len(others) > _MAX_HOVER_MEMBERS:
        lines.append(f"the nearest and farthest of {len(others)} others")
    return lines


def _select_ends(others: Sequence[int]) -> list[int]:
    """All of a few; of many the first and the last."""
    half = _MAX_HOVER_MEMBERS // 2
    return list(others) if len(others) <= 2 * half else [*others[:half], *others[-half:]]


def format_images(share: float, n: int, noun: str) -> str:
    """ "212 digits (2.1 %)"."""
    return f"{formats.format_count(round(share * n), noun)} ({format_percent(share, n)})"


def describe_pair(pair: Pair, votes: "np.ndarray", labels: "np.ndarray", noun: str) -> str:
    """What two members answer differently, and who is right there.

    Args:
      votes: (M, N), class numbers.
      labels: (N,), class numbers.
    """
    differ = votes[pair.first] != votes[pair.second]
    first, second = sorted(pair)
    right = [int((differ & (votes[member] == labels)).sum()) for member in (first, second)]
    count = int(differ.sum())
    neither = count - sum(right)
    return (
        f"Members {first + 1} and {second + 1} answer {formats.format_count(count, noun)} "
        f"differently: {right[0]:,} member {first + 1} has right, {right[1]:,} member "
        f"{second + 1}, {neither:,} neither."
    )


def tabulate_members(found: MemberMap, groups: MemberGroups | None, n: int, noun: str) -> pd.DataFrame:
    """A row a member: its group, accuracy, who is nearest and farthest, how far it has come."""
    parts = groups.members if groups else ()
    owners = {member: str(place + 1) for place, own in enumerate(parts) for member in own}
    rows = []
    for member in range(found.members):
        apart = found.last[member].copy()
        apart[member] = np.nan
        near, far = int(np.nanargmin(apart)), int(np.nanargmax(apart))
        row = {
            "member": str(member + 1),
            **({"group": owners[member]} if owners else {}),
            "right": format_percent(float(found.accuracy[-1, member]), n),
            "nearest": f"{near + 1} · {format_images(float(apart[near]), n, noun)}",
            "farthest": f"{far + 1} · {format_images(float(apart[far]), n, noun)}",
        }
        if found.moved is not None:
            own = float(found.disagreement[0, member, -1, member])
            row[f"changed since epoch {found.epochs[0]}"] = format_images(own, n, noun)
        rows.append(row)
    return pd.DataFrame(rows)


def tabulate_pairs(found: MemberMap) -> pd.DataFrame:
    """A row a pair of members, for a program: the share of images answered differently.

    Of more than `_MAX_TABULATED_PAIRS` pairs half as many that differ least, and as many that differ most.
    """
    firsts, seconds = np.triu_indices(found.members, 1)
    if len(firsts) > _MAX_TABULATED_PAIRS:
        order, half = np.argsort(found.last[firsts, seconds], kind="stable"), _MAX_TABULATED_PAIRS // 2
        ends = np.sort(np.concatenate([order[:half], order[-half:]]))
        firsts, seconds = firsts[ends], seconds[ends]
    return pd.DataFrame({"member": firsts + 1, "other": seconds + 1, "disagreement": found.last[firsts, seconds]})


SOURCE_NOTE = (
    "Distances are the square roots of the shares of {images} answered differently, "
    "drawn by classical scaling (Torgerson 1952); the limits are those of Fort, Hu and Lakshminarayanan (2019)."
)
