"""Out-of-distribution images: whether the ensemble is less sure of what belongs to no class."""

from pathlib import Path

import streamlit as st

from ensemble import datasets, runs, shift
from ensemble.figures.inspect.entropies import NOTES, Scores, figure, in_words, sentence, table
from ensemble.shift import Results
from ensemble.shift.results import KNOWN, scores_path
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import address, figure_panel, loaders, theme
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
        of=shown.run,
        name=f"{shown.run.id}-ood-{key}", title="Entropies of known and out-of-distribution images",
        alt=f"Histograms of entropy: {names[0]} against {names[1]}",
        table=lambda: table(known, unknown), sees=sentence(one, shown.noun),
    )  # fmt: skip
    st.dataframe(in_words(one), hide_index=True, key="ood_table")
    st.caption(NOTES + others(results))


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
