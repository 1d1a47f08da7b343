"""Combining: whether another way than the mean makes a better answer of the members'."""

from collections.abc import Sequence

import numpy as np

from ensemble.analysis.members.combining import Combined
from ensemble.analysis.predictions import Predictions, ordered
from ensemble.analysis.quality.averaging import Ints
from ensemble.analysis.quality.calibration_noise import CalibrationError, calibration_error
from ensemble.analysis.quality.halves import LEAST, halves
from ensemble.analysis.quality.summary import Quality
from ensemble.figures.inspect import combining as figures
from ensemble.figures.inspect.combining import NAMES, side_by_side
from ensemble.views.committee import FIGURE
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Choice, Figure, Figures, Images, Paragraph, Table, View
from ensemble.wording import formats
from ensemble.wording.formats import plural
from ensemble.wording.verdicts import combining as words
from ensemble.wording.verdicts.calibration import by_chance

SHORT = {"geometric": "geometric", "majority": "majority", "weighted": "weights"}
CHANGED = {
    "any": "Any rule",
    "geometric": "Geometric mean",
    "majority": "Majority vote",
    "weighted": "Fitted weights",
}


def build_combining(epoch: EvaluatedEpoch) -> View:
    """The answer, the four ways side by side, and the images whose verdict changes."""
    if epoch.members == 1:
        yield Paragraph(
            "One member has nothing to be combined with: train two or more to see which way of "
            "combining them is best.",
            "unavailable",
            icon=":material/group_off:",
        )
        return
    if epoch.n < LEAST and not epoch.fit:
        yield Paragraph(
            f"With fewer than {LEAST} {plural(epoch.noun)} there is nothing to fit weights on.",
            "unavailable",
            icon=":material/grid_off:",
        )
        return
    combined, members = epoch.measure(combine_members, fitted=True)
    yield Paragraph(words.answer(combined, epoch.noun), "answer")
    yield Paragraph(words.evidence(combined, epoch.noun), "evidence")
    yield Figures(
        FIGURE,
        lambda name: plot_rules(epoch, combined, members, name),
        {"ece": lambda: by_chance(epoch.measure(measure_error_of_mean, fitted=True))},
    )
    yield Table(
        "Four ways of combining",
        words.in_words(combined, epoch.noun),
        note=words.NOTES,
        key="combining_table",
    )
    yield from build_changed(epoch, combined)


def plot_rules(
    epoch: EvaluatedEpoch, combined: Combined, members: Sequence[Quality], name: str
) -> Figure:
    """One figure of the four ways side by side."""
    title = f"Ways of combining, {NAMES[name]} · {epoch.source}"
    return Figure(
        label=NAMES[name],
        alt=figures.alt(combined, name),
        sees=words.sees(combined),
        draw=lambda palette: figures.figure(combined, list(members), name, title, palette),
        key="combining",
        file=f"combining-{name}",
        title="Four ways of combining",
        table=lambda: figures.table(combined),
        drawn_from=(name,),
    )


def build_changed(epoch: EvaluatedEpoch, combined: Combined) -> View:
    """The images of which another way says something else than the mean."""
    noun = epoch.noun
    rule = yield Choice("rule", f"{noun.capitalize()}s whose verdict changes", CHANGED, "any")
    numbers = ordered(epoch.predictions, list_changed(combined, rule), "unsure")
    by = "any other way of combining" if rule == "any" else f"the {words.RULES[rule]}"
    yield Images(
        numbers,
        f"combining_{rule}",
        f"Of {formats.count(len(numbers), noun)} of the whole test set {by} says something else; "
        "the least sure first.",
        under=lambda number: list_answers(combined, number, epoch.class_names),
        empty=f"Of no {noun} of the whole test set {by} says anything else.",
    )


def combine_members(
    predictions: Predictions, fit: Predictions | None = None
) -> tuple[Combined, list[Quality]]:
    """The four ways, and each member alone on the examples that they are judged on."""
    return side_by_side(predictions, fit)


def measure_error_of_mean(predictions: Predictions, fit: Predictions | None) -> CalibrationError:
    """The ECE of the arithmetic mean where all ways are judged, and what chance alone gives."""
    judged = slice(None) if fit else halves(predictions.labels)[1]
    return calibration_error(predictions.confidence[judged], predictions.right[judged])


def list_changed(combined: Combined, rule: str) -> Ints:
    """The numbers of the images whose verdict a rule, or any, changes; rising."""
    chosen = SHORT if rule == "any" else (rule,)
    return np.unique(np.concatenate([getattr(combined, name).changed for name in chosen]))


def list_answers(combined: Combined, number: int, names: Sequence[str]) -> list[str]:
    """What each other way says of an image."""
    return [f"{word} {names[getattr(combined, name).said[number]]}" for name, word in SHORT.items()]
