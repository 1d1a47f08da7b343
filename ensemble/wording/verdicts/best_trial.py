"""What a sweep's best trial is worth, in words."""

from collections.abc import Mapping

from ensemble.comparison.compared_settings import humanize_setting_name
from ensemble.sweeps.best_trials import BestTrialEvidence
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

_MAX_NAMED_TRIALS = 6  # that are named one by one
_SEED_NOTE = "Each was trained once: another seed may change the order."
_EDGE_NAMES = {"lowest": "lower", "highest": "upper"}
_MIN_OPTIMISM = 0.0001  # nats, or a share: less is not worth a sentence


def describe_equivalent_trials(evidence: BestTrialEvidence, noun: str) -> str:
    others, open_ = evidence.compared - 1, len(evidence.equivalent)
    images = f"these {evidence.images:,} validation {pluralize_noun(noun)}"
    repeats = f"Each was trained {evidence.repeats:,} times: differences between trainings count."
    note = f" {repeats}" if evidence.repeats > 1 else ""
    if not open_:
        who = "The other trial does" if others == 1 else f"All {others:,} others do"
        return f"{who} worse on {images} by more than chance.{note or f' {_SEED_NOTE}'}"
    numbers = [str(trial.number + 1) for trial in evidence.equivalent]
    named = f" (trial{'s' if open_ > 1 else ''} {', '.join(numbers)})"
    named = named if open_ <= _MAX_NAMED_TRIALS else ""
    if others == 1:
        which = f"The other trial{named.replace('trial ', '')}"
        return f"{which} is not shown to be worse on {images}.{note}"
    are = "is" if open_ == 1 else "are"
    return f"{open_:,} of the {others:,} other trials{named} {are} not shown to be worse on {images}.{note}"


def describe_edge_settings(ends: Mapping[str, str]) -> str:
    """That a best value stands at an end of what was searched; "" where none does."""
    sentences = [
        f"{humanize_setting_name(name).capitalize()} is at the {_EDGE_NAMES[end]} end of the "
        "search: better values may lie beyond."
        for name, end in ends.items()
    ]
    return " ".join(sentences)


def describe_selection_optimism(evidence: BestTrialEvidence | None, goal: str) -> str:
    """What the best figure is expected to lose on new images; "" where that is not known."""
    if evidence is None or evidence.optimism is None or evidence.optimism < _MIN_OPTIMISM:
        return ""
    if goal == "accuracy":
        points = formats.format_significant(100 * evidence.optimism, 2)
        return f"Having been chosen, it is expected to lose about {points} points on new images."
    return (
        "Having been chosen, it is expected to rise by about "
        f"{formats.format_significant(evidence.optimism, 2)} nats on new images."
    )
