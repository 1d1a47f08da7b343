"""The answer on top of Inspect: is the ensemble better than a member, by how much, how surely."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble.analysis.members.gain import MeanGain, gain_over_mean, mcnemar, typical_member
from ensemble.analysis.members.subsets import EXACT_UP_TO
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.summary import Qualities, Quality, qualities
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.members import enough
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions import downloads
from ensemble.ui.shared.tab import tab
from ensemble.wording import committee as committee_words
from ensemble.wording import formats
from ensemble.wording import inspect as inspect_words

# What each figure is, in a line: the help of its column and of its metric.
HELP = {
    "accuracy": "The share of the test images that are right. ± is half the 95 % Wilson interval, "
    "in percentage points.",
    "NLL": "Negative log-likelihood, in nats: the mean of −ln of the probability given to what it "
    "is. Lower is better; sure and wrong costs most.",
    "Brier": "The mean squared distance of the probabilities from the truth, from 0 to 2. Lower is "
    "better.",
    "ECE": "Expected calibration error: how far confidence is from accuracy, over 15 bins of equal "
    "width. 0.01 is one percentage point.",
    "adaptive ECE": "The same over bins that hold equally many images.",
    "MCE": "Maximum calibration error: the bin that is farthest off.",
}
ELSEWHERE = "Committee, below, tells how many are enough."
WAITING = "Judging how many members are enough …"


def show(shown: Inspected) -> DeltaGenerator:
    """Draw the sentence; returns the place for what takes longer, see `finish`."""
    place = st.empty()
    # Its end is remembered, so that it does not come and go with each press.
    rest = tab.enough.get(asked(shown), WAITING) if counts(shown) else ""
    if shown.members > EXACT_UP_TO:
        rest = ELSEWHERE
    with place:
        st.markdown(f"#### {sentence(shown)} {rest}")
    return place


def identity(shown: Inspected) -> tuple[Any, ...]:
    """What the sentence is of."""
    return shown.run.id, shown.epoch, shown.version


def asked(shown: Inspected) -> tuple[Any, ...]:
    """What the end of the sentence is of: also of the margin that is accepted, and of whom."""
    return *identity(shown), *enough.chosen("accuracy")


def counts(shown: Inspected) -> bool:
    """Whether all committees can be counted while one waits."""
    return 1 < shown.members <= EXACT_UP_TO


def sentence(shown: Inspected) -> str:
    """The ensemble against a typical member."""
    if shown.members == 1:
        return inspect_words.alone(shown.made, shown.noun)
    won, lost, p = measured(shown, against_typical)
    said = inspect_words.gain(shown.made, won, lost, p, shown.noun)
    more = inspect_words.over_all(p, measured(shown, gain_over_mean).digits_low)
    return f"{said} {more}".strip()


def against_typical(made: Predictions) -> tuple[int, int, float]:
    """(won, lost, p) of the ensemble against the member with the median accuracy."""
    theirs = made.votes[typical_member(made)] == made.labels
    won, lost = int((made.right & ~theirs).sum()), int((theirs & ~made.right).sum())
    return won, lost, mcnemar(won, lost)


def finish(shown: Inspected, place: DeltaGenerator) -> None:
    """Complete the sentence with how many members are enough: after all else is drawn."""
    if not counts(shown):
        return
    found = enough.decided(shown, "accuracy", *enough.chosen("accuracy"))
    rest = committee_words.verdict(found, shown.noun)
    tab.enough = {asked(shown): rest}
    with place:
        st.markdown(f"#### {sentence(shown)} {rest}")


def fill(shown: Inspected, figures: DeltaGenerator, below: DeltaGenerator) -> None:
    """Draw the figures in their two places."""
    with figures:
        metrics(shown)
    with below:
        details(shown)


def metrics(shown: Inspected) -> None:
    """The ensemble's figures in short, and how the mean member compares."""
    found = measured(shown, qualities)
    if shown.members > 1:
        compared(shown, found, measured(shown, gain_over_mean))
        return
    accuracy(found.ensemble, "Accuracy", shown)
    for name, value in (("NLL", found.ensemble.nll), ("ECE", found.ensemble.ece)):
        st.metric(name, formats.significant(value), width="content", help=HELP[name])


def details(shown: Inspected) -> None:
    """All figures, to unfold."""
    with st.expander("All figures, member by member" if shown.members > 1 else "All figures"):
        table(shown, measured(shown, qualities))


def accuracy(quality: Quality, label: str, shown: Inspected) -> None:
    """The accuracy with its interval."""
    value = f"{formats.percent(quality.accuracy, quality.n)} {margin(quality)}"
    st.metric(f"{label} on {shown.n:,} test {shown.noun}s", value, width="content",
              help=HELP["accuracy"])  # fmt: skip


def margin(quality: Quality) -> str:
    """Half the interval of an accuracy, as "± 0.18"."""
    return formats.plus_minus(quality.accuracy, quality.n)


def compared(shown: Inspected, found: Qualities, gained: MeanGain) -> None:
    """Accuracy, NLL and ECE of the ensemble, and how the mean member compares."""
    accuracy(found.ensemble, "Ensemble", shown)
    st.metric(
        "Over the mean member", formats.digits(gained.digits, shown.noun), width="content",
        delta=interval(gained.digits_low, gained.digits_high, 0), **PLAIN,
        help="How many more the ensemble gets right than its members on average, and below it the "
        "95 % interval: paired bootstrap, 2,000 draws of the test images with replacement.",
    )  # fmt: skip
    st.metric(
        "NLL (nats)", formats.significant(found.ensemble.nll), width="content", **PLAIN,
        delta=saved(gained), help=f"{HELP['NLL']} Below it: how far that is from the mean "
        "member's, the 95 % interval by paired bootstrap.",
    )  # fmt: skip
    st.metric(
        "ECE", formats.significant(found.ensemble.ece), width="content", help=HELP["ECE"], **PLAIN,
        delta=f"mean member {formats.significant(found.mean.ece)}",
    )  # fmt: skip


# A metric's second line as plain words: no arrow, no judgement by colour.
PLAIN: dict[str, Any] = {"delta_color": "off", "delta_arrow": "off"}


def interval(low: float, high: float, places: int) -> str:
    """Both ends of an interval, as "+9 to +27"."""
    return " to ".join(f"{end:+,.{places}f}".replace("-", "−") for end in (low, high))


def saved(gained: MeanGain) -> str:
    """How far the NLL is from the mean member's, as "0.0030 to 0.0043 lower"."""
    low, high = gained.nll_low, gained.nll_high
    if low < 0 < high:
        return f"{signed(-high)} to {signed(-low)}"
    ends = sorted((abs(low), abs(high)))
    said = " to ".join(formats.significant(end, 2) for end in ends)
    return f"{said} {'lower' if high > 0 else 'higher'}" if ends[1] else "the same"


def signed(value: float) -> str:
    """A difference with its sign, to two significant figures."""
    return f"{'+' if value > 0 else '−'}{formats.significant(abs(value), 2)}"


def table(shown: Inspected, found: Qualities) -> None:
    """Every figure of the ensemble, the mean member and each member; and as a file."""
    columns = {
        name: st.column_config.NumberColumn(
            name, help=text, format=formatting(name, shown.n), width="small"
        )
        for name, text in HELP.items()
    }
    columns["±"] = st.column_config.NumberColumn(
        "±", help="Half the 95 % Wilson interval of the accuracy, in percentage points.",
        format=f"%.{formats.decimals(shown.n)}f", width="small",
    )  # fmt: skip
    st.dataframe(frame(found), column_config=columns, hide_index=True, key="inspect_figures",
                 height=min(38 * (shown.members + 3), 300))  # fmt: skip
    st.download_button(
        "Figures (CSV)", lambda: downloads.csv(exact_frame(found)), f"{shown.stem}-quality.csv",
        "text/csv", icon=":material/table:", key="inspect_figures_csv", on_click="ignore",
    )  # fmt: skip


def formatting(name: str, n: int) -> str:
    """How a column's numbers read."""
    return formats.percent_column(n) if name == "accuracy" else "%.4f"


def rows(found: Qualities) -> list[tuple[str, Quality]]:
    """Who, and the figures: the ensemble first; one member alone is all there is."""
    if len(found.members) == 1:
        return [("member 1", found.ensemble)]
    each = [(f"member {m + 1}", one) for m, one in enumerate(found.members)]
    return [("ensemble", found.ensemble), ("mean member", found.mean), *each]


def frame(found: Qualities) -> pd.DataFrame:
    """The figures to look at: percentages of accuracy and half its interval."""
    exact = exact_frame(found)
    half = np.array([50 * (one.high - one.low) for _, one in rows(found)])
    exact["accuracy"] *= 100
    exact = exact.drop(columns=["accuracy low", "accuracy high"])
    exact.insert(2, "±", half)
    return exact


def exact_frame(found: Qualities) -> pd.DataFrame:
    """The figures to keep, all in [0, 1] or nats."""
    return pd.DataFrame([
        {
            "who": who, "accuracy": one.accuracy, "accuracy low": one.low,
            "accuracy high": one.high, "NLL": one.nll, "Brier": one.brier, "ECE": one.ece,
            "adaptive ECE": one.adaptive_ece, "MCE": one.mce,
        }
        for who, one in rows(found)
    ])  # fmt: skip
