"""Sentences on the accuracy of images without labels, how far to trust it, or why it is unknown."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ensemble.analysis.unlabelled.accuracy_estimate import (
    MAX_CHANGE,
    MIN_IMAGES,
    AccuracyEstimate,
    AccuracyFit,
    EstimatedShare,
    Trust,
)
from ensemble.analysis.unlabelled.distribution_test import LEVEL, DistributionTest
from ensemble.shift.accuracy_fit import RunAccuracyFit
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

ESTIMATOR_NAMES = {
    "agreement": "the members' agreement",
    "confidence": "confidence at a temperature",
    "threshold": "the share above a threshold",
}
ESTIMATOR_TITLES = {
    "agreement": "agreement of members",
    "confidence": "confidence at a temperature",
    "threshold": "share above a threshold (ATC)",
}
MEASURE_NAMES = {
    "confidence": "how sure the ensemble is",
    "entropy": "how spread out the averaged probabilities are",
    "epistemic": "how far the members disagree",
    "answers": "which classes it says",
    "mean_confidence": "the mean confidence",
}
_SOURCE_NAMES = {"validation": "validation", "test": "test"}
_LOWER_TRUST = (
    "The range spans all estimates with their intervals, each widened by its change from the "
    "labeled images; it begins at 0 if one changes by more than "
    f"{100 * MAX_CHANGE:.0f} points. It held the accuracy of rotated MNIST digits at every angle "
    "from 5° to 90°, but other changes may deceive it."
)
NO_PROOF = (
    "That they look alike to the members is no proof that they are: what members are sure of and "
    "wrong about shows in none of this."
)


def _describe_accuracy_estimate(estimate: AccuracyEstimate, fit: AccuracyFit, source: str, noun: str) -> str:
    """Report the accuracy on images without labels, a range of lower trust, or why neither.

    Args:
      source: which labelled images these are, "validation" or "test".
    """
    these = f"these {formats.format_count(estimate.n, noun)}"
    reasons = "; ".join(_list_refusal_reasons(estimate, fit, source, noun))
    places = 1 if estimate.n >= 200 else 0
    low, high = estimate.range or (0.0, 1.0)
    if estimate.can_be_told:
        values = sorted(share.value for share in estimate.estimates.values())
        middle = formats.format_percent(values[0], places=places)
        if formats.format_percent(values[-1], places=places) != middle:
            middle = formats.format_percent_range(values[0], values[-1], places)
        return (
            f"About {middle} of {these} will be right, as far as that can be told without labels "
            f"({formats.format_percent_range(low, high, places)})."
        )
    if estimate.range:
        share = f"At most {formats.format_percent(high, places=1)}"
        if low:
            lowest = formats.format_percent(low, places=places).removesuffix(" %")
            share = f"Between {lowest} and {formats.format_percent(high, places=places)}"
        return f"{share} of {these} will be right, with lower trust: {reasons}."
    if estimate.n == 1:
        return f"Whether this one {noun} is right cannot be told without its label: {reasons}."
    return f"How many of {these} are right cannot be told without labels: {reasons}."


def _list_refusal_reasons(estimate: AccuracyEstimate, fit: AccuracyFit, source: str, noun: str) -> list[str]:
    images, labelled = pluralize_noun(noun), _SOURCE_NAMES[source]
    reasons = []
    if "few_labelled" in estimate.refusals:
        reasons.append(f"there are only {estimate.labelled:,} labelled {images} to judge by, and it takes {MIN_IMAGES}")
    if "few_new" in estimate.refusals:
        reasons.append(f"it takes at least {MIN_IMAGES}")
    if "calibration" in estimate.refusals:
        overall = fit.calibration.overall
        where = (
            "in one range of confidence "
            if fit.calibration.verdict == "a bin"
            else f"({formats.format_percent(overall.confidence, places=1)} sure, "
            f"{formats.format_percent(overall.accuracy, places=1)} right) "
        )
        reasons.append(
            f"on the {fit.n:,} {labelled} {images} confidence and accuracy differ {where}even at the best temperature"
        )
    if "unlike" in estimate.refusals and estimate.likeness:
        reasons.append(_describe_difference(estimate.likeness, f"the {fit.n:,} {labelled} {images}"))
    return reasons


def _describe_difference(test: DistributionTest, those: str) -> str:
    """How the outputs differ: by the mean confidence if that is significant, else the smallest p."""
    name, p = test.strongest
    if is_confidence := test.corrected["mean_confidence"] < LEVEL:
        name, p = "mean_confidence", test.corrected["mean_confidence"]
    p_text = f"{'p < 0.001' if p < 0.001 else f'p = {p:.3f}'} of {len(test.p_values)} comparisons"
    if not is_confidence:
        return f"they do not look like {those} to the members: {MEASURE_NAMES[name]} differs ({p_text})"
    before, now = test.mean_confidence
    return (
        f"the members are {'less' if now < before else 'more'} confident on them than on {those} "
        f"({formats.format_percent(now, places=1)} against "
        f"{formats.format_percent(before, places=1)} on average, {p_text})"
    )


def _list_accuracy_estimate_notes(estimate: AccuracyEstimate, fit: AccuracyFit, source: str, noun: str) -> list[str]:
    """List what the answer rests on, a sentence or two each; [] if there is no answer."""
    if estimate.range is None or estimate.likeness is None:
        return []
    images, labelled = pluralize_noun(noun), _SOURCE_NAMES[source]
    fitted = (
        f"Fitted on the {fit.n:,} {labelled} {images} of the run, "
        f"{formats.format_percent(fit.accuracy, fit.n)} of which are right."
    )
    if estimate.trust == "lower":
        return [fitted, _LOWER_TRUST]
    notes = [
        f"{fitted} The intervals hold the share of these {estimate.n:,} that is right in 95 % of "
        "cases, if they are like those."
    ]
    if fit.errors_per_disagreement is not None and fit.member_errors_per_disagreement is not None:
        member = formats.format_significant(fit.member_errors_per_disagreement, 2)
        notes.append(
            f"Pairs of members disagree on {formats.format_percent(fit.disagreement, places=1)} of "
            f"those and on {formats.format_percent(estimate.disagreement, places=1)} of these. A "
            f"member errs {member} times as often as two disagree (once, by generalization "
            f"disagreement equality), the ensemble "
            f"{formats.format_significant(fit.errors_per_disagreement, 2)} times."
        )
    p = estimate.likeness.strongest[1]
    notes.append(
        f"No difference between these {images} and those is shown (p = {p:.2f}; below {LEVEL:g} "
        f"trust would be lower), nor between confidence and accuracy of those. {NO_PROOF}"
    )
    return notes


def describe_estimate_basis(fit: Mapping[str, Any], estimate: Mapping[str, Any], noun: str) -> str:
    """What the estimates under shift are fitted on, and how to read their figure.

    Args:
      fit: `_AccuracyFitMetrics`.
      estimate: `_AccuracyEstimateMetrics` of the images as they are.
    """
    images = pluralize_noun(noun)
    on = (
        f"one half of the test {images} ({fit['images']:,}) and judged on the other"
        if fit["source"] == "half"
        else f"the {fit['images']:,} validation {images} and judged on the test {images}"
    )
    if fit["calibration"] == "none":
        hollow = f"the {images} do not look like those that it is fitted on"
        calibrated = "Confidence is calibrated there as far as can be seen"
    else:
        hollow = "confidence is not calibrated on those that it is fitted on"
        calibrated = "Even at the best temperature confidence and accuracy differ there"
    return (
        f"Hollow: only a range of lower trust is shown, because {hollow}. Below the line too much "
        f"is promised. Fitted on {on} ({estimate['images']:,}). {calibrated}. {NO_PROOF}"
    )


@dataclass(frozen=True, eq=False, repr=False)
class AccuracyStatement:
    """The accuracy of a run on images without labels in words: estimates, a range, or neither.

    Attributes:
      fitted: what it is fitted on.
      estimate: the figures, and what speaks against them.
      noun: what one image is called.
    """

    fitted: RunAccuracyFit
    estimate: AccuracyEstimate
    noun: str

    @property
    def told(self) -> bool:
        """Whether both checks are passed, so that there are figures."""
        return self.estimate.can_be_told

    @property
    def trust(self) -> Trust:
        """Trust in `range`: "checked" if both checks pass, "lower" if one fails, "none" of None."""
        return self.estimate.trust

    @property
    def range(self) -> tuple[float, float] | None:
        """(low, high) of the accuracy: 95 % if checked, of lower trust if not, None if unknown."""
        return self.estimate.range

    @property
    def sentence(self) -> str:
        return _describe_accuracy_estimate(self.estimate, self.fitted.fit, self.fitted.source, self.noun)

    @property
    def notes(self) -> list[str]:
        """What the answer rests on, a sentence or two each; none where there is no answer."""
        return _list_accuracy_estimate_notes(self.estimate, self.fitted.fit, self.fitted.source, self.noun)

    @property
    def accuracy(self) -> dict[str, EstimatedShare]:
        """By "agreement", "confidence" and "threshold": `value`, `low` and `high`; {} untold."""
        return dict(self.estimate.estimates) if self.told else {}

    @property
    def table(self) -> pd.DataFrame:
        """One row per estimate; empty if there is no answer."""
        estimates = self.estimate.estimates if self.told else {}
        return pd.DataFrame(
            [
                {
                    "estimated from": ESTIMATOR_TITLES[name],
                    "right": formats.format_percent(share.value, places=1),
                    "95 % interval": formats.format_percent_range(share.low, share.high, 1),
                }
                for name, share in estimates.items()
            ]
        )

    def __repr__(self) -> str:
        return f"<AccuracyStatement: {self.sentence}>"

    def to_text(self) -> str:
        table = self.table.to_string(index=False).splitlines() if self.told else []
        return "\n".join([self.sentence, *table, *(f"  {note}" for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """All of it ready for JSON; docs/command-line.md says what each name is."""
        fit, estimate = self.fitted.fit, self.estimate
        member = estimate.member if self.told else None
        return {
            "run_id": self.fitted.run.id,
            "epoch": self.fitted.epoch,
            "images": estimate.n,
            "told": self.told,
            "trust": self.trust,
            "range": self.range and dict(zip(("low", "high"), self.range, strict=True)),
            "refusals": list(estimate.refusals),
            "sentence": self.sentence,
            # What is not to be said is not given away to a script either.
            "accuracy": {name: serialize_estimated_share(share) for name, share in self.accuracy.items()},
            "member_accuracy": serialize_estimated_share(member) if member else None,
            "disagreement": None if math.isnan(estimate.disagreement) else estimate.disagreement,
            "likeness": estimate.likeness.p_values if estimate.likeness else None,
            "labelled": {
                "source": self.fitted.source,
                "images": fit.n,
                "accuracy": fit.accuracy,
                "disagreement": fit.disagreement,
                "temperature": fit.temperature,
                "threshold": fit.threshold if math.isfinite(fit.threshold) else None,
                "errors_per_disagreement": fit.errors_per_disagreement,
                "member_errors_per_disagreement": fit.member_errors_per_disagreement,
                "calibration": fit.calibration.verdict,
            },
        }


def serialize_estimated_share(share: EstimatedShare) -> dict[str, float]:
    return {"value": share.value, "low": share.low, "high": share.high}
