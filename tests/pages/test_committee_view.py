"""Inspect's view Committee: what is asked stands in the address, the answer follows it."""

from typing import Any

import numpy as np
import pytest

from ensemble.analysis.members.committees import evaluate_committees
from ensemble.analysis.members.sufficient_size import find_sufficient_size
from ensemble.views import committee as costs
from ensemble.wording.verdicts import committee as words
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import value, widget
from tests.pages.test_inspect_views import answer, figure, made, opened, said


def test_the_committees_figure_is_chosen_in_the_address() -> None:
    at = opened(trained(members=4), "committee")
    assert "All 15 committees that 4 members can form" in said(at)
    assert figure(at, "committee")["layout"]["yaxis"]["title"]["text"] == "accuracy"
    widget(at, "button_group", "address_figure").set_value("nll").run()
    assert value(at, "figure") == "nll"
    assert figure(at, "committee")["layout"]["yaxis"]["title"]["text"] == "NLL (nats)"
    assert "NLL (what the label's probability costs, in nats) goes from" in said(at)


def test_what_a_member_is_worth_is_said_in_digits() -> None:
    at = opened(trained(members=3, sure=7.0), "committee")
    whole = made(3, sure=7.0)
    frame = next(one.value for one in at.dataframe if "without it" in one.value)
    for m in range(3):
        rest = np.delete(whole.probabilities, m, axis=0).astype(float).sum(axis=0)
        change = int((rest.argmax(axis=-1) == whole.labels).sum() - whole.right.sum())
        digits = frame["without it"].iloc[m].replace("−", "-").replace("±", "").split()[0]
        assert int(digits) == change


def test_above_twelve_members_committees_are_drawn_and_that_is_said() -> None:
    at = opened(trained(members=13, epochs=1), "committee")
    assert "of each size all, or 300 drawn at random (seed 0)" in said(at)


def test_the_margin_and_the_share_are_chosen_in_the_address_and_answered_on_top_too() -> None:
    at = opened(trained(members=4, sure=7.0), "committee")
    whole = made(4, sure=7.0)
    judged = evaluate_committees(whole.probabilities, whole.labels)

    def stands(name: str, margin: float | None = None, share: float = 0.95) -> None:
        found = find_sufficient_size(judged, name, margin, share)
        assert answer(at) == words.describe_enough_members(found, "digit")
        assert words.describe_enough_evidence(found, "digit") in said(at)
        assert any("enough" in one["text"] for one in notes(at)) == (found.size < 4)
        on_top = words.describe_enough_members(find_sufficient_size(judged, "accuracy", *of_accuracy), "digit")
        assert on_top in [one.value for one in at.markdown]

    of_accuracy: tuple[float | None, float] = (None, 0.95)
    stands("accuracy")
    widget(at, "select_slider", "committee_margin_accuracy").set_value("5").run()
    widget(at, "select_slider", "committee_share").set_value("50").run()
    assert (value(at, "margin"), value(at, "keep")) == ("5", "50")
    of_accuracy = (0.05, 0.5)
    assert find_sufficient_size(judged, "accuracy", *of_accuracy).size < 4
    stands("accuracy", *of_accuracy)
    widget(at, "button_group", "address_figure").set_value("nll").run()
    stands("nll", None, 0.5)
    assert value(at, "margin") == "5", "each figure has its own"
    widget(at, "button_group", "address_figure").set_value("ece").run()
    assert "not judged by ECE" in answer(at)
    assert "no margin of it can be tested" in said(at)
    assert not any("enough" in one["text"] for one in notes(at))
    assert not at.exception


def notes(at: Any) -> list[dict[str, Any]]:
    return figure(at, "committee")["layout"].get("annotations", [])


def test_what_a_further_member_brings_and_costs_stands_in_a_table() -> None:
    run = trained(members=4, epochs=2, sure=7.0)
    at = opened(run, "committee", figure="brier")
    whole = made(4, sure=7.0)
    mean = committee_means(whole.probabilities.astype(float), whole.labels)
    rows = next(one.value for one in at.dataframe if "training, about" in one.value)
    assert rows["members"].tolist()[:5] == ["1", "2", "3", "4", "5 (expected, not measured)"]
    assert rows["training, about"].tolist()[:5] == ["20 s", "40 s", "1 min", "1 min 20 s", "1 min 40 s"]
    assert [float(one) for one in rows["Brier"][:4]] == pytest.approx(mean, rel=0.01)
    for said_, change in zip(rows["by the last one"][1:4], np.diff(mean), strict=True):
        assert said_.startswith("▲ better by") == (change < 0)
    law = mean[-1] - (mean[0] - mean[-1]) / 0.75 * (1 / 4 - 1 / 8)
    assert float(rows["Brier"].iloc[-1].split(" (")[0]) == pytest.approx(law, rel=0.01)
    assert "This run did not measure how long predicting takes" in said(at)
    assert "only the verdict says whether it is more than chance" in said(at)


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
    assert costs.measure_prediction_time(lines, 2, 500) == pytest.approx(0.2)
    assert costs.measure_prediction_time(lines[:2], 2, 500) is None
    assert costs.measure_prediction_time([{"kind": "epoch", "epoch": 2}] * 3, 2, 500) is None


def test_a_figure_that_got_worse_with_more_members_is_said_to_be() -> None:
    assert costs.describe_size_gain(0.95, 0.949, "accuracy") == "▼ worse by 0.10 points"
    assert costs.describe_size_gain(0.02, 0.025, "ece") == "▼ worse by 0.0050"
    assert costs.describe_size_gain(0.3, 0.25, "nll") == "▲ better by 0.050"
    assert costs.describe_size_gain(0.3, 0.3, "nll") == "nothing"


def committee_means(probabilities: np.ndarray, labels: np.ndarray) -> list[float]:
    """The mean Brier score over all committees of each size, by loops."""
    M, target = len(probabilities), np.eye(10)[labels]
    by_size: list[list[float]] = [[] for _ in range(M)]
    for mask in range(1, 2**M):
        some = [m for m in range(M) if mask >> m & 1]
        apart = probabilities[some].mean(axis=0) - target
        by_size[len(some) - 1].append(float((apart**2).sum(axis=1).mean()))
    return [float(np.mean(one)) for one in by_size]
