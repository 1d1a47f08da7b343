"""What else to know about a sweep's best trial: the edges of the search, and the optimism of the choice."""

from collections.abc import Mapping

from ensemble.comparison.compared_settings import humanize_setting_name
from ensemble.sweeps.best_trials import BestTrialEvidence
from ensemble.wording import formats

_EDGE_NAMES = {"lowest": "lower", "highest": "upper"}
_MIN_OPTIMISM = 0.0001  # nats, or a share: less is not worth a sentence


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
