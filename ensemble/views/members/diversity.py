"""Diversity: the ensemble's loss as the average member's loss minus the diversity of the members."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.members.diversity import NllDecomposition, nll_decomposition
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.proper_scores import MIN_PROBABILITY
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette, build_band_color
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Figure, Figures, Paragraph, Table, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import formats
from ensemble.wording.run_names import format_run_name

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_MARKED_EPOCHS = 24  # epochs, up to which each has a mark of its own
_MAX_TICKS = 8
_BLOCK_SIZE = 1 << 20  # numbers that are worked on at once


@dataclass(frozen=True)
class _LossDecomposition:
    """One loss of an ensemble in two parts: ensemble = average member − diversity.

    Attributes:
      loss: its name, with the rule that combines the members.
      average_member: the mean loss of the members.
      diversity: the difference, at least 0.
      ensemble: the loss of the combined members.
      depends_on_labels: whether the diversity depends on the labels; else it can be measured without them.
    """

    loss: str
    average_member: float
    diversity: float
    ensemble: float
    depends_on_labels: bool


def decompose_losses(predictions: EnsemblePredictions, nll: NllDecomposition | None = None) -> list[_LossDecomposition]:
    """Decompose the squared error and two NLLs, each exactly.

    With probabilities p_m of M members, p̄ their mean and y the label:

    - Squared error of p̄: diversity = 1/M Σ_m |p_m − p̄|², without labels (Krogh and Vedelsby 1995).
    - NLL of the normalized geometric mean q ∝ Π_m p_m^(1/M): diversity = 1/M Σ_m KL(q ‖ p_m)
      = −ln Σ_c Π_m p_m(c)^(1/M), without labels (Heskes 1998).
    - NLL of p̄: diversity = ln p̄(y) − 1/M Σ_m ln p_m(y), which depends on the label.

    Probabilities below `MIN_PROBABILITY` count as that in logarithms. The parts of both NLLs are in nats.

    Source: D. Wood, T. Mu, A. M. Webb, H. W. J. Reeve, M. Luján and G. Brown, "A unified theory of diversity in
    ensemble learning", JMLR 24 (2023), 1-49.
    """
    M, N, C = predictions.probabilities.shape
    squared, spread, saved = 0.0, 0.0, 0.0
    for rows in iterate_blocks(N, M * C, _BLOCK_SIZE):
        each = predictions.probabilities[:, rows].astype(np.float64)
        mean, labels = each.mean(axis=0), predictions.labels[rows]
        spread += float(((each - mean) ** 2).sum())
        squared += float(((each - np.eye(C)[labels]) ** 2).sum())
        saved -= float(np.log(np.exp(np.log(np.maximum(each, MIN_PROBABILITY)).mean(axis=0)).sum(axis=-1)).sum())
    squared, spread, saved = squared / (M * N), spread / (M * N), saved / N
    nll = nll or nll_decomposition(predictions.probabilities, predictions.labels)
    member = nll.mean_member_nll
    return [
        _LossDecomposition("Squared error (Brier), averaged probabilities", squared, spread, squared - spread, False),
        _LossDecomposition("NLL, normalized geometric mean", member, saved, member - saved, False),
        _LossDecomposition("NLL, averaged probabilities", member, nll.diversity, nll.ensemble_nll, True),
    ]


def plot_loss_decomposition(
    decomposition: dict[int, NllDecomposition], current_epoch: int, title: str, palette: Palette
) -> "go.Figure":
    """Two lines and the band between them; a dotted line where the shown epoch is."""
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    epochs = list(decomposition)
    mean = [parts.mean_member_nll for parts in decomposition.values()]
    whole = [parts.ensemble_nll for parts in decomposition.values()]
    mode = "lines+markers" if len(decomposition) <= MAX_MARKED_EPOCHS else "lines"
    hovers = [
        f"Epoch {epoch}: diversity {formats.format_significant(parts.diversity)} nats, "
        f"{formats.format_percent(parts.diversity / (parts.mean_member_nll or 1), places=0)} "
        "of the average member's NLL"
        for epoch, parts in decomposition.items()
    ]
    each = [
        f"Epoch {epoch}: NLL of the average member {formats.format_significant(nll)} nats"
        for epoch, nll in zip(epochs, mean, strict=True)
    ]
    line: dict[str, Any] = {"x": epochs, "mode": mode, "hoverinfo": "text"}
    chart = go.Figure(
        [
            go.Scatter(y=mean, name="mean member", line={"color": MUTED_COLOR, "width": 1.5}, hovertext=each, **line),
            go.Scatter(
                y=whole,
                name="ensemble",
                line=chart_style.style_ensemble_line(palette),
                fill="tonexty",
                fillcolor=build_band_color(),
                hovertext=hovers,
                **line,
            ),
        ]
    )
    chart.update_layout(**chart_style.build_chart_layout(title, 420, palette))
    chart.add_vline(current_epoch, line={"color": MUTED_COLOR, "width": 1, "dash": "dot"})
    step = -(-(epochs[-1] - epochs[0]) // _MAX_TICKS) or 1
    chart.update_xaxes(title="epochs", fixedrange=True, tick0=epochs[0], dtick=step)
    chart.update_yaxes(title="NLL (nats)", fixedrange=True)
    return chart


def build_diversity(epoch: EvaluatedEpoch) -> View:
    if epoch.members == 1:
        yield Paragraph("Diversity needs at least two members.", "unavailable", icon=":material/person:")
        return
    parts = epoch.decompose_losses()
    losses = epoch.measure(decompose_losses, parts[epoch.epoch])
    nll = losses[-1]
    share = formats.format_percent(nll.diversity / nll.average_member if nll.average_member else 0.0, places=0)
    yield Paragraph(f"Diversity lowers the NLL by {share} of the average member's.", "answer")
    yield Paragraph(
        f"Average member {formats.format_significant(nll.average_member)} nats − diversity "
        f"{formats.format_significant(nll.diversity)} = ensemble {formats.format_significant(nll.ensemble)}, on "
        f"{formats.format_count(epoch.n, f'test {epoch.noun}')}.",
        "evidence",
    )
    yield from _decomposition_view(epoch, parts)
    yield Table(
        "Loss of the ensemble = average member − diversity",
        pd.DataFrame(
            {
                "loss": [each.loss for each in losses],
                "average member": [formats.format_significant(each.average_member) for each in losses],
                "diversity": [formats.format_significant(each.diversity) for each in losses],
                "ensemble": [formats.format_significant(each.ensemble) for each in losses],
                "diversity depends on labels": ["yes" if each.depends_on_labels else "no" for each in losses],
            }
        ),
        note="All three are exact. For squared error and the normalized geometric mean, diversity is measured without "
        "labels. For averaged probabilities, which this ensemble uses, it depends on them: members that differ only "
        "in classes that are not the label add nothing (Wood and others 2023).",
        key="loss_decompositions",
    )


def _decomposition_view(epoch: EvaluatedEpoch, parts: dict[int, NllDecomposition]) -> View:
    title = f"NLL: what diversity saves · {format_run_name(epoch.run)}"
    yield Figures.single(
        Figure(
            label="",
            alt="NLL of the average member and of the ensemble over the epochs; between them, diversity",
            explanation="The band between the two lines is diversity, epoch by epoch.",
            draw=lambda palette: plot_loss_decomposition(parts, epoch.epoch, title, palette),
            key="inspect_decomposition",
            file="decomposition",
            title="The NLL's parts over the epochs",
            table=lambda: pd.DataFrame([{"epoch": kept, **vars(losses)} for kept, losses in parts.items()]),
            of_epoch=False,
            drawn_from=(*parts.items(),),
        )
    )


VIEW = RegisteredView(
    "diversity",
    "Diversity",
    "The ensemble's loss as the average member's loss minus diversity",
    build_diversity,
    place=45,
    within="agreement",
    needs_several=True,
)
