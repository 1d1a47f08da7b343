"""The view How many members?: what each member brings and costs."""

import numpy as np
import pytest

from ensemble.figures.palette import LIGHT
from ensemble.views import committee_costs
from tests.pages.ensembles import evaluated, trained
from tests.views.summaries import find_table, summarize


def test_what_a_member_is_worth_is_counted_in_digits() -> None:
    whole = evaluated(3, 7.0)
    frame = find_table(summarize(trained(sure=7.0), "members", alternative="members"), "without it")
    for m in range(3):
        rest = np.delete(whole.probabilities, m, axis=0).astype(float).sum(axis=0)
        change = int((rest.argmax(axis=-1) == whole.labels).sum() - whole.right.sum())
        digits = frame["without it"].iloc[m].replace("−", "-").replace("±", "").split()[0]
        assert int(digits) == change


def test_above_twelve_members_committees_are_drawn_at_random() -> None:
    figure = summarize(trained(members=13, epochs=1), "members").figures[0]
    assert "of each size all, or 300 drawn at random (seed 0)" in figure.explanation
    figure = summarize(trained(members=4), "members", figure="nll").figures[0]
    assert "All 15 committees that 4 members can form" in figure.explanation
    assert "NLL (what the label's probability costs, in nats) goes from" in figure.explanation
    assert figure.draw(LIGHT).layout.yaxis.title.text == "NLL (nats)"


def test_the_gain_and_cost_of_one_more_member_are_a_table() -> None:
    summary = summarize(trained(members=4, epochs=2, sure=7.0), "members", figure="brier")
    whole = evaluated(4, 7.0)
    mean = committee_means(whole.probabilities.astype(float), whole.labels)
    rows = find_table(summary, "training, about")
    assert rows["members"].tolist()[:5] == ["1", "2", "3", "4", "5 (expected, not measured)"]
    assert rows["training, about"].tolist()[:5] == ["20 s", "40 s", "1 min", "1 min 20 s", "1 min 40 s"]
    assert [float(one) for one in rows["Brier"][:4]] == pytest.approx(mean, rel=0.01)
    for said, change in zip(rows["by the last one"][1:4], np.diff(mean), strict=True):
        assert said.startswith("▲ better by") == (change < 0)
    law = mean[-1] - (mean[0] - mean[-1]) / 0.75 * (1 / 4 - 1 / 8)
    assert float(rows["Brier"].iloc[-1].split(" (")[0]) == pytest.approx(law, rel=0.01)
    assert "This run did not measure how long predicting takes" in summary.to_text()
    assert "only the verdict says whether it is more than chance" in summary.to_text()


def committee_means(probabilities: np.ndarray, labels: np.ndarray) -> list[float]:
    """The mean Brier score over all committees of each size, by loops."""
    M, target = len(probabilities), np.eye(10)[labels]
    by_size: list[list[float]] = [[] for _ in range(M)]
    for mask in range(1, 2**M):
        some = [m for m in range(M) if mask >> m & 1]
        apart = probabilities[some].mean(axis=0) - target
        by_size[len(some) - 1].append(float((apart**2).sum(axis=1).mean()))
    return [float(np.mean(one)) for one in by_size]


def test_predicting_is_timed_by_what_lies_between_the_last_steps_of_an_epoch_and_its_test() -> None:
    """Two members, 500 images, 0.2 s: one member's 1,000 take as long. The first compiles."""
    lines = [
        {"kind": kind, "epoch": epoch, "seconds": seconds}
        for epoch, kind, seconds in (
            (1, "steps", 5.0),
            (1, "epoch", 9.0),
            (2, "steps", 10.0),
            (2, "steps", 12.0),
            (2, "epoch", 12.2),
            (3, "steps", 20.0),
            (3, "epoch", 20.2),
        )
    ]
    assert committee_costs.measure_prediction_time(lines, 2, 500) == pytest.approx(0.2)
    assert committee_costs.measure_prediction_time(lines[:2], 2, 500) is None
    assert committee_costs.measure_prediction_time([{"kind": "epoch", "epoch": 2}] * 3, 2, 500) is None


def test_a_figure_that_got_worse_with_more_members_is_said_to_be() -> None:
    assert committee_costs.describe_size_gain(0.95, 0.949, "accuracy") == "▼ worse by 0.10 points"
    assert committee_costs.describe_size_gain(0.02, 0.025, "ece") == "▼ worse by 0.0050"
    assert committee_costs.describe_size_gain(0.3, 0.25, "nll") == "▲ better by 0.050"
    assert committee_costs.describe_size_gain(0.3, 0.3, "nll") == "nothing"
