"""Predictions where there is nothing to show yet, any more, or under that address."""

import json
import time

import numpy as np
import pytest

from ensemble import runs
from tests.pages.ensembles import probabilities, trained
from tests.pages.predictions_screen import answer, numbers, opened, tiles, value, widget


def test_no_runs_lead_to_training() -> None:
    at = opened()
    assert "where the members of an ensemble agree" in at.subheader[0].value
    assert at.get("page_link")[0].proto.page == "train"


@pytest.mark.parametrize(
    "address",
    [
        {"epoch": "99", "digit": "99999"},
        {"epoch": "-1", "show": "nothing", "class_": "77", "order": "x", "first": "1e9"},
        {"first": "99999999", "digit": "../../etc"},
        {"class_": "٣", "epoch": "1" * 400},
    ],
)
def test_an_address_that_makes_no_sense_is_left_out(address: dict[str, str]) -> None:
    at = opened(trained(), **address)
    assert tiles(at)
    assert not at.error
    assert not at.get("dialog")


def test_an_epoch_that_there_is_not_is_named() -> None:
    at = opened(trained(), epoch=9)
    assert any("no predictions of epoch 9; these are epoch 2" in one.value for one in at.caption)


def test_a_run_that_there_is_not_gives_a_sentence_and_the_way_on() -> None:
    run = trained()
    at = opened("nonsense")
    assert "There is no run “nonsense”" in at.warning[0].value
    at.button[0].click().run()
    assert value(at, "run") == run.id
    assert tiles(at)


@pytest.mark.parametrize("state", ["stopped", "failed", "diverged"])
def test_a_run_without_an_epoch_says_so(state: str) -> None:
    at = opened(trained(done=0, state=state))
    assert f"is {state} and has no predictions" in at.info[0].value
    assert at.get("page_link")


def test_a_run_that_is_at_it_will_show_them_by_itself() -> None:
    at = opened(trained(done=0, state="queued", updated=time.time()))
    assert "after the first epoch" in at.info[0].value


def test_a_new_epoch_is_offered_and_not_forced_on_what_is_looked_at() -> None:
    run = trained(epochs=3, done=1, state="queued", working=True)
    at = opened(run)
    assert "2 epochs to come" in widget(at, "button", "newer").label
    assert widget(at, "button", "newer").disabled
    runs.history.write_predictions(run.path, 2, probabilities("digits", 3, 2, 4.0))
    before = numbers(at)
    at.run()
    assert numbers(at) == before
    widget(at, "button", "newer").click().run()
    assert numbers(at) != before
    assert widget(at, "select_slider", "digits_epoch").value == 2


def test_the_screen_opened_anew_shows_the_last_epoch() -> None:
    run = trained(epochs=3, done=1, state="queued", working=True)
    at = opened(run)
    runs.history.write_predictions(run.path, 2, probabilities("digits", 3, 2, 4.0))
    at.switch_page("pages/runs.py").run()
    at.switch_page("pages/predictions.py").run()
    assert widget(at, "select_slider", "digits_epoch").value == 2


def test_a_run_that_one_comes_back_to_shows_its_last_epoch() -> None:
    run = trained(epochs=3, done=1, state="queued", working=True)
    other = trained(epochs=3, done=0, state="queued", working=True)
    at = opened(run)
    at.query_params["run"] = other.id
    assert not at.run().get("bidi_component")
    runs.history.write_predictions(run.path, 2, probabilities("digits", 3, 2, 4.0))
    at.query_params["run"] = run.id
    assert widget(at.run(), "select_slider", "digits_epoch").value == 2


def test_a_dataset_that_is_gone_can_be_fetched() -> None:
    run = trained(epochs=1)
    config = json.loads((run.path / "config.json").read_text())
    config["settings"]["dataset"] = "kmnist"
    (run.path / "config.json").write_text(json.dumps(config))
    at = opened(runs.find_run(run.id))
    assert "not on this machine any more" in at.warning[0].value
    assert widget(at, "button", "fetch_kmnist")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn", b"no archive", None])
def test_a_damaged_file_gives_a_sentence_and_the_other_epochs(content: bytes | None) -> None:
    run = trained()
    path = run.path / "predictions" / "epoch-0002.npz"
    path.write_bytes(path.read_bytes()[:-2000] if content is None else content)
    at = opened(run)
    assert "damaged" in at.error[0].value
    widget(at, "select_slider", "digits_epoch").set_value(1).run()
    assert tiles(at)
    assert not at.error


def test_predictions_of_another_size_are_refused() -> None:
    run = trained(epochs=1)
    runs.history.write_predictions(run.path, 1, np.full((2, 499, 10), 0.1))
    assert "not (3, 500, 10)" in opened(run).error[0].value


def test_a_file_that_changes_is_read_anew() -> None:
    run = trained(epochs=1)
    before = answer(opened(run))
    runs.history.write_predictions(run.path, 1, probabilities("digits", 3, 1, 60.0))
    assert answer(opened(run)) != before
    assert "500 of 500" in answer(opened(run))
