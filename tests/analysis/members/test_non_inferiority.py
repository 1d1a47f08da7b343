"""Whether less than a margin is lost: signs and ends against the gain, and the textbook's size."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from ensemble.analysis.members.gain import PairedGain, paired_gain
from ensemble.analysis.members.non_inferiority import judge_non_inferiority


def draw_gain(worse: float, n: int = 400) -> PairedGain:
    """A classifier that is right on 30 of n fewer and 18 more, and whose NLL is `worse` by so many nats."""
    hits, others = np.ones((2, n), bool)
    hits[:30], others[30:48] = False, False
    return paired_gain(hits, others, -worse + 0.2 * np.sin(np.arange(n)))


def test_losses_are_gains_with_their_sign_and_ends_turned() -> None:
    gain = draw_gain(0.03)
    nll, accuracy = (judge_non_inferiority(gain, metric, 0.05) for metric in ("nll", "accuracy"))
    assert (nll.loss, nll.low, nll.high) == (-gain.nll, -gain.nll_high, -gain.nll_low)
    assert (accuracy.loss, accuracy.low, accuracy.high) == pytest.approx(
        (12 / 400, -gain.digits_high / 400, -gain.digits_low / 400)
    )
    for found in (nll, accuracy):
        assert found.low < found.loss < found.high
        assert found.loss == pytest.approx(0.03, abs=0.003)


@pytest.mark.parametrize(("margin", "outcome"), [(0.06, "kept"), (0.03, "undecided"), (0.005, "loses")])
def test_the_whole_interval_has_to_be_on_one_side_of_the_margin(margin: float, outcome: str) -> None:
    assert judge_non_inferiority(draw_gain(0.03), "nll", margin).outcome == outcome


def test_the_examples_that_would_settle_it_are_those_of_a_power_of_80_percent() -> None:
    """((z₀.₉₇₅ + z₀.₈) σ / margin)², with σ √n times the standard error."""
    found = judge_non_inferiority(draw_gain(0.03), "nll", 0.018)
    assert found.outcome == "undecided"
    deviation = (found.high - found.loss) / norm.ppf(0.975) * 20
    assert found.examples == math.ceil(((norm.ppf(0.975) + norm.ppf(0.8)) * deviation / 0.018) ** 2)
    assert found.examples > 400
    assert judge_non_inferiority(draw_gain(0.03), "nll", 0.06).examples is None


@pytest.mark.parametrize(("metric", "margin"), [("ece", 0.1), ("nll", 0.0), ("accuracy", math.inf)])
def test_another_metric_and_no_margin_are_refused(metric: str, margin: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        judge_non_inferiority(draw_gain(0.0), metric, margin)
