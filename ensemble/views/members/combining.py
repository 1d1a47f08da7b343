"""Combining: whether another way than the mean makes a better answer of the members'."""

from collections.abc import Sequence

import numpy as np

from ensemble.analysis.inference.image_groups import select_groups
from ensemble.analysis.members.combining import CombinationComparison
from ensemble.analysis.predictions import EnsemblePredictions, sort_examples
from ensemble.analysis.quality.averaging import Ints
from ensemble.analysis.quality.calibration_noise import (
    CalibrationErrorEstimate,
    estimate_calibration_error,
    estimate_ensemble_calibration_error,
)
from ensemble.analysis.quality.halves import MIN_EXAMPLES_TO_HALVE, split_halves
from ensemble.analysis.quality.quality import Quality
from ensemble.figures.inspect import combining as figures
from ensemble.figures.inspect.combining import METRIC_NAMES, compare_rules_and_members
from ensemble.views.committee import METRIC_CHOICE
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Choice, Figure, Figures, Images, Paragraph, Table, View
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts import combining as words
from ensemble.wording.verdicts.calibration import describe_chance_error

_RULE_SHORT_NAMES = {"geometric": "geometric", "majority": "majority", "weighted": "weights"}
_RULE_CHOICES = {
    "any": "Any rule",
    "geometric": "Geometric mean",
    "majority": "Majority vote",
    "weighted": "Fitted weights",
}


def build_combining(epoch: EvaluatedEpoch) -> View:
    if epoch.members == 1:
        yield Paragraph(
            "One member has nothing to be combined with: train two or more to see which way of combining them is best.",
            "unavailable",
            icon=":material/group_off:",
        )
        return
    if epoch.n < MIN_EXAMPLES_TO_HALVE and not epoch.fit:
        yield Paragraph(
            f"Fewer than {MIN_EXAMPLES_TO_HALVE} {pluralize_noun(epoch.noun)} are too few to fit weights on.",
            "unavailable",
            icon=":material/grid_off:",
        )
        return
    combined, members = epoch.measure(combine_members, fitted=True)
    yield Paragraph(words.describe_best_combination(combined, epoch.noun), "answer")
    yield Paragraph(words.describe_combination_evidence(combined, epoch.noun), "evidence")
    yield Figures(
        METRIC_CHOICE,
        lambda name: _build_combinations_figure(epoch, combined, members, name),
        {"ece": lambda: describe_chance_error(epoch.measure(_measure_mean_calibration, fitted=True))},
    )
    yield Table(
        "Four ways of combining",
        words.tabulate_combination_gains(combined, epoch.noun),
        note=words.COMBINATION_NOTES,
        key="combining_table",
    )
    yield from _changed_verdicts_view(epoch, combined)


def _build_combinations_figure(
    epoch: EvaluatedEpoch, combined: CombinationComparison, members: Sequence[Quality], name: str
) -> Figure:
    title = f"Ways of combining, {METRIC_NAMES[name]} · {epoch.source}"
    return Figure(
        label=METRIC_NAMES[name],
        alt=figures.describe_combinations_chart(combined, name),
        explanation=words.explain_combinations_chart(combined),
        draw=lambda palette: figures.plot_combinations(combined, list(members), name, title, palette),
        key="combining",
        file=f"combining-{name}",
        title="Four ways of combining",
        table=lambda: figures.tabulate_combinations(combined),
        drawn_from=(name,),
    )


def _changed_verdicts_view(epoch: EvaluatedEpoch, combined: CombinationComparison) -> View:
    noun = epoch.noun
    rule = yield Choice("rule", f"{noun.capitalize()}s whose verdict changes", _RULE_CHOICES, "any")
    numbers = sort_examples(epoch.predictions, _list_changed_images(combined, rule), "unsure")
    by = "any other way of combining" if rule == "any" else f"the {words.RULE_NAMES[rule]}"
    yield Images(
        numbers,
        f"combining_{rule}",
        f"{formats.format_count(len(numbers), noun)} of the whole test set would get another "
        f"answer by {by}; the least sure first.",
        list_lines_below=lambda number: _list_rule_answers(combined, number, epoch.class_names),
        empty=f"By {by}, no {noun} of the whole test set is answered differently.",
    )


def combine_members(
    predictions: EnsemblePredictions, fit: EnsemblePredictions | None = None
) -> tuple[CombinationComparison, list[Quality]]:
    return compare_rules_and_members(predictions, fit)


def _measure_mean_calibration(
    predictions: EnsemblePredictions, fit: EnsemblePredictions | None
) -> CalibrationErrorEstimate:
    if fit:
        return estimate_ensemble_calibration_error(predictions)
    judged = split_halves(predictions.labels, predictions.groups)[1]
    return estimate_calibration_error(
        predictions.confidence[judged], predictions.right[judged], groups=select_groups(predictions.groups, judged)
    )


def _list_changed_images(combined: CombinationComparison, rule: str) -> Ints:
    """The numbers of the images whose verdict a rule, or any, changes; rising."""
    chosen = _RULE_SHORT_NAMES if rule == "any" else (rule,)
    return np.unique(np.concatenate([getattr(combined, name).changed_examples for name in chosen]))


def _list_rule_answers(combined: CombinationComparison, number: int, names: Sequence[str]) -> list[str]:
    return [f"{word} {names[getattr(combined, name).said[number]]}" for name, word in _RULE_SHORT_NAMES.items()]
