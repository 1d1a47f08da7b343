"""The answer of Inspect in words: what the ensemble is better by."""

import statistics
from collections.abc import Sequence

import pandas as pd

from ensemble.analysis.members.ece_gain import EceGain
from ensemble.analysis.members.gain import MeanGain
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.metrics import METRICS
from ensemble.analysis.quality.quality import EnsembleQualities, Quality
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

NUMBER_WORDS = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)


def spell_number(value: int) -> str:
    """A number in a sentence: in letters up to twelve."""
    return NUMBER_WORDS[value] if value < len(NUMBER_WORDS) else f"{value:,}"


def format_p_value(p: float) -> str:
    """A p as "p = 0.004" or "p < 0.001", on one line."""
    text = "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def describe_single_member(made: EnsemblePredictions, noun: str) -> str:
    """The answer where there is one member."""
    n, right = len(made.labels), int(made.right.sum())
    return (
        f"One member alone: there is no ensemble to compare it with. It gets {right:,} of "
        f"{formats.format_count(n, noun)} right."
    )


def describe_ensemble_gain(made: EnsemblePredictions, found: MeanGain, noun: str) -> str:
    """Whether the ensemble gets more right than a member drawn at random: one claim, one line.

    Args:
      made: the predictions.
      found: what the ensemble is better by.
      noun: what an image is called.
    """
    if not made.split.any():
        everyone = (
            "Both members" if made.members == 2 else f"All {spell_number(made.members)} members"
        )
        return f"{everyone} give the same answer on every {noun}: together they get no more right."
    if found.accuracy_sign:
        which = "more" if found.accuracy_sign > 0 else "fewer"
        count = formats.format_count(abs(formats.round_half_away(found.digits)), noun).replace(
            " ", f" {which} "
        )
        return f"The ensemble gets {count} right than a member drawn at random."
    return (
        f"{formats.format_finding_subject(found.n, noun)} no gain in accuracy over a member "
        f"drawn at random."
    )


def summarize_gain_evidence(made: EnsemblePredictions, found: MeanGain, noun: str) -> str:
    """What carries the headline, in a line of at most 75 letters: won, lost, NLL."""
    if not found.nll and not found.nll_high:
        nll = "NLL is equal"
    elif not found.nll_sign:
        nll = f"NLL lower by {format_nll_ends(found)}"
    else:
        nll = f"NLL {format_nll_size(found)}"
    return (
        f"Against a typical member: {found.won:,.1f} {pluralize_noun(noun)} corrected, "
        f"{found.lost:,.1f} spoilt; {nll}."
    )


def describe_gain_evidence(made: EnsemblePredictions, found: MeanGain, noun: str) -> str:
    """The figures that the headline rests on: won and lost, their interval, NLL."""
    everyone = "both" if made.members == 2 else f"the {spell_number(made.members)}"
    return (
        f"Against a typical member (mean over {everyone}): {found.won:,.1f} "
        f"{pluralize_noun(noun)} corrected, {found.lost:,.1f} spoilt, "
        f"{format_signed(found.digits, 1)} {pluralize_noun(noun)} "
        f"{format_gain_interval(found)}{describe_undecided_gain(found, noun)}. "
        f"{describe_nll_gain(found, noun)}"
    )


def describe_nll_gain(found: MeanGain, noun: str) -> str:
    """What the ensemble saves of NLL, and why that may be where no more is shown to be right."""
    if not found.nll and not found.nll_high:
        return "NLL is equal."
    if not found.nll_sign:
        return (
            f"NLL is {format_nll_change(found)}: averaging never raises it above the members' "
            f"mean, but there are too few {pluralize_noun(noun)} to say how far it falls."
        )
    why = (
        ""
        if found.accuracy_sign > 0
        else ": accuracy counts right answers, NLL also how sure they are"
    )
    return f"NLL is {format_nll_change(found)}{why}."


def describe_best_member(
    made: EnsemblePredictions, right: int, noun: str, best_on: str = "test"
) -> str:
    """What the best single member gets, and why that is no offer where it is the best of these.

    Args:
      made: the predictions.
      right: how many it gets right.
      noun: what an image is called.
      best_on: on which images it is the best: "validation" or "test".
    """
    if best_on == "validation":
        return (
            f"The member that is best on the validation images gets {right:,} (the ensemble "
            f"{int(made.right.sum()):,})."
        )
    return (
        f"The best single member gets {right:,} (the ensemble {int(made.right.sum()):,}), but it "
        f"was picked on these very {pluralize_noun(noun)}: nobody knows beforehand which it is."
    )


def describe_calibration_loss(found: EceGain, members: int) -> str:
    """That the ensemble is worse calibrated than its members, where that is shown; else ""."""
    if found.ece_sign >= 0:
        return ""
    from_to = (
        f"{formats.format_significant(found.members)} to "
        f"{formats.format_significant(found.ensemble)}"
    )
    because = {
        -1: f": averaging {spell_number(members)} members makes it less sure than it is right",
        0: "",
        1: f": averaging {spell_number(members)} members leaves it surer than it is right",
    }[found.overconfidence_sign]
    return f"ECE got worse, {from_to}{because}."


def describe_interval_scope(accuracies: Sequence[float], nlls: Sequence[float], n: int) -> str:
    """For what the intervals hold, and how far runs lie apart that differ in the seed alone.

    Args:
      accuracies: the ensembles' of such runs, this one's among them, in [0, 1]; may be empty.
      nlls: the same runs' NLL, in nats.
      n: how many test images they are of.
    """
    said = "Intervals hold for these trained members on new images; another seed may differ"
    if len(accuracies) < 2:
        return f"{said}."
    points = 100 * statistics.stdev(accuracies)
    shares = [formats.format_percent(end, n) for end in (min(accuracies), max(accuracies))]
    ends = [formats.format_significant(end) for end in (min(nlls), max(nlls))]
    return (
        f"{said}: {len(accuracies):,} runs that differ in the seed alone get "
        f"{formats.format_percent(statistics.fmean(accuracies), n)} ± "
        f"{formats.format_significant(points, 2)} "
        f"({shares[0].removesuffix(' %')} to {shares[1]}), NLL "
        f"{formats.format_significant(statistics.fmean(nlls))} ± "
        f"{formats.format_significant(statistics.stdev(nlls), 2)} ({ends[0]} to {ends[1]}): mean ± "
        "standard deviation after the last epoch."
    )


def format_gain_interval(found: MeanGain) -> str:
    """The interval of the digits, as "(95 % interval +9 to +27)"."""
    return (
        f"(95 % interval {format_signed(found.digits_low, 0)} to "
        f"{format_signed(found.digits_high, 0)})"
    )


def describe_undecided_gain(found: MeanGain, noun: str) -> str:
    """Where no difference is shown: how large a loss or a gain may be there all the same."""
    if found.accuracy_sign:
        return ""
    loss, gain = (
        f"a {name} of {formats.format_count(round(end), noun)}" if round(end) else f"no {name}"
        for name, end in (("loss", abs(found.digits_low)), ("gain", abs(found.digits_high)))
    )
    return f"; anything from {loss} to {gain} is possible"


def format_nll_change(found: MeanGain) -> str:
    """How far the NLL is from the other's, as "0.035 nats lower (0.030 to 0.041)"."""
    return f"{format_nll_size(found)} ({format_nll_ends(found)})"


def format_nll_size(found: MeanGain) -> str:
    """The same without its interval: "0.035 nats lower"."""
    return (
        f"{formats.format_significant(abs(found.nll), 2)} nats "
        f"{'lower' if found.nll > 0 else 'higher'}"
    )


def format_nll_ends(found: MeanGain) -> str:
    """The interval of that: its size, or with signs of the change where it holds 0."""
    if found.nll_low == 0:
        return f"0 to {formats.format_significant(found.nll_high, 2)}"
    if found.nll_low < 0 <= found.nll_high:
        return f"{format_signed(-found.nll_high)} to {format_signed(-found.nll_low)}"
    ends = sorted((abs(found.nll_low), abs(found.nll_high)))
    low, high = (formats.format_significant(end, 2) for end in ends)
    return low if low == high else f"{low} to {high}"


def format_signed(value: float, places: int | None = None) -> str:
    """A difference with its sign: to so many decimals, else to two significant figures."""
    size = abs(value)
    said = formats.format_significant(size, 2) if places is None else f"{size:,.{places}f}"
    return f"{'+' if value > 0 else '−' if float(said.replace(',', '')) else '±'}{said}"


def list_quality_rows(found: EnsembleQualities) -> list[tuple[str, Quality]]:
    """Who, and the figures: the ensemble first; one member alone is all there is."""
    if len(found.members) == 1:
        return [("member 1", found.ensemble)]
    each = [(f"member {m + 1}", one) for m, one in enumerate(found.members)]
    return [("ensemble", found.ensemble), ("mean member", found.mean), *each]


def tabulate_exact_metrics(found: EnsembleQualities) -> pd.DataFrame:
    """The figures to keep, all in [0, 1] or nats."""
    lines = []
    for who, one in list_quality_rows(found):
        interval = {"accuracy low": one.low, "accuracy high": one.high}
        others = {metric.term: one[metric.name] for metric in METRICS if metric.name != "accuracy"}
        lines.append({"who": who, "accuracy": one.accuracy, **interval, **others})
    return pd.DataFrame(lines)


def tabulate_formatted_metrics(found: EnsembleQualities) -> pd.DataFrame:
    """The same to read: each figure as it is written on every screen."""
    lines = []
    for who, one in list_quality_rows(found):
        share = formats.format_percent(one.accuracy, one.n)
        others = {
            metric.term: formats.format_significant(one[metric.name])
            for metric in METRICS
            if metric.name != "accuracy"
        }
        ends = formats.format_wilson_interval(one.accuracy, one.n)
        lines.append({"who": who, "accuracy": f"{share} {ends}", **others})
    return pd.DataFrame(lines)
