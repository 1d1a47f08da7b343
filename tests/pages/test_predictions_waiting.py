"""Predictions where there is nothing to show yet, any more, or under that address."""

import json

import numpy as np

from ensemble import runs
from tests.pages.ensembles import probabilities, trained
from tests.pages.predictions_screen import answer, numbers, opened, tiles, value, widget


def test_no_runs_lead_to_training() -> None:
    at = opened()
    assert "where the members of an ensemble agree" in at.subheader[0].value
    assert at.get("page_link")[0].proto.page == "train"


def test_an_address_that_makes_no_sense_is_left_out() -> None:
    at = opened(trained(), epoch="9")
    assert any("no predictions of epoch 9; these are epoch 2" in one.value for one in at.caption)
    for address in (
        {"epoch": "99", "digit": "99999"},
        {"epoch": "-1", "show": "nothing", "class": "77", "order": "x", "first": "1e9"},
        {"first": "99999999", "digit": "../../etc"},
        {"class": "٣", "epoch": "1" * 400},
    ):
        run = at.query_params["run"]
        at.query_params.clear()
        at.query_params["run"] = run
        for name, word in address.items():
            at.query_params[name] = word
        assert not at.run().exception
        assert tiles(at)
        assert not at.error
        assert not at.get("dialog")


def test_a_run_that_there_is_not_gives_a_sentence_and_the_way_on() -> None:
    run = trained()
    at = opened("nonsense")
    assert "There is no run “nonsense”" in at.warning[0].value
    at.button[0].click().run()
    assert value(at, "run") == run.id
    assert tiles(at)


def test_a_run_without_an_epoch_says_so_and_where_to_look() -> None:
    ended = {state: trained(done=0, state=state) for state in ("stopped", "failed", "diverged")}
    training = trained(done=0, state="training", working=True)
    at = opened(ended["stopped"])
    for state, run in ended.items():
        at.query_params["run"] = run.id
        at.run()
        assert f"is {state} and has no predictions" in at.info[0].value
        assert at.get("page_link")[-1].proto.label == "See what happened"
    at.query_params["run"] = training.id
    at.run()
    assert "after the first epoch" in at.info[0].value
    assert at.get("page_link")[-1].proto.label == "See how it goes"


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


def test_a_reopened_screen_shows_the_last_epoch() -> None:
    run = trained(epochs=4, done=1, state="queued", working=True)
    other = trained(epochs=3, done=0, state="queued", working=True)
    at = opened(run)
    runs.history.write_predictions(run.path, 2, probabilities("digits", 3, 2, 4.0))
    at.switch_page("pages/runs.py").run()
    at.switch_page("pages/predictions.py").run()
    assert widget(at, "select_slider", "digits_epoch").value == 2
    at.query_params["run"] = other.id
    assert not at.run().get("bidi_component")
    runs.history.write_predictions(run.path, 3, probabilities("digits", 3, 3, 4.0))
    at.query_params["run"] = run.id
    assert widget(at.run(), "select_slider", "digits_epoch").value == 3


def test_a_dataset_that_is_gone_can_be_fetched() -> None:
    run = trained(epochs=1)
    config = json.loads((run.path / "config.json").read_text())
    config["settings"]["dataset"] = "kmnist"
    (run.path / "config.json").write_text(json.dumps(config))
    at = opened(runs.find_run(run.id))
    assert "not on this machine any more" in at.warning[0].value
    assert widget(at, "button", "fetch_kmnist")


def test_a_damaged_file_gives_a_sentence_and_the_other_epochs() -> None:
    run = trained()
    path = run.path / "predictions" / "epoch-0002.npz"
    whole = path.read_bytes()
    at = opened(run)
    for content in (b"", b"PK\x03\x04 torn", b"no archive", whole[:-2000]):
        path.write_bytes(content)
        at.run()
        assert "damaged" in at.error[0].value
    widget(at, "select_slider", "digits_epoch").set_value(1).run()
    assert tiles(at)
    assert not at.error


def test_a_changed_file_is_read_again_and_refused_if_its_size_differs() -> None:
    run = trained(epochs=1)
    at = opened(run)
    before = answer(at)
    runs.history.write_predictions(run.path, 1, probabilities("digits", 3, 1, 60.0))
    assert answer(at.run()) != before
    assert "500 of 500" in answer(at)
    runs.history.write_predictions(run.path, 1, np.full((2, 499, 10), 0.1))
    assert "not (3, 500, 10)" in at.run().error[0].value
