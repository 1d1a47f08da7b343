"""Inspect: the answer, every view, and where there is nothing to inspect."""

import contextlib
import json
import time
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import datasets, runs
from ensemble.ui.inspect import shared_epoch
from ensemble.views import confusion
from tests.pages.ensembles import evaluated, probabilities, trained
from tests.pages.predictions_screen import answer, numbers, opened, value, widget
from tests.views.summaries import summarize


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


def test_a_wait_for_many_probabilities_of_all_epochs_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[str] = []

    def spin(text: str, **options: Any) -> contextlib.nullcontext[None]:
        waits.append(text)
        return contextlib.nullcontext()

    monkeypatch.setattr(shared_epoch.st, "spinner", spin)
    for most, seed in ((2 * 3 * 500 * 10, 11), (2 * 3 * 500 * 10 - 1, 12)):
        monkeypatch.setattr(shared_epoch, "MANY_PROBABILITIES", most)
        inspected(trained(members=3, seed=seed), view="agreement", picture="map")
    assert [text for text in waits if "million" in text] == ["Computing with 0 million probabilities …"]


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


def test_many_members_stay_quick_and_unanimous_ones_gain_nothing() -> None:
    run = trained(members=16, epochs=1)
    alike = probabilities("digits", 1, 1, 4.0).repeat(16, axis=0)
    runs.history.write_predictions(run.path, 1, alike)
    at = inspected(run)
    assert "the same answer on every digit" in answer(at)
    assert any("See *How many members?* for how many are enough." in one.value for one in at.markdown)
    assert at.get("plotly_chart")
    assert not numbers_shown(at)


def numbers_shown(at: AppTest) -> list[int]:
    return numbers(at) if at.get("bidi_component") else []


def test_the_answer_is_on_top_and_figures_are_next_to_those_of_the_mean_member() -> None:
    run = trained()
    at = inspected(run)
    assert answer(at) == f"#### {summarize(run, 'answer').answer}"
    made = evaluated(3, 4.0)
    table = at.dataframe[0].value
    assert table["who"].tolist() == ["ensemble", "mean member", *(f"member {m}" for m in (1, 2, 3))]
    shares = 100 * (made.votes == made.labels).mean(axis=1)
    np.testing.assert_allclose(table["accuracy"][2:], shares)
    np.testing.assert_allclose(table["accuracy"][1], shares.mean())
    label, gain = at.metric[1].label, at.metric[1].value
    more = 500 * (made.right.mean() - shares.mean() / 100)
    assert (label, gain) == ("Over the average member", f"+{round(more)} digits")
    offered = [word for one in at.segmented_control for word in one.options]
    assert "Agreement" in offered
    assert "Against its teacher" not in offered, "it has none"
    ece = next(one for one in at.metric if one.label == "ECE")
    assert "A perfectly calibrated ensemble would show " in ece.help


def test_one_member_is_shown_without_an_ensemble() -> None:
    run = trained(members=1)
    at = inspected(run)
    assert answer(at) == f"#### {summarize(run, 'answer').answer}"
    assert "nobody to agree or disagree" in at.info[0].value
    at.query_params["view"] = "uncertainty"
    at.run()
    assert not at.exception
    shown = " ".join(str(one.value) for one in (*at.markdown, *at.caption))
    for name in ("uncertainty", "confusion", "labels"):
        assert summarize(run, name).answer in shown
    assert len(at.get("plotly_chart")) == 1, "the confusion matrix"


def test_what_belongs_to_a_view_stays_when_it_is_pressed_again_and_leaves_with_it() -> None:
    at = inspected(trained(), view="agreement", measure="q", list="minority", epoch=1)
    assert widget(at, "select_slider", "digits_epoch").value == 1
    assert figure(at)["layout"]["title"]["text"] == "Q-statistic"
    choice = "Epoch 1 of 2 is your choice: if these test images led you to it, expect less"
    assert any(choice in one.value for one in at.caption)
    widget(at, "button_group", "address_view_0").set_value(None).run()
    assert [one.value for one in view_controls(at)] == ["agreement", None, None]
    assert [value(at, name) for name in ("view", "measure", "list")] == ["agreement", "q", "minority"]
    widget(at, "button_group", "address_view_1").set_value("uncertainty").run()
    assert [value(at, name) for name in ("view", "epoch", "measure", "list")] == ["uncertainty", "1", None, None]


def test_the_confusion_matrix_counts_and_its_cell_lists_its_digits() -> None:
    made = evaluated(3, 1.0)
    matrix = confusion.compute_confusion_matrix(made)
    assert matrix.sum() == 500
    is_, said = np.argwhere((matrix > 2) & ~np.eye(10, dtype=bool))[0]
    at = inspected(trained(sure=1.0), view="uncertainty", picture="confusion", cell=f"{is_}-{said}")
    expected = np.flatnonzero((made.labels == is_) & (made.said == said))
    assert sorted(numbers(at)) == expected.tolist()
    assert len(expected) == matrix[is_, said]
    chart = figure(at)["data"][0]
    assert chart["text"][10 * is_ + said] == str(len(expected))


def test_an_unfinished_run_shows_what_there_is_and_goes_on() -> None:
    at = inspected(trained(epochs=3, done=1, state="queued", working=True))
    assert "2 epochs to come" in widget(at, "button", "newer").label
    assert "average member" in answer(at)


def test_an_epoch_that_there_is_not_is_named() -> None:
    run = trained(epochs=3)
    (run.path / "predictions" / "epoch-0002.npz").unlink()
    at = inspected(run, epoch=2)
    assert any("no predictions of epoch 2; these are epoch 3" in one.value for one in at.caption)


def test_a_run_without_an_epoch_waits_for_one() -> None:
    at = inspected(trained(done=0, state="queued", updated=time.time()))
    assert "after the first epoch" in at.info[0].value


def test_a_bad_link_gives_a_sentence_and_the_way_on() -> None:
    trained()
    at = inspected("nonsense", view="nonsense")
    assert "There is no run “nonsense”" in at.warning[0].value


def test_images_that_are_gone_can_be_fetched() -> None:
    run = trained(epochs=1)
    config = json.loads((run.path / "config.json").read_text())
    config["settings"]["dataset"] = "kmnist"
    (run.path / "config.json").write_text(json.dumps(config))
    assert "not on this machine any more" in inspected(runs.find_run(run.id)).warning[0].value


def test_an_address_may_name_a_view_as_the_command_does_and_an_unknown_one_is_said() -> None:
    run = trained(members=3)
    at = inspected(run, view="conformal")
    assert [value(at, name) for name in ("view", "picture")] == ["selective", "conformal"]
    assert not any("which there is not" in str(one.value) for one in at.caption)
    at = inspected(run, view="nothing*[x](y)")
    [said] = [str(one.value) for one in at.caption if "which there is not" in str(one.value)]
    assert said.endswith(": this is Agreement.")
    assert "[x](y)" not in said


def test_words_in_the_address_that_make_no_sense_are_left_out() -> None:
    run = trained()
    for words in (
        {"view": "uncertainty", "picture": "confusion", "cell": "77-1", "epoch": "-1", "digit": "99999"},
        {"view": "agreement", "measure": "x", "list": "swing", "voter": "99"},
    ):
        at = inspected(run, **words)
        assert not at.error
        assert not at.get("dialog")
