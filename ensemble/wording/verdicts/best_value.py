"""Which value of a setting was best, in words: what the images show, and what they leave open."""

from collections.abc import Sequence

from ensemble.analysis.best_value import BestValue
from ensemble.wording import formats
from ensemble.wording.runs import member_settings
from ensemble.wording.verdicts import chance_level

SETTING_PLURALS = {"learning_rate": "rates", "momentum": "momenta", "weight_decay": "weight decays"}
SETTING_NAMES = {"learning_rate": "Rate", "momentum": "Momentum", "weight_decay": "Weight decay"}
LOSS_NAMES = {"validation": "validation NLL", "test": "test NLL", "training": "training loss"}
MAX_NAMED_VALUES = 2  # values that are named one by one
SELECTION_NOTES = {
    "validation": "Chosen on the validation images, not on the test images.",
    "test": "Chosen on the test images: expect less on new ones. Hold images out with validation.",
    "training": "Chosen by the training loss, which says little about new images.",
}


def describe_best_value(found: BestValue, setting: str, over: bool = True) -> str:
    """The best range in a sentence: one claim.

    Args:
      found: the values compared.
      setting: which differs, one of `member_values.VARIABLE_SETTINGS`.
      over: whether the run has ended: else it is so only so far.
    """
    claim = _describe_best_range(found, setting)
    return claim if over else f"So far {claim[0].lower()}{claim[1:]}"


def _describe_best_range(found: BestValue, setting: str) -> str:
    said, best = _format_tried_values(found), found.best
    if len(found.values) == 1:
        return (
            f"Only {SETTING_NAMES[setting].lower()} {said[0]} is left: nothing to compare it with."
        )
    beside = _format_other_values([said[at] for at in found.other_candidates])
    if found.first == found.last:
        if beside:
            are = "is" if len(found.other_candidates) == 1 else "are"
            return (
                f"{SETTING_NAMES[setting]} {said[best]} is best; {beside} {are} not shown to be "
                f"worse."
            )
        return (
            f"{SETTING_NAMES[setting]} {said[best]} is best; every other is worse by more than "
            f"noise."
        )
    if (found.first, found.last) == (0, len(found.values) - 1):
        return (
            f"{formats.format_finding_subject(found.n, 'image')} no "
            f"{SETTING_NAMES[setting].lower()} to be worse than the "
            f"best, {said[best]}."
        )
    low, high = said[found.first], said[found.last]
    link = "and" if found.last == found.first + 1 else "to"
    so = f"; so {'is' if len(found.other_candidates) == 1 else 'are'} {beside}" if beside else ""
    return (
        f"{SETTING_PLURALS[setting].capitalize()} {low} {link} {high} are within the noise of the "
        f"best, {said[best]}{so}."
    )


def _format_other_values(said: list[str]) -> str:
    """Values that are named one by one where they are few."""
    if len(said) > MAX_NAMED_VALUES:
        return f"{len(said):,} others"
    return chance_level.join_items(said) if said else ""


def describe_best_value_evidence(
    found: BestValue, setting: str, on: str, epoch: int, tried: Sequence[float] = ()
) -> str:
    """The figures that the headline rests on, and what they leave open.

    Args:
      found: the values compared.
      setting: which differs.
      on: "validation" or "test".
      epoch: after which.
      tried: all values, also of members that were set aside; () where none was.
    """
    said, best = _format_tried_values(found), found.best
    sentences = [
        f"Lowest {LOSS_NAMES[on]} after epoch {epoch:,}: "
        f"{formats.format_significant(found.loss[best])} at "
        f"{member_settings.SETTING_TITLES[setting]} {said[best]}."
    ]
    if found.pair_count:
        sentences.append(
            f"Each other value is compared with it on the same "
            f"{formats.format_count(found.n, 'image')} "
            f"(paired, 5 %, adjusted for {formats.format_count(found.pair_count, 'pair')} of "
            f"values)."
        )
    if found.members.min() == 1:
        sentences.append(
            "Some values have one member: started from another seed it may do better or worse."
        )
    return " ".join([*sentences, SELECTION_NOTES[on], recommend_next_values(found, tried)]).rstrip()


def recommend_next_values(found: BestValue, tried: Sequence[float] = ()) -> str:
    """What to try next where the best stands at an end of what was tried; else "".

    Args:
      found: the values compared.
      tried: as `describe_best_value_evidence`.
    """
    ends = {"smallest": (0, "below"), "largest": (len(found.values) - 1, "above")}
    end = next((name for name, (at, _) in ends.items() if at == found.best), "")
    if len(found.values) < 3 or not end:
        return ""
    best = float(found.values[found.best])
    lost = [one for one in tried if (one < best if end == "smallest" else one > best)]
    if not lost:
        return f"The best is the {end} that was tried: try {ends[end][1]}."
    near = max(lost) if end == "smallest" else min(lost)
    low, high = member_settings.format_distinct_values(sorted([best, near]))
    at = low if near < best else high
    return f"At {at} the loss was no longer a number: try between {low} and {high}."


def describe_lowest_loss(
    values: Sequence[float], losses: Sequence[float], setting: str, on: str
) -> str:
    """Where there are means alone: which is lowest, and that no more can be said.

    Args:
      values: of each member.
      losses: of each, in nats.
      setting: which differs.
      on: "validation", "test" or "training".
    """
    best = min(range(len(losses)), key=losses.__getitem__)
    return (
        f"So far {SETTING_NAMES[setting].lower()} "
        f"{member_settings.format_distinct_values(values)[best]} has the lowest {LOSS_NAMES[on]}, "
        f"{formats.format_significant(losses[best])}; whether that is noise is known after the "
        "first epoch whose predictions are kept."
    )


def _format_tried_values(found: BestValue) -> list[str]:
    return member_settings.format_distinct_values(found.values.tolist())
