"""Histograms of entropy: a dataset's own images against out-of-distribution ones."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.figures.inspect.shift import build_panel_layout
from ensemble.figures.palette import MUTED_COLOR, Palette, parse_hex_color
from ensemble.wording import escaping, formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

_BINS = 40
OOD_NOTES = (
    "AUROC: how often an out-of-distribution (OOD) image scores higher than a known one; 0.5 "
    "is a guess, 1 is always. FPR at 95 %: the share of OOD images that pass where 95 % of the "
    "known ones do; that limit is set on the test images themselves. Mutual information: what "
    "the members disagree about; one alone has none."
)
Scores = dict[str, NDArray[np.float32]]


def plot_entropy_histograms(
    known: Scores, unknown: Scores, names: tuple[str, str], title: str, palette: Palette, classes: int = 10
) -> "go.Figure":
    """Entropies of known and of out-of-distribution (OOD) images, of one member and the ensemble."""
    from plotly.subplots import make_subplots  # here, for it takes a while to import

    alone = len(known["member_entropy"]) == 1
    called = [escaping.escape_plotly_text(name) for name in names]
    panels = ["the one member"] if alone else ["members, pooled", "ensemble"]
    chart = make_subplots(1, len(panels), subplot_titles=panels, shared_yaxes=True)
    for column, score in enumerate(("member_entropy", "entropy")[: len(panels)], 1):
        for place, (name, image_scores) in enumerate(zip(called, (known, unknown), strict=True)):
            line = _build_entropy_histogram(image_scores[score], name, place, palette, classes, first=column == 1)
            chart.add_scatter(**line, row=1, col=column)
        chart.update_xaxes(
            title="entropy (nats)", fixedrange=True, range=[0, compute_max_entropy(classes)], row=1, col=column
        )
    chart.update_layout(**build_panel_layout(title, 350, palette))
    chart.update_yaxes(title="share of the images", ticksuffix=" %", rangemode="tozero", fixedrange=True, col=1)
    chart.update_annotations(font_size=13)
    return chart


def compute_max_entropy(classes: int = 10) -> float:
    """The highest entropy that there is of so many classes: ln C."""
    return float(np.log(classes))


def _build_entropy_histogram(
    values: NDArray[np.float32], name: str, place: int, palette: Palette, classes: int, *, first: bool
) -> dict[str, Any]:
    """A histogram as a filled step line: `place` 0 are the known, dotted; 1 the OOD images."""
    edges = np.linspace(0, compute_max_entropy(classes), _BINS + 1)
    counts, _ = np.histogram(np.clip(values, 0, compute_max_entropy(classes)), edges)
    shares = counts / max(1, values.size)
    color = (MUTED_COLOR, palette.primary)[place]
    hover = [
        f"{formats.format_percent(share, 500)} of {name} have {low:.2f} to {high:.2f} nats"
        for share, low, high in zip(shares, edges[:-1], edges[1:], strict=True)
    ]
    return {
        "x": (edges[:-1] + edges[1:]) / 2,
        "y": 100 * shares,
        "mode": "lines",
        "name": name,
        "line": {"shape": "hvh", "color": color, "width": 2, "dash": ("dot", "solid")[place]},
        "fill": "tozeroy",
        "hovertext": hover,
        "hoverinfo": "text",
        "showlegend": first,
        "legendgroup": str(place),
        "fillcolor": f"rgba({', '.join(map(str, parse_hex_color(color)))}, 0.25)",
    }


def tabulate_entropy_scores(known: Scores, unknown: Scores) -> pd.DataFrame:
    """A row for each image: which it is of, and every score."""
    frames = []
    for which, image_scores in (("known", known), ("ood", unknown)):
        flat = {name: values for name, values in image_scores.items() if values.ndim == 1}
        flat |= {f"entropy_member_{m + 1}": values for m, values in enumerate(image_scores["member_entropy"])}
        frames.append(pd.DataFrame({"images": which, "number": range(len(image_scores["entropy"])), **flat}))
    return pd.concat(frames)


def describe_ood_separation(ood_set: dict[str, Any], noun: str) -> str:
    whole, member = ood_set["ensemble"], _average_member_metrics(ood_set["members"])
    title = escaping.escape_markdown(ood_set["title"])
    sentence = f"Take one known {noun} and one image of “{title}”: "
    if len(ood_set["members"]) == 1:
        return sentence + f"the one member is less sure of the latter {_format_auroc(whole['auroc'])}."
    sentence += f"the ensemble is less sure of the latter **{_format_auroc(whole['auroc'])}**, "
    sentence += f"one member {_format_auroc(member['auroc'])}. "
    if whole["auroc"] + _compute_auroc_margin(whole["auroc"], ood_set["images"]) < 0.5:
        return sentence + "Below 50, it is surer of what it has never seen."
    passing, alone = (formats.format_percent(metrics["fpr95"], 500) for metrics in (whole, member))
    return sentence + (
        "If 95 % of the known are to pass, "
        f"{passing} of the out-of-distribution images pass too, with one member {alone}."
    )


def _compute_auroc_margin(auroc: float, images: int) -> float:
    """Half the 95 % interval of an AUROC at most, where the smaller set has so many images.

    Source: D. van Dantzig, "On the consistency and the power of Wilcoxon's two sample test",
    Indagationes Mathematicae 13 (1951), 1-8: the variance is at most A (1 − A) / min(m, n).
    """
    return 1.96 * (auroc * (1 - auroc) / images) ** 0.5


def _format_auroc(auroc: float) -> str:
    """An AUROC in words: "in 97.3 of 100 cases"."""
    return f"in {100 * auroc:.1f} of 100 cases"


def _average_member_metrics(members: list[dict[str, float]]) -> dict[str, float]:
    return {name: sum(member[name] for member in members) / len(members) for name in members[0]}


def tabulate_ood_metrics(ood_set: dict[str, Any]) -> pd.DataFrame:
    """A row for each score: AUROC, AUPR where it was measured, and FPR at 95 %."""
    rows = [("one member: its entropy", _average_member_metrics(ood_set["members"]))]
    if len(ood_set["members"]) > 1:
        rows[0] = (f"one member: its entropy (mean of {len(ood_set['members'])})", rows[0][1])
        rows += [("ensemble: entropy", ood_set["ensemble"]), ("ensemble: mutual information", ood_set["information"])]
    return pd.DataFrame(
        [
            {
                "score": score,
                "AUROC": f"{figures['auroc']:.3f}",
                **(
                    {"AUPR": f"{figures['aupr']:.3f} (chance {figures['aupr_chance']:.3f})"}
                    if "aupr" in figures
                    else {}
                ),
                "FPR at 95 %": formats.format_percent(figures["fpr95"], 500),
            }
            for score, figures in rows
        ]
    )
