"""The map of several runs' members in words: whether runs stand apart."""

import numpy as np
import pandas as pd

from ensemble.comparison.run_member_map import RunMemberMap
from ensemble.wording import formats
from ensemble.wording.formats import format_percent, pluralize_noun
from ensemble.wording.member_map import Pair, describe_stress, format_images, format_stress
from ensemble.wording.run_names import format_unique_run_name

_MAX_LISTED_REASONS = 5
DIFFERING_TITLE = "What two members answer differently"


def describe_run_members(found: RunMemberMap) -> str:
    if not found.runs:
        return "None of these runs has predictions that can be read: there is no map."
    if len(found.runs) == 1:
        return "No two of these runs were tested on the same images: there is no map of several."
    images = pluralize_noun(found.noun)
    assert found.between is not None
    between = format_percent(found.between, found.n)
    if found.within is None or found.difference is None:
        return f"Two runs differ on {between} of the {images} on average."
    within = format_percent(found.within, found.n)
    low, high = found.difference
    if low <= 0 <= high:
        return (
            f"Runs are not shown to stand apart: members of two differ on {between} of the "
            f"{images}, of one on {within}."
        )
    return f"Members of two runs differ on {between} of the {images}, of one on {within}."


def list_run_member_evidence(found: RunMemberMap) -> list[str]:
    images = pluralize_noun(found.noun)
    lines = [describe_stress(found.scaling)]
    if found.difference is not None and found.between is not None and found.within is not None:
        places = formats.count_percent_decimals(found.n)
        apart, low, high = (100 * value for value in (found.between - found.within, *found.difference))
        lines.append(
            f"The difference is {apart:+.{places}f} points "
            f"({low:.{places}f} to {high:.{places}f}) of disagreement.".replace("-", "−")
        )
    lines.append(
        f"On {formats.format_count(found.n, f'test {found.noun}')}, of these members; intervals are for other {images}."
    )
    return [line.replace("+0.00 points", "0.00 points") for line in lines]


def describe_left_out_runs(found: RunMemberMap) -> str:
    """Which runs are not on the map, and why; "" where all are."""
    if not found.left_out:
        return ""
    listed = " ".join(
        f"{format_unique_run_name(run)}: {why}"
        if why
        else f"{format_unique_run_name(run)} was tested on other images than {format_unique_run_name(found.runs[0])}."
        for run, why in found.left_out[:_MAX_LISTED_REASONS]
    )
    more = len(found.left_out) - _MAX_LISTED_REASONS
    rest = f" And {formats.format_count(more, 'run')} more." if more > 0 else ""
    return f"Not on the map: {listed}{rest}"


def explain_run_map(found: RunMemberMap) -> str:
    text = (
        "The nearer two points, the more alike what two members answer "
        f"(stress {format_stress(found.scaling)}). A colour is a run."
    )
    if found.thinned:
        text += " Of runs with many members the first are shown."
    return text


def describe_run_map_alt(found: RunMemberMap) -> str:
    return (
        f"{formats.format_count(len(found.owner), 'member')} "
        f"of {formats.format_count(len(found.runs), 'run')} as points, the nearer the more alike their answers"
    )


def describe_run_point(found: RunMemberMap, place: int) -> list[str]:
    run = int(found.owner[place])
    accuracy = format_percent(float(found.accuracy[place]), found.n)
    lines = [
        format_unique_run_name(found.runs[run]),
        f"Member {int(found.members[place]) + 1}, epoch {found.epochs[run]}: {accuracy} right",
    ]
    apart = found.disagreement[place]
    for what, chosen in (
        ("members of its run", (found.owner == run) & (np.arange(len(apart)) != place)),
        ("members of other runs", found.owner != run),
    ):
        if chosen.any():
            mean = format_images(float(apart[chosen].mean()), found.n, found.noun)
            lines.append(f"differs from {what} on {mean} on average")
    return lines


def tabulate_run_members(found: RunMemberMap) -> pd.DataFrame:
    """A row a run: how far its members are apart, and how far from those of other runs."""
    apart = average_run_disagreement(found)
    rows = []
    for place, run in enumerate(found.runs):
        own = float(apart[place, place])
        others = np.where(np.arange(len(found.runs)) == place, np.nan, apart[place])
        near = int(np.nanargmin(others))
        row = {
            "run": format_unique_run_name(run),
            "members": f"{int((found.owner == place).sum())}",
            "epoch": f"{found.epochs[place]}",
            "apart from each other": format_percent(None if np.isnan(own) else own, found.n),
            "from other runs": format_percent(float(np.nanmean(others)), found.n),
        }
        if len(found.runs) > 2:
            name, share = format_unique_run_name(found.runs[near]), float(others[near])
            row["nearest run"] = f"{name} · {format_percent(share, found.n)}"
        rows.append(row)
    return pd.DataFrame(rows)


def average_run_disagreement(found: RunMemberMap) -> "np.ndarray":
    """(R, R), the mean disagreement of members of two runs; of one run's own pairs on the diagonal.

    NaN of a run with one member.
    """
    inside = (found.owner == np.arange(len(found.runs))[:, None]).astype(float)
    sizes = inside.sum(axis=1)
    sums = inside @ found.disagreement @ inside.T
    pairs = np.outer(sizes, sizes) - np.diag(sizes)
    return np.divide(sums, pairs, out=np.full_like(sums, np.nan), where=pairs > 0)


def _format_run_member(found: RunMemberMap, place: int) -> str:
    """A member by its run: "member 2 of 4 members · rate 0.1"."""
    run = found.runs[int(found.owner[place])]
    return f"member {int(found.members[place]) + 1} of {format_unique_run_name(run)}"


def format_run_pair(found: RunMemberMap, pair: Pair) -> str:
    return " and ".join(_format_run_member(found, place) for place in sorted(pair))


def describe_run_pair(found: RunMemberMap, pair: Pair) -> str:
    first, second = sorted(pair)
    differ = found.votes[first] != found.votes[second]
    right = [int((differ & (found.votes[place] == found.labels)).sum()) for place in (first, second)]
    count = int(differ.sum())
    begin = f"{format_run_pair(found, pair)} answer "
    begin = begin[0].upper() + begin[1:]
    if not count:
        return f"{begin}every {found.noun} alike."
    return (
        f"{begin}{formats.format_count(count, found.noun)} differently: {right[0]:,} the first has "
        f"right, {right[1]:,} the second, {count - sum(right):,} neither."
    )
