"""The worst examples: where the ensemble is furthest off, and what each member predicts there."""

import numpy as np
import pandas as pd

from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.numeric.numeric_diagnosis import compute_target_scores
from ensemble.views.numeric import numeric_predicted as figures
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.parts import Choice, Figure, Figures, Paragraph, Table, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import formats
from ensemble.wording import numeric_predictions as words
from ensemble.wording.formats import format_significant

_MAX_EXAMPLES = 10
_MAX_MEMBER_COLUMNS = 16
_ORDERS = {"error": "Furthest off", "surprise": "Most surprising", "disagreement": "Most disputed"}
_ORDER_CHOICE = Choice(
    "worst",
    "Which examples",
    _ORDERS,
    "error",
    "Furthest off by the number; most surprising by the error over the predicted spread; most "
    "disputed where the members differ most.",
)


def build_numeric_worst(numbers: EvaluatedNumbers) -> View:
    """What share of the error a few examples make up, and those examples."""
    order = yield _ORDER_CHOICE
    errors = (numbers.targets - numbers.predicted.compute_mean()) ** 2
    count = min(_MAX_EXAMPLES, numbers.n)
    largest = float(np.sort(errors)[::-1][:count].sum())
    share = largest / float(errors.sum()) if errors.sum() > 0 else 0.0
    yield Paragraph(
        f"The {formats.format_count(count, 'example')} furthest off make up "
        f"{formats.format_percent(share, figures=2)} of the squared error.",
        "answer",
    )
    yield Paragraph(
        f"{formats.format_percent(count / numbers.n, figures=2)} of {formats.format_count(numbers.n, 'example')}.",
        "evidence",
    )
    if suspects := [numbers.example_names[n] for n in numbers.suspects]:
        yield Paragraph(words.describe_suspect_targets(suspects), "evidence")
    scores = _rank_examples(numbers, order)
    if scores is None:
        yield Paragraph("Nothing is known of it here: members give no spread, or there is one member.", "unavailable")
        return
    chosen = np.argsort(-scores, kind="stable")[:count]
    title = f"{_ORDERS[order]} · {numbers.source}"
    yield Figures.single(
        Figure(
            label="",
            alt=f"{_ORDERS[order]}: "
            + ", ".join(numbers.example_names[n] for n in chosen)
            + "; what each member predicts, less what is true",
            explanation="Each member’s number and its spread, less what is true; the ensemble is the bar.",
            draw=lambda palette: figures.plot_member_numbers(
                numbers.predicted,
                numbers.targets,
                chosen=chosen,
                names=numbers.example_names,
                member_names=numbers.member_names,
                unit=numbers.unit,
                title=title,
                palette=palette,
            ),
            key="numeric_worst",
            file="worst",
            title=f"{_ORDERS[order]} examples",
            table=lambda: figures.tabulate_member_numbers(
                numbers.predicted, numbers.targets, chosen, numbers.member_names
            ),
        )
    )
    yield Table(
        f"{_ORDERS[order]}: the numbers",
        tabulate_examples(numbers, chosen),
        note="Each member’s number, with its standard deviation where it gives one.",
        key=f"numeric_worst_{order}",
        from_outside=True,
    )


def _rank_examples(numbers: EvaluatedNumbers, order: str) -> np.ndarray | None:
    """(N,), large where an example comes first; None where that is not known."""
    error = np.abs(numbers.targets - numbers.predicted.compute_mean())
    if order == "error":
        return error
    if order == "disagreement":
        if numbers.members == 1:
            return None
        return np.asarray(numbers.predicted.compute_epistemic_variance())
    if numbers.predicted.compute_spread() is None:
        return None
    return np.abs(compute_target_scores(numbers.predicted, numbers.targets))


def tabulate_examples(numbers: EvaluatedNumbers, chosen: np.ndarray) -> pd.DataFrame:
    """A row an example: what is true, what is predicted, and by each of a few members."""
    predicted, mean = numbers.predicted, numbers.predicted.compute_mean()
    interval = numbers.main_interval
    rows = []
    for n in chosen:
        row = {
            "example": numbers.example_names[n],
            **({"suspect": "✗" if n in numbers.suspects else ""} if len(numbers.suspects) else {}),
            "true": format_significant(float(numbers.targets[n])),
            "predicted": format_significant(float(mean[n])),
        }
        if interval:
            low, high = (format_significant(float(end[n])) for end in interval[1])
            row[f"{formats.format_percent(interval[0], figures=2)} interval"] = f"{low} to {high}"
        for member, name in enumerate(numbers.member_names[:_MAX_MEMBER_COLUMNS]):
            text = format_significant(float(predicted.mean[member][n]))
            if isinstance(predicted, NormalMixture):
                text += f" ± {format_significant(float(predicted.variance[member][n] ** 0.5), 2)}"
            row[name if name not in row else f"{name} (member)"] = text
        rows.append(row)
    return pd.DataFrame(rows)


VIEW = RegisteredView(
    "worst",
    "Worst examples",
    "Examples with the largest errors",
    build_numeric_worst,
    place=70,
    page_break=False,
    numeric=True,
)
