"""A run opened in a notebook: by id or name, live, and with its predictions after any epoch."""

import re
from pathlib import Path

import numpy as np
import pytest

import ensemble
from ensemble import datasets, exchange, runs
from ensemble.errors import PredictionsError, RunError, UnknownRunError
from tests.pages.ensembles import held_out, probabilities, trained


def test_it_is_opened_by_its_id_and_by_its_name() -> None:
    made = trained(name="my own")
    assert ensemble.open_run(made.id) == ensemble.open_run(" my  own ")
    assert ensemble.open_run(made.id).name == "my own"
    assert ensemble.open_run("my own").path == made.path


def test_what_is_not_there_or_there_twice_is_said_with_what_to_do() -> None:
    first, second = trained(name="twin"), trained(name="twin")
    with pytest.raises(UnknownRunError, match="2 runs are called “twin”: open one by id") as two:
        ensemble.open_run("twin")
    assert first.id in str(two.value)
    assert second.id in str(two.value)
    with pytest.raises(UnknownRunError, match=r"ensemble\.list_runs\(\)"):
        ensemble.open_run("../etc")
    assert set(ensemble.list_runs()) == {ensemble.open_run(one.id) for one in (first, second)}


def test_its_predictions_are_those_that_were_kept_with_their_names() -> None:
    run = ensemble.open_run(trained(epochs=3, name="a").id)
    labels = datasets.load_dataset("digits").test_labels
    for asked, epoch in ((None, 3), (1, 1), ("best", run.status.best_epoch)):
        found = run.predictions(asked)
        np.testing.assert_array_equal(found.probabilities, probabilities("digits", 3, epoch, 4.0))
        assert found.source == f"a · epoch {epoch}"
    np.testing.assert_array_equal(found.labels, labels)
    np.testing.assert_array_equal(run.labels, labels)
    np.testing.assert_array_equal(run.images, datasets.load_dataset("digits").test_images)
    assert found.class_names == run.class_names == tuple("0123456789")
    assert found.member_names == run.member_names == ("member 1", "member 2", "member 3")
    accuracy = run.predictions("best").accuracy
    assert accuracy == pytest.approx(run.status.best_ensemble_test_accuracy)


def test_the_images_held_out_are_a_split_of_their_own() -> None:
    made = trained(validation=0.1)
    found = ensemble.open_run(made.id).predictions(split="validation")
    expected, labels = held_out(made, 2, 3.0)
    np.testing.assert_array_equal(found.probabilities, expected)
    np.testing.assert_array_equal(found.labels, labels)


def test_what_a_run_has_no_predictions_of_is_said() -> None:
    run = ensemble.open_run(trained(epochs=2).id)
    with pytest.raises(RunError, match=r"has no epoch 7\. It has 1, 2"):
        run.predictions(7)
    with pytest.raises(RunError, match=r"has no epoch 10\. It has 1 to 9\."):
        ensemble.open_run(trained(epochs=9).id).predictions(10)
    with pytest.raises(RunError, match="holds out no training images"):
        run.predictions(split="validation")
    none = ensemble.open_run(trained(done=0, state="failed", message="The disk is full.").id)
    with pytest.raises(RunError, match=r"has no predictions: The disk is full\."):
        none.predictions()


def test_it_is_live_and_a_deleted_one_still_shows_itself() -> None:
    run = ensemble.open_run(trained(name="<b>$1$</b>").id)
    assert "&lt;b&gt;&#36;1&#36;&lt;/b&gt;" in run._repr_html_()
    assert r"\<b\>" in run._repr_markdown_()
    assert re.search(r"\d\d\.\d % ", run._repr_html_())
    assert run.rename("plain").name == "plain"
    assert repr(run) == f"<Run {run.id}: finished, plain, epoch 2 of 2>"
    runs.delete_run(run.id)
    assert "cannot be read" in repr(run)
    assert "There is no run" in run._repr_html_()


def test_it_is_saved_as_one_file_which_gives_it_back(tmp_path: Path) -> None:
    run = ensemble.open_run(trained(members=1, epochs=2, name="mine").id)
    path = run.save_report(str(tmp_path / "mine.html"), all_epochs=True)
    assert path == tmp_path / "mine.html"
    (again,) = [exchange.import_capsule(one) for one in exchange.read_reports(path)]
    for epoch in (1, 2):
        given = ensemble.open_run(again.id).predictions(epoch).probabilities
        assert given.tobytes() == run.predictions(epoch).probabilities.tobytes()
    with pytest.raises(PredictionsError, match=r"mine\.html already exists: .*replace"):
        run.save_report(path)
