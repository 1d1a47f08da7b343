"""Out-of-distribution images: whether the ensemble is less sure of what belongs to no class."""

from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from ensemble import datasets, runs, shift
from ensemble.figures.inspect.entropies import Scores, figure, table
from ensemble.shift import Results
from ensemble.shift.results import KNOWN, scores_path
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import address, figure_panel, loaders, theme
from ensemble.wording import escaping, formats
from ensemble.wording.run_names import called


def show(shown: Inspected, results: Results) -> None:
    """One set of OOD images: sentence, histograms, and the figures of all scores."""
    if not results.ood:
        return
    st.markdown("##### Out-of-distribution images: of no class that the members know")
    key = address.choose(address.OOD, "Shown to the members",
                         {one["key"]: one["title"] for one in results.ood},
                         results.ood[0]["key"])  # fmt: skip
    one = next(one for one in results.ood if one["key"] == key)
    known, unknown = (scores(shown.run, of, results.tick) for of in (KNOWN, key))
    if known is None or unknown is None:
        st.caption("The scores of these images are gone; measuring again brings them back.")
        return
    title = f"{one['title']} · {called(shown.run)} · epoch {results.epoch}"
    names = datasets.info(results.dataset).title, one["title"]
    figure_panel.show(
        figure(known, unknown, names, title, theme.palette(), len(shown.names)), key="ood",
        name=f"{shown.run.id}-ood-{key}", title="Entropies of known and out-of-distribution images",
        alt=f"Histograms of entropy: {names[0]} against {names[1]}",
        table=lambda: table(known, unknown), sees=sentence(one, shown.noun),
    )  # fmt: skip
    st.dataframe(in_words(one), hide_index=True, key="ood_table")
    st.caption(
        "AUROC: how often an out-of-distribution (OOD) image scores higher than a known one; 0.5 "
        "is a guess, 1 is always. FPR at 95 %: the share of OOD images that pass where 95 % of the "
        "known ones do; that limit is set on the test images themselves. Mutual information: what "
        "the members disagree about; one alone has none." + others(results)
    )


def others(results: Results) -> str:
    """Which datasets could be shown to the members too, were they on this machine."""
    own = datasets.info(results.dataset)
    missing = [one.title for one in datasets.infos()
               if not one.prepared and not {*one.class_names} & {*own.class_names}]  # fmt: skip
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
    title = escaping.markdown(one["title"])
    said = f"Take one known {noun} and one image of “{title}”: "
    if len(one["members"]) == 1:
        return said + f"the one member is less sure of the latter {often(whole['auroc'])}."
    said += f"the ensemble is less sure of the latter **{often(whole['auroc'])}**, "
    said += f"one member {often(member['auroc'])}. "
    if whole["auroc"] + spread(whole["auroc"], one["images"]) < 0.5:
        return said + "Below 50, it is surer of what it has never seen."
    passing, alone = (formats.percent(one["fpr95"], 500) for one in (whole, member))
    return said + (
        f"If 95 % of the known are to pass, {passing} of the out-of-distribution images pass too, "
        f"with one member {alone}."
    )


def spread(auroc: float, images: int) -> float:
    """Half the 95 % interval of an AUROC at most, where the smaller set has so many images.

    Source: D. van Dantzig, "On the consistency and the power of Wilcoxon's two sample test",
    Indagationes Mathematicae 13 (1951), 1-8: the variance is at most A (1 − A) / min(m, n).
    """
    return 1.96 * (auroc * (1 - auroc) / images) ** 0.5


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
