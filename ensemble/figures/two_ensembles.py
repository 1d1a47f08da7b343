"""Two ensembles on one mark: their averaged probabilities as bars beside each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.figures import chart_style
from ensemble.figures import probability_bars as figures_bars
from ensemble.figures.mark_probabilities import tabulate_mark_probabilities as one_table
from ensemble.figures.palette import Palette
from ensemble.wording import escaping, formats
from ensemble.wording import marks as marks_words

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ensemble.recognition.classifier import Digit

ROW_HEIGHT = 34  # pixels


@dataclass(frozen=True, eq=False)
class EnsembleAnswer:
    """One of the two.

    Attributes:
      digit: what it says of the mark.
      name: its run and epoch.
    """

    digit: "Digit"
    name: str


def plot_two_ensembles(
    own_answer: EnsembleAnswer, other_answer: EnsembleAnswer, names: Sequence[str], title: str, palette: Palette
) -> "go.Figure":
    """The chart: a row for each class, the shown run in ink and the other in the accent below it.

    Args:
      title: what stands over it; it may hold the name of a file.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    kept = _select_jointly_likeliest(own_answer, other_answer)
    names = [escaping.escape_plotly_text(names[c]) for c in kept]
    sides = ((own_answer, palette.ink), (other_answer, palette.primary))
    chart = go.Figure([go.Bar(build_ensemble_bars(answer, names, kept, color)) for answer, color in sides])
    chart.update_layout(**chart_style.build_chart_layout(title, ROW_HEIGHT * len(names) + 170, palette))
    chart.update_layout(
        barmode="group", bargap=0.25, bargroupgap=0.05, margin={"r": 24, "b": 100}, legend={"traceorder": "normal"}
    )
    chart.update_xaxes(
        range=[0, 1],
        title="averaged probability",
        fixedrange=True,
        **chart_style.build_percent_ticks(figures_bars.SHARE_TICKS),
    )
    labels = {answer.digit.label for answer in (own_answer, other_answer) if not answer.digit.rejected}
    chart.update_yaxes(
        tickvals=list(range(len(names))),
        fixedrange=True,
        showgrid=False,
        zeroline=False,
        ticktext=[f"<b>{name}</b> " if c in labels else f"{name} " for c, name in zip(kept, names, strict=True)],
        autorange="reversed",
        automargin=True,
    )
    return chart


def _select_jointly_likeliest(own_answer: EnsembleAnswer, other_answer: EnsembleAnswer) -> list[int]:
    """The classes that have a row: all in their order, or those likeliest to both together."""
    both = np.asarray(own_answer.digit.probabilities) + np.asarray(other_answer.digit.probabilities)
    if len(both) <= figures_bars.MAX_CLASSES:
        return list(range(len(both)))
    order = np.argsort(-both, kind="stable")[: figures_bars.MAX_CLASSES]
    return [int(class_number) for class_number in order]


def build_ensemble_bars(side: EnsembleAnswer, names: Sequence[str], kept: Sequence[int], color: str) -> dict[str, Any]:
    """One side's bars; faint where it rejects the mark."""
    probabilities = np.asarray(side.digit.probabilities)[list(kept)]
    hover = [
        f"{escaping.escape_plotly_text(side.name)}: {name} {formats.format_probability(float(p))}"
        for name, p in zip(names, probabilities, strict=True)
    ]
    return {
        "x": probabilities,
        "y": list(range(len(names))),
        "orientation": "h",
        "name": escaping.escape_plotly_text(side.name),
        "hovertext": hover,
        "hoverinfo": "text",
        "marker": {"color": color, "opacity": 0.35 if side.digit.rejected else 1.0},
    }


def tabulate_two_answers(
    own_answer: EnsembleAnswer, other_answer: EnsembleAnswer, names: Sequence[str]
) -> pd.DataFrame:
    """The table on the screen: what each says, how surely, how united, and its OOD score."""
    return pd.DataFrame([format_answer_row(answer, names) for answer in (own_answer, other_answer)])


def format_answer_row(side: EnsembleAnswer, names: Sequence[str]) -> dict[str, str]:
    digit = side.digit
    return {
        "run": side.name,
        "says": "rejects" if digit.rejected else names[digit.label],
        "confidence": formats.format_probability(float(digit.probabilities[digit.label])),
        "votes": marks_words.format_mark_votes(digit, names),
        "disagreement": marks_words.format_mark_disagreement(digit).removeprefix("Disagreement: ") or "–",
        "score": formats.format_significant(float(digit.score)),
        "threshold": formats.format_significant(float(digit.threshold)),
    }


def describe_two_ensembles_chart(own_answer: EnsembleAnswer, other_answer: EnsembleAnswer, names: Sequence[str]) -> str:
    text = "; ".join(
        f"{answer.name}: {marks_words.format_mark_verdict(answer.digit, names)}"
        for answer in (own_answer, other_answer)
    )
    return f"Averaged probabilities of two ensembles. {text}"


def tabulate_two_ensembles(
    own_answer: EnsembleAnswer, other_answer: EnsembleAnswer, names: Sequence[str]
) -> pd.DataFrame:
    frames = [one_table(each_answer.digit, names) for each_answer in (own_answer, other_answer)]
    for frame, answer in zip(frames, (own_answer, other_answer), strict=True):
        frame.insert(0, "run", answer.name)
    return pd.concat(frames, ignore_index=True)
