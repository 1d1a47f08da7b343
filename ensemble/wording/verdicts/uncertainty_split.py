"""What is reported about the split into aleatoric and epistemic uncertainty, and its limits."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ensemble.wording.formats import pluralize_noun

if TYPE_CHECKING:  # SPLIT_LIMIT is read where SciPy and pandas would take too long to import.
    import pandas as pd

    from ensemble.analysis.quality.entanglement import Detection, RankCorrelation
    from ensemble.analysis.quality.error_detection import AurocEstimate

# Shown wherever the split is. docs/uncertainty.md has the sources and what was measured.
SPLIT_LIMIT = (
    "Disagreement mostly measures training randomness: errors shared by all members can add to "
    "their own uncertainty instead, and wide networks can disagree less."
)
DETECTION_NOTE = (
    "AUROC: the probability that an image to detect has a higher uncertainty than another image; "
    "0.5 is a guess. In brackets: 95 % intervals; those of the differences hold together at 95 %, "
    "and a difference counts if its interval excludes 0."
)


def describe_entanglement(
    correlation: "RankCorrelation | None", detections: "Sequence[Detection]", noun: str
) -> str:
    """Describe the rank correlation of both parts, and which part detects what better."""
    sentences = []
    if correlation:
        sentences.append(
            f"Rank correlation of aleatoric and epistemic over the {pluralize_noun(noun)}: "
            f"{correlation.value:.2f} (95 % interval: {correlation.low:.2f} to "
            f"{correlation.high:.2f}); at 1 both rank them alike."
        )
    for detection in detections:
        difference = detection.difference
        if difference.low > 0 or difference.high < 0:
            better, other = ("epistemic", "aleatoric")[:: 1 if difference.low > 0 else -1]
            sentences.append(
                f"{better.capitalize()} detects {detection.target} better than {other}."
            )
    return " ".join(sentences)


def tabulate_detections(detections: "Sequence[Detection]") -> "pd.DataFrame":
    """One row per target: the AUROC of each part, and their paired difference."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "to detect": detection.target,
                "aleatoric AUROC": format_auroc_interval(detection.aleatoric),
                "epistemic AUROC": format_auroc_interval(detection.epistemic),
                "epistemic − aleatoric": f"{difference.first - difference.second:+.3f} "
                f"({difference.low:+.3f} to {difference.high:+.3f})",
            }
            for detection in detections
            for difference in [detection.difference]
        ]
    )


def format_auroc_interval(estimate: "AurocEstimate") -> str:
    """Format an AUROC with its interval: "0.972 (0.961 to 0.980)"."""
    return f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"
