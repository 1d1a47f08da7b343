"""Agreement: how different the members are, what that gains, and the images that split them."""

import streamlit as st

from ensemble.analysis.members.diversity import oracle_accuracy
from ensemble.analysis.predictions import Predictions
from ensemble.figures.inspect.pairs import figure, table
from ensemble.ui.inspect.certainty import decomposition
from ensemble.ui.inspect.loader import measured, pictured
from ensemble.ui.inspect.members import lists
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import address, figure_panel
from ensemble.wording import formats
from ensemble.wording.formats import plural
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
        name=f"{shown.stem}-{key.replace('_', '-')}", title=measure.title,
        alt=f"{measure.title} of every pair of {shown.members} members",
        table=lambda: table(values), sees=measure.sees(values, shown.n, shown.noun),
    )  # fmt: skip


def oracle(shown: Inspected) -> None:
    """What the members know together, were one to choose rightly among them."""
    share = measured(shown, oracle_of)
    missing = round((1 - share) * shown.n)
    left = f"{formats.count(missing, shown.noun)} no member gets right" if missing else (
        f"there is no {shown.noun} that all members miss"
    )  # fmt: skip
    more = round((share - shown.made.right.mean()) * shown.n)
    st.markdown(
        f"At least one member is right on **{formats.percent(share, shown.n)}** of the "
        f"{plural(shown.noun)}, {formats.digits(more, shown.noun)} over the ensemble; {left}.",
        help="Oracle accuracy: what one would reach who always knew which member to believe.",
    )


def oracle_of(made: Predictions) -> float:
    """The oracle accuracy of the members."""
    return oracle_accuracy(made.votes, made.labels)
