"""How many members are enough, in words: the verdict in a line, and what carries it."""

from collections.abc import Sequence
from math import comb

import numpy as np
import pandas as pd

from ensemble.analysis.members import committees as committees
from ensemble.analysis.members.committees import CommitteeEvaluation
from ensemble.analysis.members.subsets import max_drawn_subsets
from ensemble.analysis.members.sufficient_size import SizeVerdict, SufficientSize
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts import selection_basis

# What each figure is called in a sentence, and where it is counted in something, in what.
METRIC_NAMES = {"accuracy": "accuracy", "nll": "NLL", "brier": "the Brier score"}
_LOSS_UNITS = {"accuracy": "points", "nll": "nats", "brier": ""}


def format_committee_loss(value: float, figure: str) -> str:
    """A loss of a figure: "0.1 points", "0.005 nats", "0.002" (of the Brier score)."""
    number_text = formats.format_significant(abs(value) * (100 if figure == "accuracy" else 1), 2)
    number_text = number_text.rstrip("0").rstrip(".") if "." in number_text else number_text
    return f"{'−' if value < 0 else ''}{number_text} {_LOSS_UNITS[figure]}".strip()


def format_loss_with_metric(value: float, figure: str) -> str:
    """A loss with its figure: "0.1 points of accuracy"."""
    return f"{format_committee_loss(value, figure)} of {METRIC_NAMES[figure]}"


def describe_enough_members(size: SufficientSize, noun: str) -> str:
    """How many members are enough, in one line of one claim, with its figure.

    What may be lost comes first: a gain of the whole that is shown does not contradict that
    fewer are enough for who accepts to lose it.
    """
    M, margin = (size.members, format_loss_with_metric(size.margin, size.metric))
    if size.smallest_sufficient:
        verb = "is" if size.size == 1 else "are"
        cases = "all" if size.share == 1 else formats.format_percent(size.share, figures=2)
        return (
            f"If {margin} may be lost, {size.size} of {M} members {verb} enough, "
            f"in {cases} {'cases' if size.share == 1 else 'of cases'}."
        )
    failed = size.sizes[0]
    if failed.outcome == "loses":
        needed = "both" if M == 2 else f"all {M}"
        losing = _describe_losing_committees(failed).capitalize()
        return f"{losing} over {margin}: it takes {needed}."
    if failed.examples is None:
        fewer = f"{failed.size} of {M} members {'is' if failed.size == 1 else 'are'} enough"
        bound = format_loss_with_metric(failed.bound, size.metric)
        return f"Not shown whether {fewer}: up to {bound} may be lost."
    return f"Too few test {pluralize_noun(noun)} to say whether {failed.size} of {M} members would do."


def _describe_losing_committees(verdict: SizeVerdict) -> str:
    """How many committees of a size are at least shown to lose more, and the verb."""
    least = verdict.committees - verdict.required + 1
    return f"at least {least:,} of {_format_committee_count(verdict)} {'loses' if least == 1 else 'lose'}"


def _format_committee_count(verdict: SizeVerdict) -> str:
    """The committees of a size: "4 committees of 3", "4 single members"."""
    if verdict.size == 1:
        return f"{verdict.committees:,} single members"
    return f"{verdict.committees:,} committees of {verdict.size}"


def describe_enough_evidence(size: SufficientSize, noun: str) -> str:
    """What carries the verdict: the smallest size that is enough, and the next smaller one."""
    parts = [
        describe_size_evidence(size, size_verdict, noun)
        for size_verdict in (size.smallest_sufficient, size.first_insufficient)
        if size_verdict
    ]
    each = "Each claim is wrong at most 5 % of the time"
    groups = size.groups
    each += f"; each of {groups:,} groups counts as one draw." if groups else "."
    return " ".join([*parts, each])


def _describe_loss_bound(verdict: SizeVerdict, figure: str) -> str:
    """What those that are needed lose at most, or gain at least, with the verb."""
    verb, end = ("gain", "least") if verdict.bound < 0 else ("lose", "most")
    return f"{verb}{'s' if verdict.required == 1 else ''} {format_committee_loss(abs(verdict.bound), figure)} at {end}"


def describe_size_evidence(size: SufficientSize, verdict: SizeVerdict, noun: str) -> str:
    figure = size.metric
    drawn = verdict.committees < comb(size.members, verdict.size)
    they = f"{_format_committee_count(verdict)}{' that were drawn' if drawn else ''}"
    average = (
        f"On average the {they} {'gain' if verdict.loss < 0 else 'lose'} "
        f"{format_loss_with_metric(abs(verdict.loss), figure)} against all "
        f"{size.members}"
    )
    if verdict.outcome == "enough":
        return f"{average}; {verdict.required:,} of them {_describe_loss_bound(verdict, figure)}."
    if verdict.outcome == "loses":
        return f"{average}; {_describe_losing_committees(verdict)} over {format_committee_loss(size.margin, figure)}."
    open_ = (
        f"{average}, which may be chance: whether {verdict.required:,} of them lose at most "
        f"the {format_committee_loss(size.margin, figure)} that you accept stays open, "
        f"as they may lose up to {format_committee_loss(verdict.bound, figure)}"
    )
    if verdict.examples is None:
        return (
            f"{open_}. If nothing were really lost, most sets of "
            f"{formats.format_count(size.n, noun)} would have shown it."
        )
    return (
        f"{open_}. If nothing is really lost, it takes about "
        f"{formats.format_significant(verdict.examples, 2)} {pluralize_noun(noun)} to show "
        f"it; there are {size.n:,}."
    )


def format_all_members(M: int) -> str:
    return "both members" if M == 2 else f"all {M} members"


def describe_judged_committees(judged: CommitteeEvaluation) -> str:
    if judged.exact:
        return f"All {len(judged.size):,} committees that {judged.members} members can form"
    there_are = formats.format_significant(2**judged.members - 1)
    return (
        f"{len(judged.size):,} of about {there_are} committees that {judged.members} members can "
        f"form: of each size all, or {max_drawn_subsets(judged.members)} drawn at random (seed 0)"
    )


def tabulate_member_worth(judged: CommitteeEvaluation, noun: str) -> pd.DataFrame:
    worth, M = committees.member_contributions(judged), judged.members
    return pd.DataFrame(
        {
            "member": [str(member) for member in range(1, M + 1)],
            "alone": [formats.format_percent(share, judged.n) for share in judged.accuracy[:M]],
            "without it": [formats.format_image_difference(-share * judged.n, noun) for share in worth.accuracy],
            "NLL without it": [format_signed_loss(loss) for loss in worth.nll],
        }
    )


def format_signed_loss(value: float) -> str:
    sign = "+" if value > 0 else "−" if value < 0 else "±"
    return f"{sign}{formats.format_significant(abs(value), 2)}"


def describe_committee_choice(held_out: bool) -> str:
    if not held_out:
        return f"By NLL, {selection_basis.CHOSEN_ON_TEST}."
    return f"By NLL, {selection_basis.CHOSEN_ON_VALIDATION}; the figures are those of all test images."


def tabulate_best_committees(judged: CommitteeEvaluation, picked: Sequence[tuple[int, ...]]) -> pd.DataFrame:
    """The best committee of each size, the smallest first, with its figures."""
    rows = [_find_committee_row(judged, who) for who in picked]
    return pd.DataFrame(
        {
            "size": [str(size) for size in range(1, judged.members + 1)],
            "NLL": [formats.format_significant(judged.nll[row]) for row in rows],
            "accuracy": [formats.format_percent(judged.accuracy[row], judged.n) for row in rows],
            "members": [format_committee_members(who, judged.members) for who in picked],
        }
    )


def _find_committee_row(judged: CommitteeEvaluation, who: tuple[int, ...]) -> int:
    mask = sum(1 << member for member in who)
    return int(np.flatnonzero(judged.masks == mask)[0])


def format_committee_members(who: tuple[int, ...], members: int) -> str:
    """The members of a committee: "1, 3, 4"; "all" of them."""
    return "all" if len(who) == members else ", ".join(str(member + 1) for member in who)


def explain_member_worth(members: int) -> str:
    """What stands below `tabulate_member_worth`."""
    return (
        f"Without it: {format_all_members(members)} against all but this one. A member that is "
        "poor alone can still be worth having, if it is wrong on other images."
    )
