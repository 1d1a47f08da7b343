"""Agreement: how different the members are, what that gains, and the images that split them."""

import streamlit as st

from ensemble.figures.inspect.pairs import figure, table
from ensemble.ui.inspect.certainty import decomposition
from ensemble.ui.inspect.loader import measured, pictured
from ensemble.ui.inspect.members import lists
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import address, figure_panel
from ensemble.wording.verdicts import pairs as words
from ensemble.wording.verdicts.pairs import MEASURES, matrix


def show(shown: Inspected) -> None:
    """Draw the view."""
    if shown.members == 1:
        how = "train" if shown.run.trained else "import"
        st.info(f"With one member there is nobody to agree or disagree with: {how} two or more to "
                "see where they differ.", icon=":material/person:")  # fmt: skip
        return
    left, right = st.columns(2, gap="large")
    with left:
        pairs(shown)
    with right:
        decomposition.show(shown)
    oracle(shown)
    lists.show(shown)


def pairs(shown: Inspected) -> None:
    """The matrix of all pairs of members, by one of four measures."""
    labels = {key: one.label for key, one in MEASURES.items()}
    key = address.choose(address.MEASURE, "Measure", labels, "disagreement",
                         help=" ".join(one.help for one in MEASURES.values()))  # fmt: skip
    measure = MEASURES[key]
    values = measured(shown, matrix, key)
    title = f"{measure.title} · {shown.source}"
    figure_panel.show(
        pictured(shown, lambda palette: figure(
            measure, values, shown.n, shown.noun, title, palette
        ), "pairs", key),
        key="inspect_pairs",
        of=shown.run, epoch=shown.epoch,
        name=f"{shown.stem}-{key.replace('_', '-')}", title=measure.title,
        alt=f"{measure.title} of every pair of {shown.members} members",
        table=lambda: table(values), sees=measure.sees(values, shown.n, shown.noun),
    )  # fmt: skip


def oracle(shown: Inspected) -> None:
    """What the members know together, were one to choose rightly among them."""
    st.markdown(
        measured(shown, words.oracle, shown.noun),
        help="Oracle accuracy: what one would reach who always knew which member to believe.",
    )
