"""Compare: this run against every other one at once, corrected for there being so many."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from ensemble import runs
from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL, PairedGain, compute_gain
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.comparison.run_measures import select_compared_epoch
from ensemble.errors import EnsembleError
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.predictions import loader
from ensemble.ui.shared import loaders
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.run_names import format_run_name
from ensemble.wording.verdicts import ensemble_gain as inspect_words

MAX_RUNS = 20  # runs, the newest: each has its predictions read, once


@dataclass(frozen=True)
class RunGain:
    """This run against one other.

    Attributes:
      name: the other run.
      gain: what this run is better by.
    """

    name: str
    gain: PairedGain


def measure_gain_over_run(shared: SharedEpoch, other: runs.Run, epoch: int) -> PairedGain:
    """What the epoch that is shown is better by than another run's; computed once.

    Raises:
      EnsembleError: the other's predictions cannot be read.
    """
    path = other.path / "predictions" / f"epoch-{epoch:04d}.npz"
    return shared.measure(_compute_gain_over_run, other.id, epoch, loaders.get_file_version(path))


def _compute_gain_over_run(
    predictions: EnsemblePredictions, other: str, epoch: int, version: tuple[int, int]
) -> PairedGain:
    other_predictions = loader.load_test_predictions(runs.find_run(other), epoch)
    return compute_gain(predictions.averaged, other_predictions.averaged, predictions.labels, predictions.groups)


def show_comparison_with_all(shared: SharedEpoch, other_runs: Sequence[runs.Run]) -> None:
    run_gains, unread = [], []
    with st.spinner("Comparing with every run …"):
        for other in other_runs[:MAX_RUNS]:
            try:
                epoch, _ = select_compared_epoch(other)
                run_gains.append(RunGain(format_run_name(other), measure_gain_over_run(shared, other, epoch)))
            except (EnsembleError, IndexError):
                unread.append(format_run_name(other))
    if run_gains:
        st.dataframe(tabulate_run_gains(run_gains, shared.noun), hide_index=True, key="compare_all")
    st.caption(describe_multiple_tests(len(run_gains), len(other_runs), len(unread)))


def tabulate_run_gains(run_gains: Sequence[RunGain], noun: str) -> pd.DataFrame:
    """What this run is better by than each, and what all tests together show.

    Accuracy and NLL of K runs are 2K tests at once: p is Holm's for all of them.
    """
    adjusted = adjust_p_holm([p for gain_row in run_gains for p in (gain_row.gain.p, gain_row.gain.nll_p)]).reshape(
        -1, 2
    )
    rows = []
    for run_gain, (p, nll_p) in zip(run_gains, adjusted.tolist(), strict=True):
        gain = run_gain.gain
        ends = (inspect_words.format_signed(end, 0) for end in (gain.digits_low, gain.digits_high))
        rows.append(
            {
                "against": run_gain.name,
                "this run": _describe_tested_gain(p, gain.digits, "more right", "fewer right"),
                f"{pluralize_noun(noun)}": formats.format_image_difference(gain.digits, noun),
                "95 % interval": " to ".join(ends),
                "p": _format_bare_p_value(p),
                "its NLL": _describe_tested_gain(nll_p, gain.nll, "lower", "higher"),
                "NLL, nats": inspect_words.format_signed(-gain.nll),
                "p of NLL": _format_bare_p_value(nll_p),
            }
        )
    return pd.DataFrame(rows)


def _describe_tested_gain(p: float, gained: float, better: str, worse: str) -> str:
    """What is shown: better, worse, or that nothing is."""
    if p >= SIGNIFICANCE_LEVEL:
        return "not shown"
    return f"better: {better}" if gained > 0 else f"worse: {worse}"


def _format_bare_p_value(p: float) -> str:
    """A p for a column of its own, as "0.004" or "< 0.001"."""
    text = inspect_words.format_p_value(p).replace("\N{NO-BREAK SPACE}", " ")
    return text.removeprefix("p ").removeprefix("= ")


def describe_multiple_tests(compared: int, available: int, unread: int) -> str:
    sentences = [
        f"This run against {formats.format_count(compared, 'run')}, each after the epoch chosen on "
        f"its validation images, else after its last. Every p is adjusted for all {2 * compared} "
        "tests (Holm): that one of them errs by luck has a chance of at most 5 %. Intervals are "
        "of one comparison alone. “Not shown” does not mean equal. All is about these trained "
        "runs: other seeds may order their settings differently."
    ]
    if available > MAX_RUNS:
        sentences.append(f"The newest {MAX_RUNS} of {available:,} runs are compared.")
    if unread:
        sentences.append(f"The predictions of {formats.format_count(unread, 'run')} cannot be read.")
    return " ".join(sentences)
