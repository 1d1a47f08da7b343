"""How many members are enough: what is asked, in the address, and what the test set answers."""

import streamlit as st

from ensemble.analysis.members.committee import Committee, committee
from ensemble.analysis.members.enough import MARGINS, SHARE, Enough, enough
from ensemble.analysis.predictions import Predictions
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import address
from ensemble.wording import formats
from ensemble.wording.verdicts import committee as words

# The margins to choose from, by their words in the address; accuracy's in percentage points.
CHOICES = {
    "accuracy": {word: float(word) / 100 for word in
                 ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5")},
    "nll": {word: float(word) for word in
            ("0.0005", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1")},
    "brier": {word: float(word) for word in
              ("0.0002", "0.0005", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05")},
}  # fmt: skip
ADDRESS = {
    "accuracy": address.MARGIN, "nll": address.NLL_MARGIN, "brier": address.BRIER_MARGIN,
}  # fmt: skip
SHARES = {word: float(word) / 100 for word in ("50", "80", "90", "95", "99", "100")}


def usual(figure: str) -> str:
    """The word of the margin that is accepted unless another is chosen."""
    return next(word for word, value in CHOICES[figure].items() if value == MARGINS[figure])


def usual_share() -> str:
    """The word of the share that has to keep it."""
    return next(word for word, value in SHARES.items() if value == SHARE)


def chosen(figure: str) -> tuple[float, float]:
    """(margin, share) that the address asks for."""
    word = ADDRESS[figure].among(CHOICES[figure], usual(figure))
    return CHOICES[figure][word], SHARES[address.KEEP.among(SHARES, usual_share())]


def choose(figure: str) -> None:
    """The controls for both; what they say stands in the address."""
    word = ADDRESS[figure].among(CHOICES[figure], usual(figure))
    address.bound(f"committee_margin_{figure}", word, lambda key: st.select_slider(
        "Loss that you accept", list(CHOICES[figure]), key=key, width=260,
        on_change=address.follow, args=(ADDRESS[figure], key, usual(figure)),
        format_func=lambda word: words.loss(CHOICES[figure][word], figure),
        help="How much worse than all members together a smaller committee may be.",
    ))  # fmt: skip
    share = address.KEEP.among(SHARES, usual_share())
    address.bound("committee_share", share, lambda key: st.select_slider(
        "Committees that have to keep it", list(SHARES), key=key, width=260,
        on_change=address.follow, args=(address.KEEP, key, usual_share()),
        format_func=lambda word: formats.percent(SHARES[word], figures=3),
        help="Of all committees of a size: nobody knows beforehand which one it will be.",
    ))  # fmt: skip


def all_committees(made: Predictions) -> Committee:
    """Every committee of the members, judged."""
    return committee(made.probabilities, made.labels)


def decided(shown: Inspected, figure: str, margin: float, share: float) -> Enough:
    """How many members are enough, reckoned once for each question."""
    judged = measured(shown, all_committees)

    def decide(_: Predictions, figure: str, margin: float, share: float) -> Enough:
        return enough(judged, figure, margin, share)

    return measured(shown, decide, figure, margin, share)
