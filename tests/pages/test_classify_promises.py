"""Beside a verdict on Classify: the set it may be, of whom that is a promise, and what passes."""

from typing import Any

import numpy as np
import pytest

from ensemble import datasets
from ensemble.analysis.quality.conformal import fit_conformal_threshold
from ensemble.runs import Run
from ensemble.ui.classify.answer import false_accept_rate
from ensemble.ui.classify.input import classifier_loader
from tests.pages.ensembles import held_out
from tests.pages.members import askable
from tests.pages.predictions_screen import opened, value, widget
from tests.pages.test_classify import digit, hand_in, png, words
from tests.pages.test_sets import made


@pytest.fixture(scope="module")
def run_of_this_file(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(folder))
        return {"folder": folder, "run": askable(sure=7.0)}


@pytest.fixture
def run(run_of_this_file: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(run_of_this_file["folder"]))
    return run_of_this_file["run"]


def read_one(run: Run) -> tuple[int, Any]:
    """A test digit that the members accept, and what they say of it."""
    said = classifier_loader.wait_for_classifier(run, 2).read_images(datasets.load_dataset("digits").test_images[:100])
    return next((n, one) for n, one in enumerate(said.digits) if not one.rejected)


def test_a_read_digit_has_its_set_at_the_rate_in_the_address_and_no_promise(run: Run) -> None:
    number, one = read_one(run)
    at = opened(run, "classify", detail="neighbours", miss="20", sets="lac")
    at = hand_in(at, ("a.png", png(digit(number))))
    whole = made(7.0, members=2)
    for word in ("20", "1"):
        if word != "20":
            widget(at, "select_slider", "classify_sets_miss").set_value(word).run()
            assert value(at, "miss") == "1"
        threshold = fit_conformal_threshold(whole.averaged, whole.labels, float(word) / 100, "lac")
        row = threshold.build_sets(one.probabilities[None])[0]
        names = ", ".join(map(str, np.flatnonzero(row)))
        kept = "any of the 10" if row.all() else f"{{{names}}}"
        assert f"Short list: {kept} at {100 - int(word)} %." in words(at).replace("\\", "")
    assert "Lists hold on average, for digits like the test set's" in words(at)
    assert "here they are only a hint and may miss more often" in words(at)


def test_where_images_are_held_out_the_set_is_calibrated_on_these() -> None:
    run = askable(sure=7.0, validation=0.2)
    number, one = read_one(run)
    at = opened(run, "classify", detail="neighbours", miss="20", sets="lac")
    at = hand_in(at, ("a.png", png(digit(number))))
    held, labels = held_out(run, 2, 6.0)
    scores = 1 - held.astype(float).mean(axis=0)[np.arange(259), labels]
    row = 1 - np.asarray(one.probabilities) <= np.sort(scores)[int(np.ceil(260 * 0.8)) - 1]
    names = ", ".join(map(str, np.flatnonzero(row)))
    kept = "any of the 10" if row.all() else f"{{{names}}}"
    assert f"Short list: {kept} at 80 %." in words(at).replace("\\", "")
    assert "Lists hold on average, for digits like the validation images" in words(at)


def test_no_verdict_stands_without_what_passes_for_a_digit(run: Run) -> None:
    number, _ = read_one(run)
    at = hand_in(opened(run, "classify", detail="neighbours"), ("a.png", png(digit(number))))
    assert "Shapes that are no digit can pass for one: look at the picture." in words(at)
    asked = classifier_loader.wait_for_classifier(run, 2)
    false_accept_rate.measure_false_accept_rate(
        asked, 0.03, false_accept_rate._remember_measurement(false_accept_rate.reading_cache.identify_classifier(asked))
    )
    at.run()
    kinds = asked.compute_rejection_threshold(0.03).non_digits
    share = sum(one.n * one.share for one in kinds) / sum(one.n for one in kinds)
    tenths = round(10 * share)
    times = {0: "hardly ever", 10: "nearly always"}.get(tenths, f"about {tenths} times in 10")
    assert f"Shapes that are no digit are rejected {times}: look at the picture." in words(at)


def test_a_mark_that_is_turned_away_has_no_set(run: Run) -> None:
    said = classifier_loader.wait_for_classifier(run, 2).read_images(datasets.load_dataset("digits").test_images[:300])
    strange = next(n for n, one in enumerate(said.digits) if one.rejected)
    at = hand_in(opened(run, "classify", detail="neighbours"), ("a.png", png(digit(strange))))
    assert "The set:" not in words(at)
    assert "look at the picture" not in words(at)


def test_without_an_epochs_predictions_there_is_no_set_and_no_fault(run: Run) -> None:
    (run.path / "predictions" / "epoch-0001.npz").unlink()
    number, _ = read_one(run)
    at = opened(run, "classify", detail="neighbours", epoch=1)
    at = hand_in(at, ("a.png", png(digit(number))))
    assert "The set:" not in words(at)
