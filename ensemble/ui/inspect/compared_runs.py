"""Compare: this run against every other one at once, corrected for there being so many."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from ensemble import runs
from ensemble.analysis.inference.multiple_tests import holm
from ensemble.analysis.members.gain import LUCK, Gain, gain
from ensemble.analysis.predictions import Predictions
from ensemble.errors import EnsembleError
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.predictions import loader
from ensemble.ui.shared import loaders
from ensemble.wording import formats
from ensemble.wording.formats import plural
from ensemble.wording.run_names import called
from ensemble.wording.verdicts import inspect as inspect_words

MOST = 20  # runs, the newest: each has its predictions read, once


@dataclass(frozen=True)
class Against:
    """This run against one other.

    Attributes:
      name: the other run.
      found: what this run is better by.
    """

    name: str
    found: Gain


def against(shown: SharedEpoch, other: runs.Run, epoch: int) -> Gain:
    """What the epoch that is shown is better by than another run's; computed once.

    Raises:
      EnsembleError: the other's predictions cannot be read.
    """
    path = other.path / "predictions" / f"epoch-{epoch:04d}.npz"
    return shown.measure(compared, other.id, epoch, loaders.version(path))


def compared(made: Predictions, other: str, epoch: int, seen: tuple[int, int]) -> Gain:
    """What these predictions are better by than those of another run's epoch."""
    theirs = loader.predictions(runs.find(other), epoch)
    return gain(made.averaged, theirs.averaged, made.labels)


def against_all(shown: SharedEpoch, others: Sequence[runs.Run]) -> None:
    """A row for each of the newest runs at its last epoch, with p adjusted for all of them."""
    taken, unread = [], []
    with st.spinner("Comparing with every run …"):
        for other in others[:MOST]:
            try:
                epoch = runs.prediction_epochs(other.id)[-1]
                taken.append(Against(called(other), against(shown, other, epoch)))
            except (EnsembleError, IndexError):
                unread.append(called(other))
    if taken:
        st.dataframe(frame(taken, shown.noun), hide_index=True, key="compare_all")
    st.caption(note(len(taken), len(others), len(unread)))


def frame(taken: Sequence[Against], noun: str) -> pd.DataFrame:
    """What this run is better by than each, and what all tests together show.

    Accuracy and NLL of K runs are 2K tests at once: p is Holm's for all of them.
    """
    adjusted = holm([p for one in taken for p in (one.found.p, one.found.nll_p)]).reshape(-1, 2)
    rows = []
    for one, (p, nll_p) in zip(taken, adjusted.tolist(), strict=True):
        found = one.found
        ends = (inspect_words.signed(end, 0) for end in (found.digits_low, found.digits_high))
        rows.append(
            {
                "against": one.name,
                "this run": verdict(p, found.digits, "more right", "fewer right"),
                f"{plural(noun)}": formats.digits(found.digits, noun),
                "95 % interval": " to ".join(ends),
                "p": p_alone(p),
                "its NLL": verdict(nll_p, found.nll, "lower", "higher"),
                "NLL, nats": inspect_words.signed(-found.nll),
                "p of NLL": p_alone(nll_p),
            }
        )
    return pd.DataFrame(rows)


def verdict(p: float, gained: float, better: str, worse: str) -> str:
    """What is shown: better, worse, or that nothing is."""
    if p >= LUCK:
        return "not shown"
    return f"better: {better}" if gained > 0 else f"worse: {worse}"


def p_alone(p: float) -> str:
    """A p for a column of its own, as "0.004" or "< 0.001"."""
    said = inspect_words.p_value(p).replace("\N{NO-BREAK SPACE}", " ")
    return said.removeprefix("p ").removeprefix("= ")


def note(taken: int, others: int, unread: int) -> str:
    """How many tests there are, which runs are left out, and what the figures hold for."""
    said = [
        f"This run against {formats.count(taken, 'run')}, each at its last epoch. Every p is "
        f"adjusted for all {2 * taken} tests (Holm): that one of them errs by luck has a chance of "
        "at most 5 %. Intervals are of one comparison alone. “Not shown” does not mean equal."
    ]
    if others > MOST:
        said.append(f"The newest {MOST} of {others:,} runs are compared.")
    if unread:
        said.append(f"The predictions of {formats.count(unread, 'run')} cannot be read.")
    return " ".join(said)
