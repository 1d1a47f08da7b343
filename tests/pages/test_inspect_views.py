import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import datasets
from ensemble.analysis.members.combining import geometric_mean_probabilities
from ensemble.analysis.members.gain import mcnemar_p_value
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.averaging import most_likely_classes
from ensemble.analysis.quality.halves import split_halves
from ensemble.runs import Run
from ensemble.ui.shared import loaders
from tests.conftest import variant
from tests.pages.ensembles import probabilities, trained
from tests.pages.predictions_screen import value, widget

APP = Path(__file__).parents[2] / "app.py"
VIEWS = ("calibration", "committee", "combining", "selective", "compare")


def opened(run: Run, view: str, **address: object) -> AppTest:
    loaders.forget_runs()  # those of an earlier test
    at = AppTest.from_file(str(APP), default_timeout=240)
    for name, word in {"run": run.id, "view": view, **address}.items():
        at.query_params[name.rstrip("_")] = str(word)
    at.switch_page("pages/inspect.py").run()
    assert not at.exception
    return at


def answer(at: AppTest) -> str:
    """The view's own sentence."""
    return next(one.value for one in at.markdown if one.value.startswith("##### "))[6:]


def said(at: AppTest) -> str:
    """All that stands on the screen."""
    return " ".join(str(one.value) for one in (*at.markdown, *at.caption, *at.info))


def figure(at: AppTest, key: str) -> dict[str, Any]:
    return json.loads(next(one for one in at.get("plotly_chart") if key in one.proto.id).proto.spec)


def tiles(at: AppTest) -> list[dict[str, Any]]:
    return json.loads(at.get("bidi_component")[0].proto.json)["tiles"]


def made(members: int, epoch: int = 2, sure: float = 4.0) -> EnsemblePredictions:
    return evaluate_predictions(
        probabilities("digits", members, epoch, sure), datasets.load_dataset("digits").test_labels
    )


@pytest.mark.parametrize("members", [1, 3, 10])
def test_every_view_draws_one_picture_or_says_why_not(members: int) -> None:
    other = trained(members=2, name="the other")
    run = trained(members=members)
    alone = {"committee": "One member is no committee", "combining": "One member has nothing to"}
    at = opened(run, "calibration", **{"with": other.id})
    for view in VIEWS:
        at.query_params["view"] = view
        at.run()
        assert not at.exception, view
        assert not at.error, view
        if members == 1 and view in alone:
            assert alone[view] in said(at)
            assert not at.get("plotly_chart")
        else:
            assert answer(at)
            assert len(at.get("plotly_chart")) == 1
            assert any("CSV" in one.label for one in at.get("download_button"))


# Above twelve members committees are drawn.
@pytest.mark.long_cases
@pytest.mark.parametrize("members", [2, 16, variant(64)])
def test_unanimous_perfect_and_very_many_members_are_no_trouble(members: int) -> None:
    trained(epochs=1, members=members, sure=60.0)
    at = opened(trained(epochs=1, members=members, sure=60.0), "calibration")
    for view in VIEWS:
        at.query_params["view"] = view
        at.run()
        assert not at.exception, view
        assert not at.error, view
        if view == "committee":
            assert answer(at).startswith(f"Too few test digits to say whether {members - 1} of {members} members")
        if view == "combining":
            assert answer(at) == "All four ways of combining get the same of 250 digits right."
        if view == "selective":
            assert answer(at).startswith("Answering every digit, the ensemble is wrong on 0 of these")
        if view == "compare":
            assert answer(at) == "Both get the same digits right."


def test_calibration_judges_all_answers_and_says_what_chance_gives() -> None:
    whole = made(3, sure=9.0)
    z = (whole.right - whole.confidence).sum() / np.sqrt((whole.confidence * (1 - whole.confidence)).sum())
    assert abs(z) > 4
    at = opened(trained(sure=9.0), "calibration")
    assert answer(at).startswith("Less sure than" if z > 0 else "Surer than")
    assert f"{100 * whole.right.mean():.1f} % right" in answer(at)
    assert f"z = {abs(z):.1f}".replace("= -", "= −") in said(at).replace("= −", "= ")
    assert "A perfectly calibrated ensemble would show " in said(at)
    table = next(one.value for one in at.dataframe if "as it is" in one.value)
    assert table["as it is"].iloc[0] == "1.00"
    assert "judged on the other 250" in said(at)
    ece = next(one for one in at.metric if one.label == "ECE")
    assert "A perfectly calibrated ensemble would show " in ece.help


def test_images_whose_verdict_changes_stand_with_what_each_rule_says() -> None:
    whole = made(3, sure=7.0)
    by_logs = most_likely_classes(geometric_mean_probabilities(whole.probabilities))
    at = opened(trained(sure=7.0), "combining")
    widget(at, "button_group", "address_rule").set_value("geometric").run()
    assert value(at, "rule") == "geometric"
    expected = {n for n in range(500) if by_logs[n] != whole.said[n]}
    assert 0 < len(expected) <= 36
    assert {tile["number"] for tile in tiles(at)} == expected
    for tile in tiles(at):
        assert tile["votes"][0][0] == f"geometric {by_logs[tile['number']]}"


def test_selective_counts_on_the_half_that_the_threshold_was_not_found_on() -> None:
    whole = made(3, sure=9.0)
    fitted, judged = split_halves(whole.labels)
    at = opened(trained(sure=9.0), "selective", error="2")

    def counted(rate: float) -> tuple[float, str]:
        best = np.inf
        for threshold in whole.confidence[fitted]:
            kept = fitted & (whole.confidence >= threshold)
            if (kept & ~whole.right).sum() <= rate * kept.sum():
                best = min(best, threshold)
        kept = judged & (whole.confidence >= best)
        wrong = int((kept & ~whole.right).sum())
        return 100 * kept.sum() / judged.sum(), f"{wrong} of these {kept.sum()}, "

    for word in ("2", "10"):
        if word != "2":
            widget(at, "select_slider", "selective_rate").set_value(word).run()
        share, wrong = counted(float(word) / 100)
        assert f"answers {share:.1f} % of the digits and is wrong on {wrong}" in answer(at)
        assert value(at, "error") == word


def test_two_runs_are_compared_digit_by_digit() -> None:
    other = trained(members=2, epochs=1, sure=7.0, name="the other")
    at = opened(trained(sure=10.0), "compare")
    ours, theirs = made(3, sure=10.0), made(2, epoch=1, sure=7.0)
    won = np.flatnonzero(ours.right & ~theirs.right)
    lost = np.flatnonzero(theirs.right & ~ours.right)
    assert mcnemar_p_value(len(won), len(lost)) < 0.001
    more = len(won) - len(lost)
    assert answer(at) == f"Of these two, this run gets {more} more digits right than the other."
    assert (f"{len(won)} right only in this run, {len(lost)} only in the other, p\xa0<\xa00.001") in said(at)
    assert value(at, "with") == other.id
    surest = sorted(won, key=lambda n: -ours.confidence[n])
    assert [tile["number"] for tile in tiles(at)] == surest[:36]
    widget(at, "button_group", "address_side").set_value("lost").run()
    shown = {tile["number"]: tile["votes"][0][0] for tile in tiles(at)}
    assert list(shown) == sorted(lost, key=lambda n: -ours.confidence[n])[:36]
    assert all(said == f"other {theirs.labels[number]}" for number, said in shown.items())
    widget(at, "button_group", "address_side").set_value("settings").run()
    frame = next(one.value for one in at.dataframe if "setting" in one.value)
    assert frame.to_dict("records") == [
        {"setting": "Members", "this run": "3", "the other": "2"},
        {"setting": "Epochs", "this run": "2", "the other": "1"},
    ]


def test_the_other_runs_epoch_is_chosen_in_the_address() -> None:
    other = trained(members=2, sure=3.0)
    run = trained(sure=3.0)
    at = opened(run, "compare", **{"with": other.id})
    last = answer(at)
    widget(at, "select_slider", "compare_epoch").set_value(1).run()
    assert value(at, "with_epoch") == "1"
    ours, theirs = made(3, sure=3.0), made(2, epoch=1, sure=3.0)
    won = int((ours.right & ~theirs.right).sum())
    assert f"{won} right only in this run" in said(at)
    assert answer(at) != last
    again = opened(run, "compare", **{"with": other.id, "with_epoch": 1})
    assert answer(again) == answer(at)


def test_all_runs_are_compared_at_once_when_asked_for() -> None:
    trained(members=2, epochs=1, sure=7.0, name="the worse")
    broken = trained(epochs=1, sure=3.0)
    (broken.path / "predictions" / "epoch-0001.npz").write_bytes(b"PK\x03\x04 no archive")
    again = trained(sure=10.0, name="the twin")
    at = opened(trained(sure=10.0), "compare", side="all", **{"with": again.id})
    frame = next(one.value for one in at.dataframe if "against" in one.value)
    assert frame["against"].tolist() == ["the twin", "the worse"]
    assert frame["this run"].tolist() == ["not shown", "better: more right"]
    assert "adjusted for all 4 tests" in said(at)
    assert "predictions of 1 run cannot be read" in said(at)
    assert "With 3 runs to compare with" in said(at)


def test_with_nothing_to_compare_with_one_sentence_says_so() -> None:
    run = trained()
    trained(done=0, epochs=1, state="stopped")  # has no predictions
    at = opened(run, "compare", **{"with": run.id})
    assert "There is no other run on Digits with predictions" in said(at)
    assert not at.get("plotly_chart")


def test_a_run_is_not_compared_with_itself() -> None:
    run = trained()
    other = trained(members=2)
    at = opened(run, "compare", **{"with": run.id})
    assert "That is this same run" in said(at)
    assert value(at, "with") == other.id


def test_another_run_whose_predictions_are_damaged_is_said_in_a_sentence() -> None:
    other = trained(epochs=1)
    (other.path / "predictions" / "epoch-0001.npz").write_bytes(b"PK\x03\x04 no archive")
    at = opened(trained(), "compare")
    assert "are damaged" in at.error[0].value
    assert widget(at, "selectbox", "compare_with").value == other.id
