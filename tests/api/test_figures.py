"""The figures of one line are the pages' own, and refuse what they cannot show in a sentence."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, log_loss

import ensemble
from ensemble.errors import ConfigError
from ensemble.figures import DARK, LIGHT
from tests.analysis.draws import distributions

N = 400
LABELS = np.random.default_rng(0).integers(10, size=N)


def predictions(M: int = 3, n: int = N, seed: int = 0, source: str = "") -> ensemble.Predictions:
    drawn = distributions(M, N, 10, seed)
    drawn[:, np.arange(N), LABELS] *= 1000
    shares = drawn / drawn.sum(axis=-1, keepdims=True)
    return ensemble.Predictions.from_arrays(
        shares[:, :n], LABELS[:n], source=source, class_names=[f"<{c}>" for c in range(10)]
    )


MADE = predictions(source="mine · epoch 3")
FIGURES: dict[str, Callable[..., Any]] = {
    name: getattr(ensemble.figures, name)
    for name in ensemble.figures.__all__
    if name not in ("DARK", "LIGHT", "Palette")
}
ARGUMENTS = {"compare": (MADE, predictions(seed=1)), "decomposition": ({3: MADE},)}


def trace(chart: Any, name: str) -> Any:
    (found,) = [one for one in chart.data if one.name == name]
    return found


@pytest.mark.parametrize("name", FIGURES)
def test_each_is_one_line_for_a_light_page_and_for_a_dark_one(name: str) -> None:
    given = ARGUMENTS.get(name, (MADE,))
    light, dark = FIGURES[name](*given), FIGURES[name](*given, palette=DARK)
    assert light.layout.template.layout.paper_bgcolor == LIGHT.ground
    assert dark.layout.template.layout.paper_bgcolor == DARK.ground
    assert "mine · epoch 3" in light.layout.title.subtitle.text
    assert len(light.data) == len(dark.data) > 0


def test_the_confusion_matrix_is_that_of_scikit_learn_with_names_escaped() -> None:
    chart = FIGURES["confusion"](MADE)
    counts = [int(text or 0) for text in chart.data[0].text]
    expected = confusion_matrix(LABELS, MADE.probabilities.mean(axis=0).argmax(axis=1))
    np.testing.assert_array_equal(np.reshape(counts, (10, 10)), expected)
    assert chart.layout.xaxis.ticktext[0] == "&lt;0&gt;"


def test_the_reliability_diagram_counts_what_a_loop_counts() -> None:
    bars = FIGURES["calibration"](MADE).data[-1]
    sure = MADE.averaged.max(axis=1)
    inside = [((sure > b / 15) & (sure <= (b + 1) / 15)).sum() for b in range(15)]
    assert list(bars.y) == inside


def test_the_committees_curve_ends_in_the_whole_ensembles_loss() -> None:
    curve = trace(FIGURES["committee"](MADE, "nll"), "mean of the committees")
    whole = MADE.probabilities.astype(float).mean(axis=0)
    alone = [log_loss(LABELS, one / one.sum(axis=1)[:, None]) for one in MADE.probabilities.astype(float)]
    assert curve.y[-1] == pytest.approx(log_loss(LABELS, whole / whole.sum(axis=1)[:, None]))
    assert curve.y[0] == pytest.approx(np.mean(alone))


def test_what_is_fitted_elsewhere_is_judged_on_every_example() -> None:
    held = predictions(seed=5)
    chart = FIGURES["selective"](MADE, rate=0.2, fit=held)
    mark = trace(chart, "with the threshold, found on validation")
    sure, right = held.averaged.max(axis=1), held.averaged.argmax(axis=1) == LABELS
    order = np.argsort(-sure)
    errors = np.cumsum(~right[order]) / np.arange(1, N + 1)
    kept = MADE.averaged.max(axis=1) >= sure[order][np.flatnonzero(errors <= 0.2)[-1]]
    assert mark.x[0] == pytest.approx(100 * kept.mean())
    sets = FIGURES["conformal"](MADE, fit=held)
    assert sum(bar.y.sum() for bar in sets.data) == N
    assert sum(bar.y.sum() for bar in FIGURES["conformal"](MADE).data) == N // 2
    assert FIGURES["combining"](MADE, "nll", fit=held).data


def test_what_is_won_and_lost_is_the_difference_of_both() -> None:
    theirs = predictions(seed=1)
    chart = FIGURES["compare"](MADE, theirs)
    assert sum(sum(bar.y) for bar in chart.data) == MADE.right.sum() - theirs.right.sum()


@pytest.mark.parametrize("name", ["uncertainty", "agreement", "committee", "combining"])
def test_one_member_has_nobody_to_be_held_against(name: str) -> None:
    with pytest.raises(ConfigError, match="takes two or more"):
        FIGURES[name](predictions(1))


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda f: f["agreement"](MADE, "cosine"), "measure is 'cosine': it has to be one of"),
        (lambda f: f["committee"](MADE, "f1"), "one of accuracy, nll, brier, ece"),
        (lambda f: f["combining"](MADE, "f1"), "figure is 'f1'"),
        (lambda f: f["selective"](MADE, rate=5), "rate is 5: it has to be a share from 0 to 1"),
        (lambda f: f["conformal"](MADE, rate=0), "between 0 and 1"),
        (lambda f: f["conformal"](MADE, method="cqr"), "one of aps, raps, lac"),
        (lambda f: f["selective"](predictions(n=12)), "12 examples are too few"),
        (lambda f: f["compare"](MADE, predictions(n=50)), "different examples"),
        (lambda f: f["decomposition"]({}), "no epoch"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_sentence(draw: Callable[..., Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        draw(FIGURES)
