"""The answer of Inspect in words: what the ensemble is better by."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import grouped_share_interval
from ensemble.analysis.inference.training_variance import TrainingVariance
from ensemble.analysis.members.ece_gain import EceGain
from ensemble.analysis.members.gain import MeanGain
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.metrics import METRICS
from ensemble.analysis.quality.quality import EnsembleQualities, Quality
from ensemble.wording import formats
from ensemble.wording.formats import join_items, pluralize_noun

_NUMBER_WORDS = (
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

_DIGITS_SENTENCE = "The test digits are by few people: on other people's the accuracy may lie well outside it."
_COMPARED_DIGITS_SENTENCE = (
    "The test digits are by few people but count as independent in tests: on other people's "
    "digits runs may differ by more than the intervals say."
)
_DIGITS_BLOCKS = 4  # of the test digits in file order, about one for each person who wrote them


def spell_number(value: int) -> str:
    """A number in a sentence: in letters up to twelve."""
    return _NUMBER_WORDS[value] if value < len(_NUMBER_WORDS) else f"{value:,}"


def format_p_value(p: float) -> str:
    """A p as "p = 0.004" or "p < 0.001", on one line."""
    text = "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def describe_single_member(predictions: EnsemblePredictions, noun: str) -> str:
    n, right = len(predictions.labels), int(predictions.right.sum())
    return (
        f"One member alone: there is no ensemble to compare it with. It gets {right:,} of "
        f"{formats.format_count(n, noun)} right."
    )


def describe_ensemble_gain(predictions: EnsemblePredictions, gain: MeanGain, noun: str) -> str:
    """Whether the ensemble gets more right than a member drawn at random: one claim, one line."""
    if not predictions.split.any():
        everyone = "Both members" if predictions.members == 2 else f"All {spell_number(predictions.members)} members"
        return f"{everyone} give the same answer on every {noun}: together they get no more right."
    if gain.accuracy_sign:
        which = "more" if gain.accuracy_sign > 0 else "fewer"
        count = formats.format_count(abs(formats.round_half_away(gain.digits)), noun).replace(" ", f" {which} ")
        return f"The ensemble gets {count} right than its members do on average."
    return f"{formats.format_finding_subject(gain.n, noun)} no gain in accuracy over the average member."


def summarize_gain_evidence(predictions: EnsemblePredictions, gain: MeanGain, noun: str) -> str:
    """What carries the headline, in a line of at most 75 letters: won, lost, NLL."""
    if not gain.nll and not gain.nll_high:
        nll = "NLL is equal"
    elif not gain.nll_sign:
        nll = f"NLL lower by {format_nll_ends(gain)}"
    else:
        nll = f"NLL {_format_nll_size(gain)}"
    return f"On average {gain.won:,.1f} {pluralize_noun(noun)} corrected, {gain.lost:,.1f} spoilt; {nll}."


def describe_gain_evidence(predictions: EnsemblePredictions, gain: MeanGain, noun: str) -> str:
    """The figures that the headline rests on: won and lost, their interval, NLL."""
    everyone = "both" if predictions.members == 2 else f"the {spell_number(predictions.members)}"
    return (
        f"Against an average member (mean over {everyone}): {gain.won:,.1f} "
        f"{pluralize_noun(noun)} corrected, {gain.lost:,.1f} spoilt, "
        f"{format_signed(gain.digits, 1)} {pluralize_noun(noun)} "
        f"{format_gain_interval(gain)}{describe_undecided_gain(gain, noun)}. "
        f"{describe_nll_gain(gain, noun)}"
    )


def describe_nll_gain(gain: MeanGain, noun: str) -> str:
    if not gain.nll and not gain.nll_high:
        return "NLL is equal."
    if not gain.nll_sign:
        return (
            f"NLL is {format_nll_change(gain)}: averaging never raises it above the members' "
            f"mean, but there are too few {pluralize_noun(noun)} to say how far it falls."
        )
    why = "" if gain.accuracy_sign > 0 else ": accuracy counts right answers, NLL also how sure they are"
    return f"NLL is {format_nll_change(gain)}{why}."


def describe_best_member(predictions: EnsemblePredictions, right: int, noun: str, best_on: str = "test") -> str:
    """What the best single member gets, and why that is no offer where it is the best of these.

    Args:
      best_on: on which images it is the best: "validation" or "test".
    """
    if best_on == "validation":
        return (
            f"The member that is best on the validation images gets {right:,} (the ensemble "
            f"{int(predictions.right.sum()):,})."
        )
    return (
        f"The best single member gets {right:,} (the ensemble "
        f"{int(predictions.right.sum()):,}), but it "
        f"was picked on these very {pluralize_noun(noun)}: nobody knows beforehand which it is."
    )


def describe_calibration_loss(gain: EceGain, members: int) -> str:
    """That the ensemble is worse calibrated than its members, where that is shown; else ""."""
    if gain.ece_sign >= 0:
        return ""
    from_to = f"{formats.format_significant(gain.members)} to {formats.format_significant(gain.ensemble)}"
    because = {
        -1: f": averaging {spell_number(members)} members makes it less sure than it is right",
        0: "",
        1: f": averaging {spell_number(members)} members leaves it surer than it is right",
    }[gain.overconfidence_sign]
    return f"ECE got worse, {from_to}{because}."


class MemberSpread(NamedTuple):
    """How far another ensemble of as many members would lie from this one, judged by its members.

    Attributes:
      accuracy: standard deviation of the ensemble's accuracy, as a share.
      nll: of its NLL, in nats.
      is_lower_limit: whether members have more in common than other seeds would.
    """

    accuracy: float
    nll: float
    is_lower_limit: bool


def describe_interval_scope(
    accuracies: Sequence[float], nlls: Sequence[float], n: int, spread: MemberSpread | None = None
) -> str:
    """For what the intervals hold, and how far runs lie apart that differ in the seed alone.

    Args:
      accuracies: the ensembles' of such runs, this one's among them, in [0, 1]; may be empty.
      nlls: the same runs' NLL, in nats.
    """
    text = "Intervals hold for these trained members on new images; another seed may differ"
    if len(accuracies) < 2:
        return f"{text}{_describe_member_spread(spread) if spread else ''}."
    points = 100 * statistics.stdev(accuracies)
    shares = [formats.format_percent(end, n) for end in (min(accuracies), max(accuracies))]
    ends = [formats.format_significant(end) for end in (min(nlls), max(nlls))]
    return (
        f"{text}: {len(accuracies):,} runs that differ in the seed alone get "
        f"{formats.format_percent(statistics.fmean(accuracies), n)} ± {formats.format_significant(points, 2)} "
        f"({shares[0].removesuffix(' %')} to {shares[1]}), NLL {formats.format_significant(statistics.fmean(nlls))} ± "
        f"{formats.format_significant(statistics.stdev(nlls), 2)} ({ends[0]} to {ends[1]}): mean ± standard deviation."
    )


def _describe_member_spread(spread: MemberSpread) -> str:
    points = formats.format_significant(100 * spread.accuracy, 2)
    nats = formats.format_significant(spread.nll, 2)
    least, why = "about", ""
    if spread.is_lower_limit:
        least, why = "at least", "; all saw the images in one order, which another seed changes"
    return (
        f", judged by how its members differ by {least} ± {points} points and ± {nats} nats of NLL "
        f"(jackknife over members, standard deviation{why})"
    )


def format_accuracy_interval(quality: Quality) -> str:
    """The interval of an accuracy, as it was measured: over groups where images belong together."""
    return formats.format_share_interval(quality.accuracy, quality.low, quality.high, quality.n)


def describe_digits_caution(dataset: str) -> str:
    """That the test images of the embedded digits are by few people; "" of other datasets."""
    return _DIGITS_SENTENCE if dataset == "digits" else ""


def describe_compared_digits_caution(datasets: Iterable[str]) -> str:
    """The same of runs that are compared, by the names of their datasets; "" of other datasets."""
    return _COMPARED_DIGITS_SENTENCE if "digits" in set(datasets) else ""


def describe_digit_blocks(dataset: str, right: NDArray[np.bool_]) -> str:
    """How right it is block by block of the embedded digits, and the interval over these blocks.

    Args:
      dataset: the dataset's name; "" comes of any but "digits".
      right: (N,), where the ensemble is right, in file order.
    """
    if dataset != "digits":
        return ""
    blocks = np.arange(len(right)) * _DIGITS_BLOCKS // len(right)
    shares = [formats.format_percent(float(right[blocks == block].mean()), places=0) for block in range(_DIGITS_BLOCKS)]
    low, high = grouped_share_interval(right, blocks)
    return (
        "The test digits are by few people, about one a quarter of the file: its quarters are "
        f"{join_items(shares)} right. Counted by quarter the 95 % interval of the accuracy is "
        f"{formats.format_percent_range(low, high, places=1)}."
    )


def describe_image_dependence(named: int, copies: int, n: int, noun: str) -> str:
    """Whether intervals and tests take the images as independent, and what counts together.

    Args:
      named: how many groups a column names; 0 where there is none.
    """
    nouns = pluralize_noun(noun)
    sentences = []
    if named:
        sentences.append(f"Intervals and tests count the {nouns} of one group together: {named:,} groups.")
    if copies:
        are = "is a copy" if copies == 1 else "are copies"
        sentences.append(f"{copies:,} of the {n:,} {nouns} {are} of others and count once.")
    return " ".join(sentences) or f"Intervals and tests take the {nouns} as independent."


def describe_shift_groups(groups: int | None, noun: str) -> str:
    """Whether figures under shift count images that belong together as one.

    Args:
      groups: as how many groups; None where an earlier version measured them.
    """
    nouns = pluralize_noun(noun)
    if groups is None:
        return (
            f"When this was measured, the {nouns} of one group, and copies, counted one by one: "
            "what is shown is less sure than it says. Measure again to count them together."
        )
    return f"Intervals count the {nouns} of one group, or copies, together: {groups:,} groups."


def describe_training_copies(copies: int | None, n: int, noun: str) -> str:
    """How many test images were learnt from; "" where none was, or it is not known."""
    if not copies:
        return ""
    one = copies == 1
    return (
        f"{copies:,} of the {n:,} {pluralize_noun(noun)} {'is a copy' if one else 'are copies'} of "
        f"training images: {'that one' if one else 'those'} cannot tell how right it is on new "
        "ones, so take every figure as too good."
    )


def describe_folds(folds: int, noun: str) -> str:
    return (
        f"Each member learned from {folds - 1}/{folds} of the training {pluralize_noun(noun)}; "
        "without folds each would have seen all of them."
    )


def describe_judges(judges: NDArray[np.integer[Any]], members: int, epoch: int) -> str:
    """By which members training examples are judged; a clause.

    Args:
      judges: (N,), how many judge each.
      members: of the run.
      epoch: after which, from 1.
    """
    low, high = int(judges.min()), int(judges.max())
    count = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"Each is judged by the members that never learned from it, {count} of {members:,}, after epoch {epoch:,}"


def describe_training_variance(variance: TrainingVariance | None, n: int, noun: str) -> str:
    """What of the spread over seeds is a difference between trainings; "" where unknown."""
    if variance is None:
        return ""
    limit = f"{formats.format_significant(100 * variance.limit**0.5, 2)} points"
    images = f"these {n:,} {pluralize_noun(noun)}"
    if variance.on_distribution <= 0:
        if not variance.limit:
            return f"The luck of {images} explains all of that: no difference between trainings is seen."
        return (
            f"The luck of {images} alone would make them differ as much: on new images the "
            f"accuracy of such trainings differs by at most ± {limit} (95 %)."
        )
    points = formats.format_significant(100 * variance.on_distribution**0.5, 2)
    return (
        f"On new images the accuracy of such trainings differs by about ± {points} points (at most "
        f"{limit}, 95 %); the rest is the luck of {images}."
    )


def format_gain_interval(gain: MeanGain) -> str:
    """The interval of the digits, as "(95 % interval +9 to +27)"."""
    return f"(95 % interval {format_signed(gain.digits_low, 0)} to {format_signed(gain.digits_high, 0)})"


def describe_undecided_gain(mean_gain: MeanGain, noun: str) -> str:
    """Where no difference is shown: how large a loss or a gain may be there all the same."""
    if mean_gain.accuracy_sign:
        return ""
    loss, gain = (
        f"a {name} of {formats.format_count(round(end), noun)}" if round(end) else f"no {name}"
        for name, end in (("loss", abs(mean_gain.digits_low)), ("gain", abs(mean_gain.digits_high)))
    )
    return f"; anything from {loss} to {gain} is possible"


def format_nll_change(gain: MeanGain) -> str:
    """How far the NLL is from the other's, as "0.035 nats lower (0.030 to 0.041)"."""
    return f"{_format_nll_size(gain)} ({format_nll_ends(gain)})"


def _format_nll_size(gain: MeanGain) -> str:
    """The same without its interval: "0.035 nats lower"."""
    return f"{formats.format_significant(abs(gain.nll), 2)} nats {'lower' if gain.nll > 0 else 'higher'}"


def format_nll_ends(gain: MeanGain) -> str:
    """The interval of that: its size, or with signs of the change where it holds 0."""
    if gain.nll_low == 0:
        return f"0 to {formats.format_significant(gain.nll_high, 2)}"
    if gain.nll_low < 0 <= gain.nll_high:
        return f"{format_signed(-gain.nll_high)} to {format_signed(-gain.nll_low)}"
    ends = sorted((abs(gain.nll_low), abs(gain.nll_high)))
    low, high = (formats.format_significant(end, 2) for end in ends)
    return low if low == high else f"{low} to {high}"


def format_signed(value: float, places: int | None = None) -> str:
    """A difference with its sign: to so many decimals, else to two significant figures."""
    size = abs(value)
    text = formats.format_significant(size, 2) if places is None else f"{size:,.{places}f}"
    return f"{'+' if value > 0 else '−' if float(text.replace(',', '')) else '±'}{text}"


def list_quality_rows(qualities: EnsembleQualities) -> list[tuple[str, Quality]]:
    """Who, and the figures: the ensemble first; one member alone is all there is."""
    if len(qualities.members) == 1:
        return [("member 1", qualities.ensemble)]
    each = [(f"member {m + 1}", member) for m, member in enumerate(qualities.members)]
    return [("ensemble", qualities.ensemble), ("mean member", qualities.mean), *each]


def tabulate_exact_metrics(qualities: EnsembleQualities) -> pd.DataFrame:
    """The figures to keep, all in [0, 1] or nats."""
    lines = []
    for who, quality in list_quality_rows(qualities):
        interval = {"accuracy low": quality.low, "accuracy high": quality.high}
        metrics = {metric.term: quality[metric.name] for metric in METRICS if metric.name != "accuracy"}
        lines.append({"who": who, "accuracy": quality.accuracy, **interval, **metrics})
    return pd.DataFrame(lines)


def tabulate_formatted_metrics(qualities: EnsembleQualities) -> pd.DataFrame:
    """The same to read: each figure as it is written on every screen."""
    lines = []
    for who, quality in list_quality_rows(qualities):
        share = formats.format_percent(quality.accuracy, quality.n)
        metrics = {
            metric.term: formats.format_significant(quality[metric.name])
            for metric in METRICS
            if metric.name != "accuracy"
        }
        ends = format_accuracy_interval(quality)
        lines.append({"who": who, "accuracy": f"{share} {ends}", **metrics})
    return pd.DataFrame(lines)
