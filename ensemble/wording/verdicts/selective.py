"""To answer only where it is sure: the threshold, what is answered and what is wrong of it."""

import pandas as pd

from ensemble.analysis.quality.selective import Choice, RiskCoverage
from ensemble.wording import formats
from ensemble.wording.formats import plural


def found_on(one: Choice, noun: str) -> str:
    """On which images a threshold was found, and on which what comes of it was counted."""
    if one.halved:
        return (
            f"Thresholds are found on one half of the test set ({one.fitted:,}), what is answered "
            f"and wrong is counted on the other ({one.n:,}), where more may be wrong"
        )
    return (
        f"Thresholds are found on the {one.fitted:,} validation {plural(noun)}, what is answered "
        f"and wrong is counted on the {one.n:,} test {plural(noun)}, where more may be wrong"
    )


def answer(found: Choice, rate: float, who: str, noun: str) -> str:
    """What is answered and what is wrong of it, with the threshold for an error rate."""
    if not found.reached:
        return (
            f"No threshold keeps the wrong answers to {accepted(rate)}: even among the "
            f"{plural(noun)} "
            f"that {who} is surest of, more are wrong."
        )
    if not found.kept:
        sure = formats.certainty(found.threshold)
        return (
            f"The threshold for {accepted(rate)} wrong answers is so high ({sure}) that {who} "
            "answers none "
            f"{'on the other half' if found.halved else f'of the test {plural(noun)}'}."
        )
    errs = f"errs in {errors(found)} of them"
    if found.error > rate:
        errs += f": more than the {accepted(rate)} that you accept"
    elif found.high > rate:
        errs += f": too few answers to show {accepted(rate)}"
    if found.coverage == 1:
        return f"Answering every {noun}, {who} {errs}."
    sure = formats.certainty(found.threshold)
    return (
        f"Answering only where it is at least {sure} sure, {who} answers "
        f"{formats.percent(found.coverage, found.n)} of the {plural(noun)} and {errs}."
    )


def accepted(rate: float) -> str:
    """An error rate that was chosen: "5 %", "0.5 %"."""
    return formats.percent(rate, figures=2)


def errors(found: Choice) -> str:
    """The share that is wrong with the ends of its 95 % interval: "0.52 % (0.10 to 2.31 %)"."""
    return f"{wrong(found.error)} ({formats.percents(found.low, found.high, places=2)})"


def wrong(error: float) -> str:
    """The share of answers that are wrong, to two decimals: there are to be few."""
    return formats.percent(error, places=2)


def sees(ensemble: RiskCoverage, noun: str) -> str:
    """What to see in the curve."""
    return (
        f"From left to right more {plural(noun)} are answered, the surest first: the later a "
        f"curve rises, the better it knows which of its answers are wrong. All answered, "
        f"{wrong(float(ensemble.risk[-1]))} are."
    )


def figures(curves: list[RiskCoverage], found: list[Choice], n: int) -> pd.DataFrame:
    """One row for the ensemble, then each member: AURC, and what the threshold gives."""
    M = len(curves) - 1
    rows = zip(curves, found, strict=True)
    return pd.DataFrame(
        [
            {
                "who": "ensemble" if M and not place else f"member {max(1, place)}",
                "AURC": formats.significant(curve.aurc),
                "threshold": formats.certainty(one.threshold) if one.reached else "none",
                "answered": formats.percent(one.coverage, n) if one.reached else "–",
                "of these wrong": errors(one) if one.kept else "–",
            }
            for place, (curve, one) in enumerate(rows)
        ]
    )


def notes(curve: RiskCoverage, found: Choice, who: str, noun: str) -> str:
    """What the columns of `figures` are, and on what they were counted."""
    return (
        "AURC: the area under the curve, the mean share of wrong answers over all coverages. Were "
        f"every wrong {noun} the least sure, {who}'s would be "
        f"{formats.significant(curve.aurc_best)}. {found_on(found, noun)}; in brackets the 95 % "
        "interval."
    )
