"""Spread: what of it is noise and what disagreement, and whether it follows the error."""

import pandas as pd

from ensemble.analysis.numeric.numeric_diagnosis import SpreadSkill, measure_spread_skill
from ensemble.figures.numeric import spread_and_error as figures
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.parts import Figure, Figures, Paragraph, Table, View
from ensemble.wording import numeric_predictions as words
from ensemble.wording.formats import format_significant

_SPREAD_NAMES = {
    "normal": "The predicted spread is the mixture’s standard deviation.",
    "quantiles": "The predicted spread is half the width of the widest central interval.",
    "points": "Members give no spread: their disagreement stands for it, and noise is not in it.",
}


def build_numeric_spread(numbers: EvaluatedNumbers) -> View:
    skill = measure_spread_skill(numbers.predicted, numbers.targets, numbers.groups)
    if skill is None:
        why = (
            "One member that gives a number alone has no spread."
            if numbers.predicted.compute_spread() is None
            else "Too few examples to tell whether the spread follows the error."
        )
        yield Paragraph(why, "answer")
    else:
        noun = "disagreement" if numbers.evaluation.form == "points" else "predicted spread"
        yield Paragraph(f"{words.describe_spread_skill(skill, numbers.unit, noun)}.", "answer")
        yield Paragraph(words.describe_spread_evidence(skill), "evidence")
        yield Paragraph(_SPREAD_NAMES[numbers.predicted.form], "evidence")
        yield from _build_spread_figure(numbers, skill)
    yield Paragraph(words.describe_variance_parts(numbers.evaluation), "finding")
    if numbers.members > 1 and numbers.evaluation.aleatoric is not None:
        yield Table(
            "Both parts, as the root of the mean variance",
            _tabulate_parts(numbers),
            note="Aleatoric is the noise that each member expects: more members do not take it "
            "away. Epistemic is what the members disagree on: more data would.",
            key="numeric_parts",
            narrow=True,
        )


def _build_spread_figure(numbers: EvaluatedNumbers, skill: SpreadSkill) -> View:
    """The error of examples with a like spread, over that spread."""
    title = f"Spread and error · {numbers.source}"
    yield Figures.single(
        Figure(
            label="",
            alt=figures.describe_spread_chart(skill, numbers.unit),
            explanation="Each point is an even share of the examples. Above the dashed line: "
            "further off than predicted.",
            draw=lambda palette: figures.plot_spread_skill(skill, numbers.unit, title, palette),
            key="numeric_spread",
            file="spread",
            title="Error by predicted spread",
            table=lambda: figures.tabulate_spread_skill(skill),
        )
    )


def _tabulate_parts(numbers: EvaluatedNumbers) -> pd.DataFrame:
    aleatoric, epistemic = numbers.evaluation.aleatoric or 0.0, numbers.evaluation.epistemic
    rows = [("aleatoric", aleatoric), ("epistemic", epistemic), ("both", aleatoric + epistemic)]
    return pd.DataFrame([{"part": name, "spread": format_significant(variance**0.5)} for name, variance in rows])
