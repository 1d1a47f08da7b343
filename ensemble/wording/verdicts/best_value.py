"""Which value of a setting was best, in words: what the images show, and what they leave open."""

from collections.abc import Sequence

from ensemble.analysis.best_value import BestValue
from ensemble.analysis.inference.crossed_means import OVER_IMAGES
from ensemble.wording import formats
from ensemble.wording.runs import member_settings
from ensemble.wording.verdicts import chance_level

_SETTING_PLURALS = {"learning_rate": "rates", "momentum": "momenta", "weight_decay": "weight decays"}
SETTING_NAMES = {"learning_rate": "Rate", "momentum": "Momentum", "weight_decay": "Weight decay"}
LOSS_NAMES = {"validation": "validation NLL", "test": "test NLL", "training": "training loss"}
_MAX_NAMED_VALUES = 2  # values that are named one by one
_MEMBERS_TO_COMPARE = 3  # for each value, from which on seeds can be told from values
MAX_MEMBERS = 64  # of a run
_SELECTION_NOTES = {
    "validation": "Chosen on the validation images, not on the test images.",
    "test": "Chosen on the test images: expect less on new ones. Hold images out with validation.",
    "training": "Chosen by the training loss, which says little about new images.",
}


def describe_best_value(best: BestValue, setting: str, over: bool = True) -> str:
    """The best range in a sentence: one claim.

    Args:
      setting: which differs, one of `member_values.VARIABLE_SETTINGS`.
      over: whether the run has ended: else it is so only so far.
    """
    claim = _describe_best_range(best, setting)
    return claim if over else f"So far {claim[0].lower()}{claim[1:]}"


def _describe_best_range(best_value: BestValue, setting: str) -> str:
    tried_values, best = _format_tried_values(best_value), best_value.best
    name = SETTING_NAMES[setting].lower()
    if len(best_value.values) == 1:
        return f"Only {name} {tried_values[0]} is left: nothing to compare it with."
    of_members = best_value.over == OVER_IMAGES
    if (best_value.first, best_value.last) == (0, len(best_value.values) - 1):
        subject = formats.format_finding_subject(best_value.n, "image")
        if of_members:
            return f"{subject} no member to be worse than the best, that at {name} {tried_values[best]}."
        return f"{subject} no {name} to be worse than the best, {tried_values[best]}."
    others = best_value.other_candidates
    beside = _format_other_values([tried_values[at] for at in others])
    if best_value.first == best_value.last:
        are = "is" if len(others) == 1 else "are"
        if of_members:
            that = "that" if len(others) == 1 else "those"
            rest = (
                f"{that} at {beside} {are} not shown to be worse"
                if beside
                else f"{'the other' if len(best_value.values) == 2 else 'all others'} did worse"
            )
            return f"The member at {name} {tried_values[best]} did best; {rest}."
        rest = f"{beside} {are} not shown to be worse" if beside else "every other is worse by more than noise"
        return f"{SETTING_NAMES[setting]} {tried_values[best]} is best; {rest}."
    low, high = tried_values[best_value.first], tried_values[best_value.last]
    link = "and" if best_value.last == best_value.first + 1 else "to"
    so = f"; so {'is' if len(others) == 1 else 'are'} {beside}" if beside else ""
    plural = _SETTING_PLURALS[setting]
    who = f"The members at {plural}" if of_members else plural.capitalize()
    which = "the best, at" if of_members else "the best,"
    return f"{who} {low} {link} {high} are within the noise of {which} {tried_values[best]}{so}."


def _format_other_values(values: list[str]) -> str:
    if len(values) > _MAX_NAMED_VALUES:
        return f"{len(values):,} others"
    return chance_level.join_items(values) if values else ""


def describe_best_value_evidence(
    best_value: BestValue, setting: str, on: str, epoch: int, tried: Sequence[float] = ()
) -> str:
    """The figures that the headline rests on, and what they leave open.

    Args:
      on: "validation" or "test".
      tried: all values, also of members that were set aside; () where none was.
    """
    tried_values, best = _format_tried_values(best_value), best_value.best
    sentences = [
        f"Lowest {LOSS_NAMES[on]} after epoch {epoch:,}: "
        f"{formats.format_significant(best_value.loss[best])} at "
        f"{member_settings.SETTING_TITLES[setting]} {tried_values[best]}."
    ]
    if best_value.pair_count:
        seeds = "" if best_value.over == OVER_IMAGES else ", over the seeds of its members"
        sentences.append(
            f"Each other value is compared with it on the same {formats.format_count(best_value.n, 'image')}{seeds} "
            f"(paired, 5 %, adjusted for {formats.format_count(best_value.pair_count, 'pair')} of values)."
        )
        if best_value.over == OVER_IMAGES:
            sentences.append(recommend_more_members(len(best_value.values), setting))
        elif best_value.members.min() == 1:
            sentences.append("Some values have one member: started from another seed it may do better or worse.")
    return " ".join([*sentences, _SELECTION_NOTES[on], recommend_next_values(best_value, tried)]).rstrip()


def recommend_more_members(values: int, setting: str) -> str:
    plural = _SETTING_PLURALS[setting]
    text = f"One member for each: other seeds may order the {plural} differently."
    if values * _MEMBERS_TO_COMPARE > MAX_MEMBERS:
        return text
    return (
        f"{text} To compare the {plural} themselves, train {_MEMBERS_TO_COMPARE} members for each "
        f"({values * _MEMBERS_TO_COMPARE} members)."
    )


def recommend_next_values(best_value: BestValue, tried: Sequence[float] = ()) -> str:
    """What to try next where the best stands at an end of what was tried; else "".

    Args:
      tried: as `describe_best_value_evidence`.
    """
    ends = {"smallest": (0, "below"), "largest": (len(best_value.values) - 1, "above")}
    end = next((name for name, (at, _) in ends.items() if at == best_value.best), "")
    if len(best_value.values) < 3 or not end:
        return ""
    best = float(best_value.values[best_value.best])
    lost = [value for value in tried if (value < best if end == "smallest" else value > best)]
    if not lost:
        return f"The best is the {end} that was tried: try {ends[end][1]}."
    near = max(lost) if end == "smallest" else min(lost)
    low, high = member_settings.format_distinct_values(sorted([best, near]))
    at = low if near < best else high
    return f"At {at} the loss was no longer a number: try between {low} and {high}."


def describe_lowest_loss(values: Sequence[float], losses: Sequence[float], setting: str, on: str) -> str:
    """Where there are means alone: which is lowest, and that no more can be said.

    Args:
      losses: of each, in nats.
      on: "validation", "test" or "training".
    """
    best = min(range(len(losses)), key=losses.__getitem__)
    return (
        f"So far {SETTING_NAMES[setting].lower()} "
        f"{member_settings.format_distinct_values(values)[best]} has the lowest {LOSS_NAMES[on]}, "
        f"{formats.format_significant(losses[best])}; whether that is noise is known after the "
        "first epoch whose predictions are kept."
    )


def _format_tried_values(best: BestValue) -> list[str]:
    return member_settings.format_distinct_values(best.values.tolist())
