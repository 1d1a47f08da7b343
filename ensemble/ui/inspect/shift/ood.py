"""Images from outside: whether the ensemble is less sure of what belongs to no class."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from ensemble import datasets, runs, shift
from ensemble.figures.palette import MUTED, Palette, parts
from ensemble.figures.shift import layout
from ensemble.shift import Results
from ensemble.shift.results import KNOWN, scores_path
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import address, figure_panel, loaders, theme
from ensemble.wording import formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

BINS = 40
Scores = dict[str, NDArray[np.float32]]


def show(shown: Inspected, results: Results) -> None:
    """One set of outside images: sentence, histograms, and the figures of all scores."""
    if not results.outside:
        return
    st.markdown("##### Images from outside")
    key = address.choose("outside", "Shown to the members",
                         {one["key"]: one["title"] for one in results.outside},
                         results.outside[0]["key"])  # fmt: skip
    one = next(one for one in results.outside if one["key"] == key)
    known, unknown = (scores(shown.run, of, results.tick) for of in (KNOWN, key))
    if known is None or unknown is None:
        st.caption("The scores of these images are gone; measuring again brings them back.")
        return
    title = f"{one['title']} · {shown.run.name} · epoch {results.epoch}"
    names = datasets.info(results.dataset).title, one["title"]
    figure_panel.show(
        histograms(known, unknown, names, title, theme.palette()), key="outside",
        name=f"{shown.run.id}-outside-{key}", title="Entropies of known and outside images",
        alt=f"Histograms of entropy: {names[0]} against {names[1]}",
        table=lambda: table(known, unknown), sees=sentence(one, shown.noun),
    )  # fmt: skip
    st.dataframe(in_words(one), hide_index=True, key="outside_table")
    st.caption(
        "AUROC: how often an outside image scores higher than a known one; 0.5 is a guess, 1 is "
        "always. FPR at 95 %: the share of outside images that pass where 95 % of the known ones "
        "do. Mutual information: what the members disagree about; one alone has none."
        + others(results)
    )


def others(results: Results) -> str:
    """Which datasets could be shown to the members too, were they on this machine."""
    own = datasets.info(results.dataset)
    missing = [one.title for one in datasets.infos()
               if not one.prepared and one.class_names != own.class_names]  # fmt: skip
    if not missing:
        return ""
    return f" Once {' or '.join(missing)} is fetched, on Train, it can be shown to them too."


def scores(run: runs.Run, key: str, tick: int) -> Scores | None:
    """The scores of a set of images, read once."""
    return _scores(str(run.path), key, tick, loaders.version(scores_path(run.path, key)))


# 64 members on 10,000 images take 2.5 MB.
@st.cache_resource(max_entries=12, show_spinner=False)
def _scores(folder: str, key: str, tick: int, seen: tuple[int, int]) -> Scores | None:
    return shift.read_scores(Path(folder), key, tick)


def sentence(one: dict[str, Any], noun: str) -> str:
    """How well entropy tells the two apart, for the ensemble and for one member."""
    whole, member = one["ensemble"], mean(one["members"])
    said = f"Take one known {noun} and one image of “{one['title']}”: "
    if len(one["members"]) == 1:
        return said + f"the one member is less sure of the latter {often(whole['auroc'])}."
    said += f"the ensemble is less sure of the latter **{often(whole['auroc'])}**, "
    said += f"one member {often(member['auroc'])}. "
    if whole["auroc"] < 0.5:
        return said + "Below 50, it is surer of what it has never seen."
    return said + (
        f"If 95 % of the known are to pass, {formats.percent(whole['fpr95'], 500)} of the outside "
        f"images pass too, with one member {formats.percent(member['fpr95'], 500)}."
    )


def often(auroc: float) -> str:
    """An AUROC in words: "in 97.3 of 100 cases"."""
    return f"in {100 * auroc:.1f} of 100 cases"


def mean(members: list[dict[str, float]]) -> dict[str, float]:
    """The members' mean figures."""
    return {name: sum(one[name] for one in members) / len(members) for name in members[0]}


def in_words(one: dict[str, Any]) -> pd.DataFrame:
    """A row for each score: AUROC and FPR at 95 %."""
    rows = [("one member: its entropy", mean(one["members"]))]
    if len(one["members"]) > 1:
        rows[0] = (f"one member: its entropy (mean of {len(one['members'])})", rows[0][1])
        rows += [("ensemble: entropy", one["ensemble"]),
                 ("ensemble: mutual information", one["information"])]  # fmt: skip
    return pd.DataFrame(
        [{"score": score, "AUROC": f"{figures['auroc']:.3f}",
          "FPR at 95 %": formats.percent(figures["fpr95"], 500)} for score, figures in rows]
    )  # fmt: skip


def histograms(
    known: Scores, unknown: Scores, names: tuple[str, str], title: str, palette: Palette
) -> "go.Figure":
    """Entropies of the known and of the outside images, of one member and of the ensemble.

    Args:
      known: the scores of the dataset's own images.
      unknown: those of the outside images.
      names: what the two are called.
      title: what stands over it, so that a saved picture says what it shows.
      palette: the page's colours.
    """
    from plotly.subplots import make_subplots  # here, for it takes a while to import

    alone = len(known["member_entropy"]) == 1
    panels = ["the one member"] if alone else ["members, pooled", "ensemble"]
    chart = make_subplots(1, len(panels), subplot_titles=panels, shared_yaxes=True)
    for column, score in enumerate(("member_entropy", "entropy")[: len(panels)], 1):
        for place, (name, found) in enumerate(zip(names, (known, unknown), strict=True)):
            chart.add_scatter(**outline(found[score], name, place, palette, first=column == 1),
                              row=1, col=column)  # fmt: skip
        chart.update_xaxes(title="entropy (nats)", fixedrange=True, range=[0, top()],
                           row=1, col=column)  # fmt: skip
    chart.update_layout(**layout(title, 350, palette))
    chart.update_yaxes(title="share of the images", ticksuffix=" %", rangemode="tozero",
                       fixedrange=True, col=1)  # fmt: skip
    chart.update_annotations(font_size=13)
    return chart


def top() -> float:
    """The highest entropy that there is: ln C."""
    return float(np.log(10))


def outline(
    values: NDArray[np.float32], name: str, place: int, palette: Palette, *, first: bool
) -> dict[str, Any]:
    """A histogram as a filled step line: `place` 0 are the known, dotted; 1 the outside images."""
    edges = np.linspace(0, top(), BINS + 1)
    counts, _ = np.histogram(np.clip(values, 0, top()), edges)
    shares = counts / max(1, values.size)
    color = (MUTED, palette.primary)[place]
    hover = [f"{formats.percent(share, 500)} of {name} have {low:.2f} to {high:.2f} nats"
             for share, low, high in zip(shares, edges[:-1], edges[1:], strict=True)]  # fmt: skip
    return {
        "x": (edges[:-1] + edges[1:]) / 2, "y": 100 * shares, "mode": "lines", "name": name,
        "line": {"shape": "hvh", "color": color, "width": 2, "dash": ("dot", "solid")[place]},
        "fill": "tozeroy", "hovertext": hover, "hoverinfo": "text", "showlegend": first,
        "legendgroup": str(place),
        "fillcolor": f"rgba({', '.join(map(str, parts(color)))}, 0.25)",
    }  # fmt: skip


def table(known: Scores, unknown: Scores) -> pd.DataFrame:
    """A row for each image: which it is of, and every score."""
    frames = []
    for which, found in (("known", known), ("outside", unknown)):
        flat = {name: values for name, values in found.items() if values.ndim == 1}
        flat |= {f"entropy_member_{m + 1}": values
                 for m, values in enumerate(found["member_entropy"])}  # fmt: skip
        frames.append(
            pd.DataFrame({"images": which, "number": range(len(found["entropy"])), **flat})
        )
    return pd.concat(frames)
