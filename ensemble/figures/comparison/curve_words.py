"""The curves of Compare in words: which group ends best, what to see, and what there is to hear."""

from collections.abc import Sequence

from ensemble.comparison.group_curves import GroupCurves
from ensemble.figures.comparison.curves import X_AXIS_TITLES
from ensemble.figures.palette import MEMBER_HUES
from ensemble.wording import formats

MAX_HEADLINE_LETTERS = 90  # letters of a headline
BAND_MEANINGS = {
    "range": "from the least to the most of its runs",
    "interval": "the 95 % interval of that mean over runs (Student's t)",
}
METRIC_TITLES = {"loss": "Loss", "accuracy": "Accuracy"}
CURVE_OWNERS = {
    "ensemble": "the ensemble",
    "mean member": "the mean member",
    "members": "the members",
}


def describe_best_group(
    each: Sequence[GroupCurves], what: str, split: str, going: bool = False
) -> tuple[str, str]:
    """Which group's mean ends best, in a sentence and, where names are long, a line below it.

    Both "" where there is nothing to choose. What it is worth stands in the table: here nothing
    is tested. While runs go on it is so only so far; then a line is there from the first group
    on, so that the picture below it does not move when the second has its first epoch.
    """
    ends = [(float(one.mean[-1]), one) for one in each if len(one.mean)]
    if len(ends) < 2:
        waits = going and len(each) > 1 and ends
        return (
            (f"So far one of {len(each)} groups has a {split} {what}.", "") if waits else ("", "")
        )
    order = sorted(ends, key=lambda end: -end[0] if what == "accuracy" else end[0])
    (first, leader), (second, other) = order[:2]
    word = "highest" if what == "accuracy" else "lowest"
    ours, theirs = (
        format_group_value(what, end, one) for end, one in ((first, leader), (second, other))
    )
    title, next_ = leader.group.title, other.group.title
    verb = "has" if going else "ends at"
    said = f"{title} {verb} the {word} {split} {what}, {ours}; next {next_}, {theirs}."
    said = f"So far {said}" if going else said[:1].upper() + said[1:]
    if len(said) <= MAX_HEADLINE_LETTERS:
        return said, ""
    of = f"he {word} {split} {what} of {len(ends)} groups is {ours}, the next {theirs}."
    return f"{'So far t' if going else 'T'}{of}", f"{word.capitalize()}: {title}. Next: {next_}."


def format_group_value(what: str, end: float, of: GroupCurves) -> str:
    """A figure of a group as people read it."""
    if what == "loss":
        return formats.format_significant(end)
    return formats.format_percent(end, of.group.runs[0].data.test_size)


def explain_group_curves_chart(
    found: Sequence[tuple[str, Sequence[GroupCurves]]], band: str, who: str
) -> str:
    """What to see in the picture, in a sentence or two."""
    several = any(one.runs > 1 for _, each in found for one in each)
    many = any(len(each) > len(MEMBER_HUES) for _, each in found)
    said = [
        "A line a group, coloured in the order of their settings; under the pointer its name."
        if many
        else "A colour a group."
    ]
    if several and many:
        said.append(f"It is the mean of its runs; the band is {BAND_MEANINGS[band]}.")
    elif who == "members":
        said.append(
            f"Bold: the mean member, each member thin; the band is {BAND_MEANINGS[band]}."
            if several
            else "Bold: the mean member, each member thin."
        )
    elif several:
        said.append(
            f"Bold: the mean of its runs, each of them thin; the band is {BAND_MEANINGS[band]}."
        )
    if len(found) > 1:
        dashes = {"test": "solid", "validation": "dash-dotted", "train": "dashed"}
        said.append("; ".join(f"{split} {dashes[split]}" for split, _ in found).capitalize() + ".")
    return " ".join(said)


def describe_group_curves_chart(
    found: Sequence[tuple[str, Sequence[GroupCurves]]], what: str, who: str, over: str
) -> str:
    """The picture in words: each of a few groups where its mean ends."""
    said = f"{METRIC_TITLES[what]} of {CURVE_OWNERS[who]} over {X_AXIS_TITLES[over]}"
    ends = []
    for split, each in found:
        for one in [one for one in each if len(one.mean)][:6]:
            ends.append(
                f"{one.group.title} on {split} at last "
                f"{format_group_value(what, one.mean[-1], one)}"
            )
    return f"{said}: {'; '.join(ends)}"
