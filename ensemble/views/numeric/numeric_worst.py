"""The worst examples: those with the largest error, and what each member predicts for them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_diagnosis import compute_target_scores
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble
from ensemble.analysis.numeric.point_ensemble import PointEnsemble
from ensemble.errors import EnsembleError
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette, member_color, member_opacity
from ensemble.runs.training_predictions import explain_missing_predictions, has_training_predictions
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.parts import Alternatives, Choice, Figure, Figures, Paragraph, Table, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import formats
from ensemble.wording import numeric_predictions as words
from ensemble.wording.escaping import escape_plotly_text
from ensemble.wording.formats import format_significant, pluralize_noun
from ensemble.wording.numeric_predictions import format_with_unit

if TYPE_CHECKING:
    import plotly.graph_objects as go

_MAX_EXAMPLES = 10
_MAX_MEMBER_COLUMNS = 16
_MAX_LETTERS = 24  # of an example's name on an axis
_ORDERS = {"error": "Furthest off", "surprise": "Most surprising", "disagreement": "Most disputed"}
_ORDER_CHOICE = Choice(
    "worst",
    "Which examples",
    _ORDERS,
    "error",
    "Furthest off by the number; most surprising by the error over the predicted spread; most "
    "disputed where the members differ most.",
)
_SPLIT_CHOICE = Choice(
    "examples",
    "Rows",
    {"test": "Test rows", "training": "Training rows"},
    "test",
    "Test rows are predicted by all members, training rows by those that left them out (folds).",
)


def build_numeric_worst(numbers: EvaluatedNumbers) -> View:
    """What share of the error a few examples make up, and those examples.

    A run with folds shows its training rows too, so that their targets can be checked.
    """
    order, run = (yield _ORDER_CHOICE), numbers.run
    if run and has_training_predictions(run):
        yield Alternatives(
            _SPLIT_CHOICE,
            lambda word: _build_training_rows(numbers, order) if word == "training" else _build_rows(numbers, order),
        )
        return
    yield from _build_rows(numbers, order)
    if run and run.settings:
        yield Paragraph(explain_missing_predictions(run), "missing")


def _build_training_rows(numbers: EvaluatedNumbers, order: str) -> View:
    try:
        rows = numbers.training_rows
    except EnsembleError as error:
        yield Paragraph(str(error), "unavailable")
        return
    yield from _build_rows(rows.numbers, order, rows.judges)


def _build_rows(numbers: EvaluatedNumbers, order: str, judges: str = "") -> View:
    """Show test examples, or training rows with the sentence on who judges them."""
    noun, kind = ("training row", "_training") if judges else ("example", "")
    errors = (numbers.targets - numbers.predicted.compute_mean()) ** 2
    count = min(_MAX_EXAMPLES, numbers.n)
    largest = float(np.sort(errors)[::-1][:count].sum())
    share = largest / float(errors.sum()) if errors.sum() > 0 else 0.0
    yield Paragraph(
        f"The {formats.format_count(count, noun)} furthest off make up "
        f"{formats.format_percent(share, figures=2)} of the squared error.",
        "answer",
    )
    part = f"{formats.format_percent(count / numbers.n, figures=2)} of {formats.format_count(numbers.n, noun)}."
    yield Paragraph(f"{part} {judges}".rstrip(), "evidence")
    if suspects := [numbers.example_names[n] for n in numbers.suspects]:
        yield Paragraph(words.describe_suspect_targets(suspects), "evidence")
    scores = _rank_examples(numbers, order)
    if scores is None:
        why = "only their average is kept" if judges else "members give no spread, or there is one member"
        yield Paragraph(f"This order is not available: {why}.", "unavailable")
        return
    ranked = np.argsort(-scores, kind="stable")
    chosen = ranked[:count]
    heading = f"{_ORDERS[order]}{' training rows' if judges else ''}"
    yield Figures.single(
        Figure(
            label="",
            alt=f"{heading}: "
            + ", ".join(numbers.example_names[n] for n in chosen)
            + "; what each member predicts, less what is true",
            explanation="Each member’s number and its spread, less what is true; the ensemble is the bar.",
            draw=lambda palette: plot_member_numbers(
                numbers.predicted,
                numbers.targets,
                chosen=chosen,
                names=numbers.example_names,
                member_names=numbers.member_names,
                unit=numbers.unit,
                title=f"{heading} · {numbers.source}",
                palette=palette,
            ),
            key=f"numeric_worst{kind}",
            file=f"worst{kind}",
            title=f"{_ORDERS[order]} {pluralize_noun(noun)}",
            table=lambda: tabulate_member_numbers(numbers.predicted, numbers.targets, chosen, numbers.member_names),
        )
    )
    yield Table(
        f"{heading}: the numbers",
        tabulate_examples(numbers, chosen),
        note="Each member’s number, with its standard deviation where it gives one. The error is the "
        "prediction minus the target.",
        key=f"numeric_worst{kind}_{order}",
        from_outside=True,
        numbers=lambda: _tabulate_errors(numbers, ranked),
        file=f"errors{kind}",
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
    predicted, interval, errors = numbers.predicted, numbers.main_interval, _tabulate_errors(numbers, chosen)
    shown = {"true": "target", "predicted": "predicted", "error": "error", "error / spread": "error_over_spread"}
    rows = []
    for place, n in enumerate(chosen):
        row = {
            "example": numbers.example_names[n],
            **({"suspect": "✗" if n in numbers.suspects else ""} if len(numbers.suspects) else {}),
            **{title: format_significant(errors[name][place]) for title, name in shown.items() if name in errors},
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


def _tabulate_errors(numbers: EvaluatedNumbers, chosen: NDArray[np.intp]) -> pd.DataFrame:
    """Return one row per chosen example: target, prediction and error, and the error over the spread."""
    predicted = numbers.predicted
    spread = None if isinstance(predicted, PointEnsemble) else predicted.compute_spread()
    columns = {"target": numbers.targets, "predicted": predicted.compute_mean()}
    columns["error"] = columns["predicted"] - columns["target"]
    if spread is not None:
        columns |= {"spread": spread, "error_over_spread": -compute_target_scores(predicted, numbers.targets)}
    names = [numbers.example_names[n] for n in chosen]
    return pd.DataFrame({"example": names, **{name: values[chosen] for name, values in columns.items()}})


def plot_member_numbers(
    ensemble: NumericEnsemble,
    targets: Doubles,
    chosen: NDArray[np.intp],
    names: Sequence[str],
    member_names: Sequence[str],
    unit: str,
    title: str,
    palette: Palette,
) -> "go.Figure":
    """Plot the error of every member's prediction for some examples, one row per example.

    Args:
      targets: (N,).
      chosen: (K,), the examples, the first on top.
      unit: the targets' unit; "" if unknown.
    """
    import plotly.graph_objects as go

    unit = escape_plotly_text(unit)
    member_names = [escape_plotly_text(name) for name in member_names]
    rows = np.arange(len(chosen))
    offsets = np.linspace(-0.28, 0.28, ensemble.members) if ensemble.members > 1 else np.zeros(1)
    chart = go.Figure()
    chart.add_vline(0, line={"color": MUTED_COLOR, "dash": "dash", "width": 1.5})
    many = ensemble.members > 7
    for member, name in enumerate(member_names):
        values = ensemble.mean[member][chosen] - targets[chosen]
        spread = np.sqrt(ensemble.variance[member][chosen]) if isinstance(ensemble, NormalMixture) else None
        error_x = {"error_x": {"array": spread, "thickness": 1, "width": 0}} if spread is not None else {}
        chart.add_scatter(
            x=values,
            y=rows + offsets[member],
            mode="markers",
            name=f"{ensemble.members} members" if many else name,
            legendgroup="members" if many else name,
            showlegend=member == 0 or not many,
            marker={"color": member_color(member, ensemble.members), "size": 6},
            opacity=member_opacity(ensemble.members),
            hoverinfo="text",
            hovertext=[
                f"{name}: {format_with_unit(ensemble.mean[member][n], unit)}"
                + (f" ± {formats.format_significant(spread[k])}" if spread is not None else "")
                for k, n in enumerate(chosen)
            ],
            **error_x,
        )
    mean = ensemble.compute_mean()
    chart.add_scatter(
        x=mean[chosen] - targets[chosen],
        y=rows,
        mode="markers",
        name="ensemble",
        marker={"color": palette.ink, "size": 12, "symbol": "line-ns-open", "line": {"width": 3}},
        hoverinfo="text",
        hovertext=[
            f"Ensemble: {format_with_unit(mean[n], unit)}, is {format_with_unit(targets[n], unit)}" for n in chosen
        ],
    )
    height = 140 + 46 * len(chosen)
    chart.update_layout(chart_style.build_chart_layout(title, height, palette))
    of_unit = f", {unit}" if unit else ""
    chart.update_xaxes(title=f"predicted less true{of_unit}", fixedrange=True)
    chart.update_yaxes(
        tickvals=rows,
        ticktext=[escape_plotly_text(names[n][:_MAX_LETTERS]) for n in chosen],
        range=[len(chosen) - 0.4, -0.6],
        fixedrange=True,
        automargin=True,
    )
    return chart


def tabulate_member_numbers(
    ensemble: NumericEnsemble, targets: Doubles, chosen: NDArray[np.intp], member_names: Sequence[str]
) -> pd.DataFrame:
    """Return one row per example and member; examples are numbered from 0."""
    return pd.DataFrame(
        [
            {
                "example": int(n),
                "member": name,
                "target": targets[n],
                "predicted": ensemble.mean[member][n],
                "spread": np.sqrt(ensemble.variance[member][n]) if isinstance(ensemble, NormalMixture) else None,
            }
            for n in chosen
            for member, name in enumerate(member_names)
        ]
    )


VIEW = RegisteredView(
    "worst",
    "Worst examples",
    "Examples with the largest errors, and training targets to check",
    build_numeric_worst,
    place=70,
    page_break=False,
    numeric=True,
)
