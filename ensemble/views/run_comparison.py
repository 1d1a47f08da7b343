"""What one run gets right and another does not, class by class."""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.inference.crossed_means import OVER_IMAGES
from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL, PairedGain
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.comparison.seed_groups import SeedComparison
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, RIGHT_COLOR, WRONG_COLOR, Palette
from ensemble.wording import escaping, formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts.ensemble_gain import (
    describe_undecided_gain,
    format_gain_interval,
    format_nll_change,
    format_p_value,
    format_signed,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go


def compute_gain_signs(gain: PairedGain) -> tuple[int, int]:
    """What both tests together show of accuracy and of NLL: 1 better, −1 worse, 0 neither."""
    accuracy, nll = adjust_p_holm([gain.p, gain.nll_p]) < SIGNIFICANCE_LEVEL
    return (int(accuracy) * (1 if gain.digits > 0 else -1), int(nll) * (1 if gain.nll > 0 else -1))


def describe_run_comparison(gain: PairedGain, other: str, noun: str, seeds: SeedComparison | None = None) -> str:
    """Which of two runs is better on the images they share: one claim.

    Of their settings where other seeds bear it out, else of these two runs.

    Args:
      seeds: what runs of their settings show; None where that is not known.
    """
    if claim := _describe_settings_difference(seeds, other, noun):
        return claim
    begin = "Same settings, another seed: this run" if seeds and seeds.has_same_settings else "Of these two, this run"
    accuracy, nll = compute_gain_signs(gain)
    lower = "a lower" if nll > 0 else "a higher"
    if accuracy:
        more = _format_more_right(gain.digits, noun)
        but = f", but {lower} NLL" if nll == -accuracy else ""
        return f"{begin} gets {more} right than {other}{but}."
    if not gain.won + gain.lost:
        return f"Both get the same {pluralize_noun(noun)} right{f', this run at {lower} NLL' if nll else ''}."
    if nll:
        return f"{begin} has {lower} NLL than {other}; which is right more often is open."
    return f"{formats.format_finding_subject(gain.n, noun)} no difference from {other}."


def _describe_settings_difference(seeds: SeedComparison | None, other: str, noun: str) -> str:
    """What holds for other seeds of both settings; "" where nothing is shown."""
    difference = seeds.difference if seeds else None
    if difference is None:
        return ""
    lower = "a lower" if difference.settings_nll_sign > 0 else "a higher"
    if difference.settings_accuracy_sign:
        contrary = difference.settings_nll_sign == -difference.settings_accuracy_sign
        return (
            f"These settings get {_format_more_right(difference.digits, noun)} right than those of "
            f"{other}{f', but {lower} NLL' if contrary else ''}."
        )
    if difference.settings_nll_sign:
        return f"These settings have {lower} NLL than those of {other}."
    return ""


def _format_more_right(digits: float, noun: str) -> str:
    count = abs(formats.round_half_away(digits))
    which = "more" if digits > 0 else "fewer"
    return f"{count:,} {which} {noun if count == 1 else pluralize_noun(noun)}"


def describe_seed_evidence(seeds: SeedComparison | None, noun: str) -> str:
    if seeds is None:
        return ""
    if seeds.has_same_settings:
        return "Only the seed differs, so neither setting is better: one start happened to do better."
    difference = seeds.difference
    if difference is None:
        return ""
    if difference.settings_p is None or difference.settings_nll_p is None:
        return "This is about these two trained runs: other seeds of the same settings may order them differently."
    accuracy_p, nll_p = (
        format_p_value(p or 0.0) for p in (difference.adjusted_settings_p, difference.adjusted_settings_nll_p)
    )
    if difference.over == OVER_IMAGES:
        return (
            f"Other seeds, told from how members differ: accuracy {accuracy_p}, NLL {nll_p} (jackknife over members)."
        )
    ends = f"{format_signed(difference.digits_low, 1)} to {format_signed(difference.digits_high, 1)}"
    nll = f"{format_signed(-difference.nll_high)} to {format_signed(-difference.nll_low)}"
    return (
        f"Over {len(seeds.runs)} and {len(seeds.other_runs)} seeds: "
        f"{formats.format_image_difference(difference.digits, noun)} ({ends}), {accuracy_p}; "
        f"NLL {format_signed(-difference.nll)} ({nll}), {nll_p}: intervals and p for new seeds and images."
    )


def describe_seed_power(seeds: SeedComparison, counts: Sequence[int]) -> str:
    """How likely so many seeds of each would show a difference like this; "" where unknown."""
    chances = [seeds.compute_power(count) for count in counts]
    if any(chance is None for chance in chances):
        return ""
    # Members that see the images in one order tell the least that seeds may differ by.
    about = "about" if seeds.is_nll_variance_from_runs or seeds.has_independent_members else "at most about"
    parts = [
        f"{count} {'seeds of each would show it in ' + about if not place else 'in'} {_format_chance(chance or 0.0)}"
        for place, (count, chance) in enumerate(zip(counts, chances, strict=True))
    ]
    text = f"If their NLLs differ as much as here, {', '.join(parts)} of cases."
    text = text.replace("at most about over", "perhaps over")
    return re.sub(r"(?:at most )?about (under|over)", r"\1", text)


def describe_comparison_evidence(gain: PairedGain, noun: str) -> str:
    if not gain.won + gain.lost and not gain.nll_low and not gain.nll_high:
        return ""
    accuracy, nll = adjust_p_holm([gain.p, gain.nll_p])
    open_ = "" if accuracy < SIGNIFICANCE_LEVEL else describe_undecided_gain(gain, noun)
    return (
        f"{gain.won:,} right only in this run, {gain.lost:,} only in the other, "
        f"{format_p_value(float(accuracy))}: {formats.format_image_difference(gain.digits, noun)} "
        f"{format_gain_interval(gain)}{open_}. NLL is {format_nll_change(gain)}, "
        f"{format_p_value(float(nll))}. Both p are adjusted for two tests (Holm); each interval is for one test alone."
    )


def _format_chance(chance: float) -> str:
    """A chance as rough as it is known: "40 %", "under 5 %", "over 95 %"."""
    if chance < 0.05:
        return f"under {formats.format_percent(0.05, places=0)}"
    if chance > 0.95:
        return f"over {formats.format_percent(0.95, places=0)}"
    return formats.format_percent(round(20 * chance) / 20, places=0)


def describe_pair_choice(available: int) -> str:
    """That one pair of several was picked; "" where there was no choice."""
    if available < 2:
        return ""
    return (
        f"With {available:,} runs to compare with, about one in 20 of them would look different by "
        "luck alone; “Against all runs” corrects for that."
    )


def find_won_and_lost(predictions: EnsemblePredictions, other_predictions: EnsemblePredictions) -> tuple[Ints, Ints]:
    """The numbers of the images that only ours, and that only theirs has right; surest first."""
    pair = [
        np.flatnonzero(a & ~b)
        for a, b in ((predictions.right, other_predictions.right), (other_predictions.right, predictions.right))
    ]
    won, lost = (numbers[np.argsort(-predictions.confidence[numbers], kind="stable")] for numbers in pair)
    return won, lost


def count_wins_by_class(labels: Ints, won: Ints, lost: Ints, classes: int) -> tuple[Ints, Ints]:
    """How many of each class were won, and lost: (C,) and (C,)."""
    first, second = (np.bincount(labels[numbers], minlength=classes) for numbers in (won, lost))
    return first, second


MAX_CLASSES = 30  # classes in the picture


def select_most_changed_classes(counts: tuple[Ints, Ints], most: int = MAX_CLASSES) -> Ints:
    """The classes of the picture, rising: all, or those with the most won and lost."""
    order = np.argsort(-(counts[0] + counts[1]), kind="stable")
    return np.sort(order[:most])


def plot_wins_by_class(
    counts: tuple[Ints, Ints], names: Sequence[str], noun: str, title: str, palette: Palette
) -> "go.Figure":
    """Bars of what was won up, and of what was lost down, one pair a class.

    Of more than `MAX_CLASSES` classes those with the most of both.

    Args:
      counts: (C,) won and (C,) lost.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    kept = select_most_changed_classes(counts)
    names = [escaping.escape_plotly_text(names[c]) for c in kept]
    counts = counts[0][kept], counts[1][kept]
    sides = (("won", 1, RIGHT_COLOR), ("lost", -1, WRONG_COLOR))
    bars: list[dict[str, Any]] = [
        {
            "x": list(range(len(names))),
            "y": sign * count,
            "name": name,
            "marker": {"color": color},
            "hoverinfo": "text",
            "hovertext": [f"{names[c]}: {formats.format_count(int(count[c]), noun)} {name}" for c in range(len(names))],
            "text": [f"{number:,}" if number else "" for number in count],
            "textposition": "outside",
            "cliponaxis": False,
        }
        for (name, sign, color), count in zip(sides, counts, strict=True)
    ]
    chart = go.Figure([go.Bar(bar) for bar in bars])
    chart.update_layout(chart_style.build_chart_layout(title, 400, palette, barmode="relative", bargap=0.35))
    low, high = (-1.2 * counts[1].max(), 1.2 * counts[0].max())
    room = 0.08 * max(1.0, high - low)
    ticks = compute_whole_ticks(low, high)
    chart.update_xaxes(
        tickvals=list(range(len(names))), ticktext=list(names), fixedrange=True, title=f"what the {noun} is"
    )
    chart.update_yaxes(
        range=[low - room, high + room],
        tickvals=ticks,
        title=f"{pluralize_noun(noun)}",
        fixedrange=True,
        ticktext=[f"{abs(tick):,}" for tick in ticks],
        automargin=True,
        zerolinecolor=MUTED_COLOR,
    )
    return chart


def compute_whole_ticks(low: float, high: float) -> list[int]:
    """Whole round numbers from `low` to `high`, about five."""
    rough = max(1.0, (high - low) / 5)
    power = 10 ** math.floor(math.log10(rough))
    step = int(next(lead * power for lead in (1, 2, 5, 10) if lead * power >= rough))
    return list(range(math.ceil(low / step) * step, math.floor(high / step) * step + 1, step))


def tabulate_won_and_lost(
    predictions: EnsemblePredictions, other_predictions: EnsemblePredictions, names: Sequence[str]
) -> pd.DataFrame:
    """Every image that only one of the two has right: what it is, and what either says."""
    won, lost = find_won_and_lost(predictions, other_predictions)
    numbers, named = np.concatenate([won, lost]), np.asarray(names, object)
    return pd.DataFrame(
        {
            "number": numbers,
            "outcome": ["won"] * len(won) + ["lost"] * len(lost),
            "label": named[predictions.labels[numbers]],
            "says": named[predictions.said[numbers]],
            "confidence": predictions.confidence[numbers],
            "other_says": named[other_predictions.said[numbers]],
            "other_confidence": other_predictions.confidence[numbers],
        }
    )
