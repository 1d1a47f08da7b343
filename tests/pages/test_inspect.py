"""Inspect: the answer, every view, and where there is nothing to inspect."""

import json
import time
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import datasets, runs
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.figures.inspect import confusion
from ensemble.ui.inspect import views
from tests.pages.ensembles import probabilities, trained
from tests.pages.predictions_screen import answer, numbers, opened, value, widget

VIEWS = list(views.VIEWS)


def inspected(run: Any = "", **address: object) -> AppTest:
    """The screen, with no word of a fault on it."""
    at = opened(run, "inspect", **address)
    assert not [one.value for one in at.error if "fault of the program" in one.value]
    return at


def figure(at: AppTest, place: int = 0) -> dict[str, Any]:
    return json.loads(at.get("plotly_chart")[place].proto.spec)


def view_controls(at: AppTest) -> list[Any]:
    """One for each question that views answer."""
    return [one for one in at.get("button_group") if one.key.startswith("address_view")]


def counted(members: int, sure: float) -> tuple[float, float, list[int]]:
    """Digits won and lost by the ensemble, the mean over its members; and what each gets."""
    labels = datasets.load_dataset("digits").test_labels
    made = probabilities("digits", members, 2, sure)
    whole = [int(sum(member[n].astype(float) for member in made).argmax()) == label for n, label in enumerate(labels)]
    won = lost = 0
    each = []
    for member in made:
        hits = [int(row.argmax()) == label for row, label in zip(member, labels, strict=True)]
        won += sum(ours and not theirs for ours, theirs in zip(whole, hits, strict=True))
        lost += sum(theirs and not ours for ours, theirs in zip(whole, hits, strict=True))
        each.append(sum(hits))
    return won / members, lost / members, each


def test_the_answer_is_against_a_member_drawn_at_random_and_counts_what_a_loop_counts() -> None:
    won, lost, each = counted(2, 2.0)
    at = inspected(trained(members=2, sure=2.0))
    said = f"The ensemble gets {round(won - lost)} more digits right than its members do on average."
    assert answer(at) == f"#### {said}"
    evidence = next(one.value for one in at.caption if one.value.startswith("Against an average member ("))
    assert f"{won:.1f} digits corrected, {lost:.1f} spoilt, +{won - lost:.1f} digits" in evidence
    assert f"The best single member gets {max(each)}" in evidence
    assert "it was picked on these very digits: nobody knows beforehand which it is" in evidence
    assert evidence.count("Intervals hold for these trained members on new images") == 1


def test_an_epoch_picked_by_hand_is_said_to_be_a_choice() -> None:
    run = trained(members=2, epochs=2)
    choice = "Epoch 1 of 2 is your choice: if these test images led you to it, expect less"
    for epoch, said in ((1, True), (2, False)):
        told = " ".join(one.value for one in inspected(run, epoch=epoch).caption)
        assert (choice in told) == said


def test_what_500_digits_cannot_show_is_not_called_the_same() -> None:
    at = inspected(trained(sure=12.0))
    assert answer(at) == "#### These 500 digits show no gain in accuracy over the average member."
    assert any("is possible" in one.value for one in at.caption)


def test_runs_that_differ_in_the_seed_alone_tell_how_far_seeds_lie_apart() -> None:
    figures = [(0.9, 0.30), (0.93, 0.25), (0.96, 0.2)]
    for seed, (accuracy, nll) in enumerate(figures):
        run = trained(ensemble_test_accuracy=accuracy, ensemble_test_nll=nll, seed=seed)
    at = inspected(run)
    assert any("3 runs that differ in the seed alone get 93.0 %" in one.value for one in at.caption)


def test_an_ensemble_that_is_worse_calibrated_than_its_members_is_marked_and_said() -> None:
    run = trained(members=16, epochs=1)
    labels = datasets.load_dataset("digits").test_labels
    in_turn = np.full((16, 500, 10), np.float32(0.1 / 9))
    for member, its in enumerate(in_turn):  # each errs at other images, at 1 of 16
        said = np.where(np.arange(500) % 16 == member, (labels + 1) % 10, labels)
        its[np.arange(500), said] = 0.9
    runs.history.write_predictions(run.path, 1, in_turn)
    at = inspected(run)
    ece = next(one for one in at.metric if one.label == "ECE")
    assert ece.delta.startswith("worse, higher than the average member's 0.")
    assert ece.proto.color == ece.proto.MetricColor.ORANGE
    assert any("averaging 16 members makes it less sure than it is right" in one.value for one in at.caption)
    gain = next(one for one in at.metric if one.label == "Over the average member")
    assert gain.delta.startswith("better, +")
    assert gain.proto.color == gain.proto.MetricColor.BLUE


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens(view: str, members: int) -> None:
    at = inspected(trained(members=members, epochs=2, sure=2.0), view=view, epoch=1)
    assert "one member" in answer(at).lower() if members == 1 else "average" in answer(at)
    assert [one.value for one in view_controls(at) if one.value] == [view]


def test_one_member_is_told_in_a_sentence() -> None:
    at = inspected(trained(members=1))
    assert answer(at).startswith("#### One member alone: there is no ensemble to compare it with.")
    assert any("another seed may differ" in one.value for one in at.caption)
    assert "nobody to agree or disagree" in at.info[0].value


def test_many_members_stay_quick_and_unanimous_ones_gain_nothing() -> None:
    run = trained(members=16, epochs=1)
    alike = probabilities("digits", 1, 1, 4.0).repeat(16, axis=0)
    runs.history.write_predictions(run.path, 1, alike)
    at = inspected(run)
    assert "the same answer on every digit" in answer(at)
    assert any("Committee tells how many members are enough." in one.value for one in at.markdown)
    assert at.get("plotly_chart")
    assert not numbers_shown(at)


def numbers_shown(at: AppTest) -> list[int]:
    return numbers(at) if at.get("bidi_component") else []


def test_figures_stand_beside_the_mean_members_and_in_a_table() -> None:
    at = inspected(trained())
    made = evaluate_predictions(probabilities("digits", 3, 2, 4.0), datasets.load_dataset("digits").test_labels)
    table = at.dataframe[0].value
    assert table["who"].tolist() == ["ensemble", "mean member", *(f"member {m}" for m in (1, 2, 3))]
    shares = 100 * (made.votes == made.labels).mean(axis=1)
    np.testing.assert_allclose(table["accuracy"][2:], shares)
    np.testing.assert_allclose(table["accuracy"][1], shares.mean())
    label, gain = at.metric[1].label, at.metric[1].value
    more = 500 * (made.right.mean() - shares.mean() / 100)
    assert (label, gain) == ("Over the average member", f"+{round(more)} digits")


def test_the_epoch_is_in_the_address_and_what_belongs_to_a_view_leaves_with_it() -> None:
    at = inspected(trained(), view="agreement", measure="q", list="minority", epoch=1)
    assert widget(at, "select_slider", "digits_epoch").value == 1
    assert figure(at)["layout"]["title"]["text"] == "Q-statistic"
    widget(at, "button_group", "address_view_1").set_value("uncertainty").run()
    assert [value(at, name) for name in ("view", "epoch", "measure", "list")] == ["uncertainty", "1", None, None]


def test_a_view_pressed_again_stays_with_what_was_chosen_in_it() -> None:
    at = inspected(trained(), view="uncertainty", picture="confusion")
    widget(at, "button_group", "address_view_1").set_value(None).run()
    assert [one.value for one in view_controls(at)] == [None, "uncertainty", None]
    assert [value(at, name) for name in ("view", "picture")] == ["uncertainty", "confusion"]


def test_the_members_who_swing_a_verdict_are_listed() -> None:
    at = inspected(trained(sure=2.0), list="swing", voter=2)
    made = evaluate_predictions(probabilities("digits", 3, 2, 2.0), datasets.load_dataset("digits").test_labels)
    without = (made.probabilities[0].astype(float) + made.probabilities[2]).argmax(axis=1)
    swung = np.flatnonzero(without != made.said)
    assert len(swung)
    assert set(numbers(at)) <= set(swung.tolist())
    assert len(numbers(at)) == min(len(swung), 36)


def test_the_confusion_matrix_counts_and_its_cell_lists_its_digits() -> None:
    made = evaluate_predictions(probabilities("digits", 3, 2, 1.0), datasets.load_dataset("digits").test_labels)
    matrix = confusion.compute_confusion_matrix(made)
    assert matrix.sum() == 500
    is_, said = np.argwhere((matrix > 2) & ~np.eye(10, dtype=bool))[0]
    at = inspected(trained(sure=1.0), view="uncertainty", picture="confusion", cell=f"{is_}-{said}")
    expected = np.flatnonzero((made.labels == is_) & (made.said == said))
    assert sorted(numbers(at)) == expected.tolist()
    assert len(expected) == matrix[is_, said]
    chart = figure(at)["data"][0]
    assert chart["text"][10 * is_ + said] == str(len(expected))


def test_every_mistake_is_drawn_in_the_scatter_and_the_sure_are_thinned() -> None:
    at = inspected(trained(sure=2.0), view="uncertainty")
    made = evaluate_predictions(probabilities("digits", 3, 2, 2.0), datasets.load_dataset("digits").test_labels)
    right, wrong = figure(at)["data"]
    assert wrong["name"] == f"wrong {int((~made.right).sum())}"
    drawn = [int(facts[0]) for facts in wrong["customdata"]]
    assert drawn == np.flatnonzero(~made.right).tolist()
    assert len(right["customdata"]) == int(made.right.sum()), "few enough to draw them all"


def test_an_unfinished_run_shows_what_there_is_and_goes_on() -> None:
    at = inspected(trained(epochs=3, done=1, state="queued", working=True))
    assert "2 epochs to come" in widget(at, "button", "newer").label
    assert "average member" in answer(at)


def test_an_epoch_that_there_is_not_is_named() -> None:
    run = trained(epochs=3)
    (run.path / "predictions" / "epoch-0002.npz").unlink()
    at = inspected(run, epoch=2)
    assert any("no predictions of epoch 2; these are epoch 3" in one.value for one in at.caption)


def test_no_runs_lead_to_training() -> None:
    assert "what an ensemble knows" in inspected().subheader[0].value


def test_a_run_without_an_epoch_waits_for_one() -> None:
    at = inspected(trained(done=0, state="queued", updated=time.time()))
    assert "after the first epoch" in at.info[0].value


def test_a_bad_link_gives_a_sentence_and_the_way_on() -> None:
    trained()
    at = inspected("nonsense", view="nonsense")
    assert "There is no run “nonsense”" in at.warning[0].value


@pytest.mark.parametrize(
    "words",
    [
        {"view": "x", "epoch": "-1", "digit": "99999"},
        {"view": "uncertainty", "picture": "confusion", "cell": "77-1"},
        {"view": "uncertainty", "picture": "confusion", "cell": "../.."},
        {"view": "agreement", "measure": "x", "list": "swing", "voter": "99"},
    ],
)
def test_words_in_the_address_that_make_no_sense_are_left_out(words: dict[str, str]) -> None:
    at = inspected(trained(), **words)
    assert not at.error
    assert not at.get("dialog")


def test_images_that_are_gone_can_be_fetched() -> None:
    run = trained(epochs=1)
    config = json.loads((run.path / "config.json").read_text())
    config["settings"]["dataset"] = "kmnist"
    (run.path / "config.json").write_text(json.dumps(config))
    assert "not on this machine any more" in inspected(runs.find_run(run.id)).warning[0].value


def test_an_address_may_name_a_view_as_the_command_does_and_an_unknown_one_is_said() -> None:
    run = trained(members=3)
    at = inspected(run, view="conformal")
    assert [value(at, name) for name in ("view", "mode")] == ["selective", "sets"]
    assert not any("which there is not" in str(one.value) for one in at.caption)
    at = inspected(run, view="nothing*[x](y)")
    [said] = [str(one.value) for one in at.caption if "which there is not" in str(one.value)]
    assert said.endswith(": this is Agreement.")
    assert "[x](y)" not in said
