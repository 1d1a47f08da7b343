"""Agreement: how different the members are, what that gains, and the images that split them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.members.diversity import (
    disagreement_matrix,
    double_fault,
    mean_kl_divergence,
    oracle_accuracy,
    q_statistic,
)
from ensemble.analysis.members.swing_votes import find_correct_minorities, find_swing_votes
from ensemble.analysis.predictions import MAX_SHOWN_MEMBERS, EnsemblePredictions, filter_examples, sort_examples
from ensemble.analysis.quality.averaging import Ints
from ensemble.figures import chart_style
from ensemble.figures.palette import Palette
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.member_faults import repeat_member_faults
from ensemble.views.parts import Choice, Figure, Figures, Images, Paragraph, View
from ensemble.views.registry import BETTER, RegisteredView
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

if TYPE_CHECKING:
    import plotly.graph_objects as go


Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class _PairwiseMeasure:
    """A measure of pairs of members.

    Attributes:
      label: its name on the control.
      title: its name over the picture.
      help: what it is, in a line.
      unit: what its numbers are.
      compute: the predictions to its (M, M).
      is_share: whether it is a share of the images, to be said in images too.
      most_phrase: what the pair with the largest value is said to do.
      least_phrase: the pair with the smallest.
      blank_diagonal: whether a member with itself says nothing.
    """

    label: str
    title: str
    help: str
    unit: str
    compute: Callable[[EnsemblePredictions], Matrix]
    is_share: bool
    most_phrase: str
    least_phrase: str
    blank_diagonal: bool = True

    def format_cell(self, value: float) -> str:
        """A value as it stands in a cell; what is not known is empty."""
        if not np.isfinite(value):
            return ""
        return formats.format_percent(value, figures=2) if self.is_share else f"{value:.2g}"

    def describe_cell(self, row: int, column: int, value: float, n: int, noun: str) -> str:
        if not np.isfinite(value):
            return f"Members {row + 1} and {column + 1}: not defined, for want of mistakes"
        if self.is_share:
            counted = f"{formats.format_count(round(value * n), noun)} ({self.format_cell(value)})"
            who = f"Member {row + 1}" if row == column else f"Members {row + 1} and {column + 1}"
            verb = "is wrong on" if row == column else self.pair_verb
            return f"{who} {verb} {counted}"
        return f"Member {row + 1} and member {column + 1}: {formats.format_significant(value)}{self.unit_suffix}"

    @property
    def pair_verb(self) -> str:
        return "are both wrong on" if "fault" in self.title else "say different things of"

    @property
    def unit_suffix(self) -> str:
        return f" {self.unit}" if self.unit == "nats" else ""

    def explain_chart(self, values: Matrix, n: int, noun: str) -> str:
        """The sentence over the picture: which pairs are farthest apart and nearest."""
        apart = np.where(np.eye(len(values), dtype=bool), np.nan, values)
        if not np.isfinite(apart).any():
            return "No pair makes mistakes enough to say whether they make the same."
        high = np.unravel_index(np.nanargmax(apart), apart.shape)
        low = np.unravel_index(np.nanargmin(apart), apart.shape)
        if len(values) == 2 or np.nanmax(apart) == np.nanmin(apart):
            return f"The members {self.most_phrase}: {self.format_in_sentence(float(np.nanmax(apart)), n, noun)}."
        first, second = sorted((int(high[0]) + 1, int(high[1]) + 1))
        third, fourth = sorted((int(low[0]) + 1, int(low[1]) + 1))
        return (
            f"Members {first} and {second} {self.most_phrase} most "
            f"({self.format_in_sentence(float(apart[high]), n, noun)}), "
            f"{third} and {fourth} {self.least_phrase} ({self.format_in_sentence(float(apart[low]), n, noun)})."
        )

    def format_in_sentence(self, value: float, n: int, noun: str) -> str:
        """A value within a sentence: in images where it is a share of them."""
        counted = formats.format_count(round(value * n), noun)
        return counted if self.is_share else f"{formats.format_significant(value)}{self.unit_suffix}"


MEASURES = {
    "disagreement": _PairwiseMeasure(
        label="Disagreement",
        title="Disagreement",
        help="Disagreement: the share of the test images on which two members give different answers.",
        unit="share of the images",
        compute=lambda predictions: disagreement_matrix(predictions.votes),
        is_share=True,
        most_phrase="differ",
        least_phrase="least",
    ),
    "kl": _PairwiseMeasure(
        label="KL",
        title="Mean KL divergence",
        help="KL, the mean Kullback–Leibler divergence: how far the probabilities of the member in the "
        "column are from those of the member in the row, in nats; 0 is the same.",
        unit="nats",
        compute=lambda predictions: mean_kl_divergence(predictions.probabilities),
        is_share=False,
        most_phrase="differ",
        least_phrase="least",
    ),
    "q": _PairwiseMeasure(
        label="Q-statistic",
        title="Q-statistic",
        help="Q-statistic: 1 if members are wrong on the same images, 0 if independently, −1 if never together.",
        unit="Q",
        compute=lambda predictions: q_statistic(predictions.votes == predictions.labels),
        is_share=False,
        most_phrase="err together",
        least_phrase="least",
    ),
    "double_fault": _PairwiseMeasure(
        label="Double fault",
        title="Double fault",
        help="Double fault: the share that both get wrong, which averaging cannot correct; on the "
        "diagonal a member's own mistakes.",
        unit="share of the images",
        compute=lambda predictions: double_fault(predictions.votes == predictions.labels),
        is_share=True,
        most_phrase="are both wrong",
        least_phrase="least",
        blank_diagonal=False,
    ),
}


def compute_pairwise_matrix(predictions: EnsemblePredictions, key: str) -> Matrix:
    """(M, M) of the measure of that key."""
    return MEASURES[key].compute(predictions)


def _describe_oracle_accuracy(predictions: EnsemblePredictions, noun: str) -> str:
    """What the members know together, were one to choose rightly among them; in Markdown."""
    n = len(predictions.labels)
    share = oracle_accuracy(predictions.votes, predictions.labels)
    more = round((share - predictions.right.mean()) * n)
    return (
        f"Some member is right on **{formats.format_percent(share, n)}** of the "
        f"{pluralize_noun(noun)} ({formats.format_image_difference(more, noun)}): no choice among "
        "their answers reaches more."
    )


_HISTOGRAM_BINS = 40
_MAX_LABELED_MEMBERS = 10  # up to so many members a cell has its figure written in it


def plot_pairwise_heatmap(
    measure: _PairwiseMeasure, values: Matrix, n: int, noun: str, title: str, palette: Palette
) -> "go.Figure":
    """The matrix as a heat map, member 1 on top and on the left.

    Args:
      values: (M, M), of every pair of members.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    M = len(values)
    numbers = [str(m + 1) for m in range(M)]
    hovers = [[measure.describe_cell(r, c, values[r, c], n, noun) for c in range(M)] for r in range(M)]
    cells = values.copy()
    if measure.blank_diagonal:
        np.fill_diagonal(cells, np.nan)
    chart = go.Figure(
        go.Heatmap(
            z=cells,
            x=numbers,
            y=numbers,
            hovertext=hovers,
            hoverinfo="text",
            xgap=1,
            ygap=1,
            colorscale=palette.heatmap_scale,
            showscale=M > _MAX_LABELED_MEMBERS,
            text=[[measure.format_cell(value) for value in row] for row in cells]
            if M <= _MAX_LABELED_MEMBERS
            else None,
            texttemplate="%{text}" if M <= _MAX_LABELED_MEMBERS else None,
            hoverongaps=False,
            colorbar={"title": {"text": measure.unit, "side": "right"}, "thickness": 12},
        )
    )
    chart.update_layout(chart_style.build_chart_layout(title, 420, palette))
    # Numbers of members are short: to measure them, Plotly would draw the matrix twice.
    chart.update_layout(margin_b=50, margin_l=56)
    axis = {
        "title": "member",
        "type": "category",
        "showgrid": False,
        "fixedrange": True,
        "constrain": "domain",
        "automargin": False,
    }
    chart.update_xaxes(axis)
    chart.update_yaxes(axis, autorange="reversed", scaleanchor="x")
    return chart


def _select_pair_values(values: Matrix) -> NDArray[np.float64]:
    """The known values of all pairs (M, M): each pair once, or in both orders if they differ."""
    symmetric = np.array_equal(values, values.T, equal_nan=True)
    pairs = values[np.triu_indices(len(values), 1)] if symmetric else values[~np.eye(len(values), dtype=bool)]
    return pairs[np.isfinite(pairs)]


def _plot_pair_histogram(
    measure: _PairwiseMeasure, pairs: NDArray[np.float64], title: str, palette: Palette
) -> "go.Figure":
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    frame = _tabulate_pair_histogram(pairs)
    hovers = [
        f"{row.pairs:,} pairs from {formats.format_significant(row.above)} to {formats.format_significant(row.up_to)}"
        for row in frame.itertuples()
    ]
    middle = (frame["above"] + frame["up_to"]) / 2
    chart = go.Figure(go.Bar(x=middle, y=frame["pairs"], hovertext=hovers, hoverinfo="text", name="pairs"))
    chart.update_traces(marker_color=palette.primary)
    chart.update_layout(chart_style.build_chart_layout(title, 420, palette, showlegend=False, bargap=0.05))
    chart.update_xaxes(title=f"{measure.title.lower()} ({measure.unit})", fixedrange=True)
    chart.update_yaxes(title="pairs of members", fixedrange=True, automargin=True)
    return chart


def _tabulate_pair_histogram(pairs: NDArray[np.float64]) -> pd.DataFrame:
    count, edges = np.histogram(pairs, bins=_HISTOGRAM_BINS)
    return pd.DataFrame({"above": edges[:-1], "up_to": edges[1:], "pairs": count})


def _tabulate_pairwise_values(values: Matrix) -> pd.DataFrame:
    names = [f"member {m + 1}" for m in range(len(values))]
    frame = pd.DataFrame(values, columns=names)
    frame.insert(0, "member", names)
    return frame


_MEASURE_CHOICE = Choice(
    "measure",
    "Measure",
    {key: measure.label for key, measure in MEASURES.items()},
    "disagreement",
    " ".join(measure.help for measure in MEASURES.values()),
)
_ORACLE_GLOSS = "Oracle accuracy: the accuracy if one always knew which member to believe."
_ANY_MEMBER = "0"  # whoever of the members it is


def build_agreement(epoch: EvaluatedEpoch) -> View:
    if epoch.members == 1:
        how = "train" if epoch.run.training_config else "import"
        yield Paragraph(
            f"With one member there is nobody to agree or disagree with: {how} two or more to see where they differ.",
            "unavailable",
            icon=":material/person:",
        )
        return
    oracle = epoch.measure(_describe_oracle_accuracy, epoch.noun)
    yield Paragraph(oracle, "finding", markdown=True, help=_ORACLE_GLOSS)
    yield from repeat_member_faults(epoch)
    yield Figures(_MEASURE_CHOICE, lambda key: _build_pairwise_figure(epoch, key))
    yield from _divided_images_view(epoch)


def _build_pairwise_figure(epoch: EvaluatedEpoch, key: str) -> Figure:
    measure, values = MEASURES[key], epoch.measure(compute_pairwise_matrix, key)
    title = f"{measure.title} · {epoch.source}"
    many = epoch.members > MAX_SHOWN_MEMBERS
    pairs = _select_pair_values(values) if many else values
    return Figure(
        label=measure.label,
        alt=f"{measure.title} of every pair of {epoch.members} members",
        explanation=measure.explain_chart(values, epoch.n, epoch.noun)
        + (f" With so many members the picture is a histogram of all {len(pairs):,} pairs." if many else ""),
        draw=lambda palette: (
            _plot_pair_histogram(measure, pairs, title, palette)
            if many
            else plot_pairwise_heatmap(measure, values, n=epoch.n, noun=epoch.noun, title=title, palette=palette)
        ),
        key="inspect_pairs",
        file=key.replace("_", "-"),
        title=measure.title,
        table=lambda: _tabulate_pair_histogram(pairs) if many else _tabulate_pairwise_values(values),
        drawn_from=(key,),
    )


def _divided_images_view(epoch: EvaluatedEpoch) -> View:
    predictions, noun = epoch.predictions, epoch.noun
    split = sort_examples(predictions, filter_examples(predictions, "split"), "split")
    swung, minority = epoch.measure(find_swing_votes), epoch.measure(find_correct_minorities)
    which = yield Choice(
        "list",
        f"{noun.capitalize()}s",
        {
            "split": f"Most divided {len(split):,}",
            "swing": f"One vote decides {int(swung.any(axis=0).sum()):,}",
            "minority": f"Minority was right {len(minority):,}",
        },
        "split",
    )
    empty = f"There is no such {noun}."
    if which == "split":
        caption = (
            f"The {pluralize_noun(noun)} whose votes are most divided come first. Votes against "
            "the ensemble are underlined."
        )
        yield Images(split, "inspect_split", caption, empty=empty)
    elif which == "swing":
        voter = yield _offer_voters(epoch, swung)
        numbers, caption = _find_swing_images(epoch, swung, int(voter))
        yield Images(numbers, "inspect_swing", caption, empty=empty)
    else:
        caption = (
            f"The ensemble is wrong on these, and at least one member is right: {len(minority):,} "
            f"of its {int((~predictions.right).sum()):,} mistakes."
        )
        numbers = sort_examples(predictions, minority, "split")
        yield Images(numbers, "inspect_minority", caption, empty=empty)


def _offer_voters(epoch: EvaluatedEpoch, swung: np.ndarray) -> Choice:
    """Any member, or one, from 1: whose leaving changes the verdict."""
    counts = [int(swung.any(axis=0).sum()), *(int(verdicts.sum()) for verdicts in swung)]
    return Choice(
        "voter",
        "Whose vote decides",
        {str(m): f"{f'Member {m}' if m else 'Any member'} · {counts[m]:,}" for m in range(epoch.members + 1)},
        _ANY_MEMBER,
        form="list",
        width=220,
        key="inspect_voter",
    )


def _find_swing_images(epoch: EvaluatedEpoch, swung: np.ndarray, voter: int) -> tuple[Ints, str]:
    """The images whose verdict hangs on the voter, or on anybody; and whether for the better."""
    predictions = epoch.predictions
    numbers = np.flatnonzero(swung[voter - 1] if voter else swung.any(axis=0))
    right = int(predictions.right[numbers].sum())
    who = f"member {voter}" if voter else "one of the members"
    caption = (
        f"Without {who} the ensemble would answer {formats.format_count(len(numbers), epoch.noun)} "
        f"differently. With all members, {right:,} of them are right."
    )
    return sort_examples(predictions, numbers, "unsure"), caption


VIEW = RegisteredView(
    "agreement",
    "Agreement",
    "How much the members differ, and what averaging gains",
    build_agreement,
    place=40,
    question=BETTER,
    part_label="Pairs and votes",
    needs_several=True,
)
