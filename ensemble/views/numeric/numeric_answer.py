"""The answer: how far off the ensemble is, and what it saves against a member; all figures."""

import pandas as pd

from ensemble.analysis.numeric.numeric_quality import NumericQuality
from ensemble.errors import EnsembleError
from ensemble.runs.validation_predictions import are_members_chosen
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.parts import Paragraph, Table, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import formats
from ensemble.wording import numeric_predictions as words
from ensemble.wording.formats import format_significant
from ensemble.wording.verdicts import selection_basis
from ensemble.wording.verdicts.ensemble_gain import describe_folds

_FIGURES_NOTE = (
    "RMSE, MAE, CRPS and spread are in the targets’ unit; R² is 1 where all is right and 0 where "
    "it is no better than the mean. NLL and CRPS judge the whole prediction, its spread included; "
    "lower is better. The NLL of other units is another by a constant."
)


def build_numeric_answer(numbers: EvaluatedNumbers) -> View:
    yield from build_numeric_headline(numbers)
    yield from build_numeric_figures(numbers)


def build_numeric_headline(numbers: EvaluatedNumbers) -> View:
    evaluation = numbers.evaluation
    headline = words.describe_numeric_headline(evaluation, numbers.ratio, numbers.unit)
    yield Paragraph(f"{headline}.", "answer")
    yield Paragraph(words.describe_numeric_figures(evaluation, numbers.unit), "evidence")
    if coverage := evaluation.main_coverage:
        clause = words.describe_coverage(coverage)
        yield Paragraph(f"{clause[0].upper()}{clause[1:]}.", "evidence")
    if numbers.run and are_members_chosen(numbers.run):
        yield Paragraph(selection_basis.CHOSEN_ON_ROWS_SENTENCE, "evidence")
    if evaluation.form == "points":
        yield Paragraph(words.NO_SPREAD_SENTENCE, "evidence")
    yield Paragraph(
        f"Intervals are for these trained members and new examples, from "
        f"{formats.format_count(numbers.n, 'example')}. Other training seeds would differ too.",
        "evidence",
    )
    if numbers.groups is not None:
        yield Paragraph(words.describe_groups(int(numbers.groups.max()) + 1, numbers.n), "evidence")
    settings = numbers.run.settings if numbers.run else None
    if settings is not None and settings.folds:
        yield Paragraph(describe_folds(settings.folds, "row"), "evidence")
        yield Paragraph(_describe_cross_validation(numbers), "evidence")


def _describe_cross_validation(numbers: EvaluatedNumbers) -> str:
    """Describe the cross-validated figures of a run with folds, or why there are none."""
    try:
        rows = numbers.training_rows
    except EnsembleError as error:
        return str(error)
    return f"{words.describe_cross_validation(rows.rmse, rows.nll, rows.numbers.n, numbers.unit)} {rows.judges}"


def build_numeric_figures(numbers: EvaluatedNumbers) -> View:
    if numbers.evaluation.gains:
        rows = [
            {
                "loss": words.METRIC_NAMES[gain.metric],
                "saved": format_significant(gain.gain),
                "from": format_significant(gain.low),
                "to": format_significant(gain.high),
            }
            for gain in numbers.evaluation.gains
        ]
        yield Table(
            "What the ensemble saves against a member drawn at random",
            pd.DataFrame(rows),
            note="Paired differences, example by example, with 95 % intervals. By Jensen’s "
            "inequality the ensemble never loses.",
            key="numeric_gains",
            narrow=True,
        )
    yield Table(
        f"Figures on {formats.format_count(numbers.n, 'test example')}",
        _tabulate_quality(numbers),
        note=_FIGURES_NOTE,
        key="numeric_figures",
        from_outside=True,
    )


def _tabulate_quality(numbers: EvaluatedNumbers) -> pd.DataFrame:
    evaluation = numbers.evaluation
    rows = [("ensemble", evaluation.ensemble)]
    if numbers.members > 1:
        order = sorted(range(numbers.members), key=lambda m: evaluation.members[m].rmse)
        for what, member in (("best", order[0]), ("worst", order[-1])):
            name = numbers.member_names[member]
            rows.append((f"{what} member: {name}", evaluation.members[member]))
    return pd.DataFrame([{"who": who, **format_quality(quality)} for who, quality in rows])


def format_quality(quality: NumericQuality) -> dict[str, str]:
    columns = {
        "RMSE": quality.rmse,
        "MAE": quality.mae,
        "R²": quality.r2,
        "NLL": quality.nll,
        "pinball": quality.pinball,
        "CRPS": quality.crps,
        "spread": quality.sharpness,
    }
    return {name: format_significant(value) for name, value in columns.items() if value is not None}


VIEW = RegisteredView(
    "answer",
    "Result",
    "Errors and scores of the ensemble and of its members",
    build_numeric_answer,
    place=10,
    page_break=False,
    numeric=True,
)
