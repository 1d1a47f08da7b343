"""Where early stopping chose an epoch, every screen, command and file is about that epoch."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import ensemble
from ensemble import datasets, runs, shift
from ensemble.cli.program import main
from ensemble.comparison.run_measures import measure_run
from ensemble.config import EnsembleConfig
from ensemble.runs import Run
from ensemble.runs.epoch_choice import is_chosen_on_validation, select_default_epoch
from ensemble.wording.verdicts import selection_basis
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened

CONFIG = EnsembleConfig(
    members=2, epochs=40, batch_size=256, learning_rate=0.7, validation=0.1, patience=1, devices=1, network="logistic"
)


@pytest.fixture(scope="module")
def stopped_early(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that patience has ended: its last epoch is not its best."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("runs")))
        run = runs.execute_run(runs.create_run(CONFIG).id)
        assert run.state == "finished"
        assert run.status.best_epoch == run.status.epoch - 1
        return run


@pytest.fixture
def run(stopped_early: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(stopped_early.path.parent))
    return stopped_early


def chosen_epoch(run: Run) -> int:
    assert run.status.best_epoch is not None
    return run.status.best_epoch


def invoke(*words: str) -> dict[str, Any]:
    done = CliRunner().invoke(main, [*words])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def words(at: Any) -> str:
    return " ".join(str(one.value) for one in (*at.markdown, *at.caption)).replace("\\", "")


def test_every_screen_opens_at_it_and_says_on_what_it_was_chosen(run: Run) -> None:
    best, last = chosen_epoch(run), run.status.epoch
    basis = f"Epoch {best} of {last} has the lowest NLL on the validation images"
    for page in ("inspect", "predictions", "classify"):
        at = opened(run, page)
        assert not at.exception
        slider = next(one for one in at.select_slider if one.label == "Epoch")
        assert slider.value == best, page
        assert f"Epoch {best} stands until you choose another" in str(slider.help)
        assert basis in words(at), page
    assert basis in words(opened(run, "why"))
    at = opened(run, "inspect", epoch=last)
    assert next(one for one in at.select_slider if one.label == "Epoch").value == last, "a link that names one keeps it"
    assert f"Epoch {last} of {last} is your choice" in words(at)


def test_what_is_chosen_by_hand_stands_in_the_address_unless_it_is_usual(run: Run) -> None:
    best, last = chosen_epoch(run), run.status.epoch
    at = opened(run, "predictions")
    slider = next(one for one in at.select_slider if one.label == "Epoch")
    slider.set_value(last).run()
    assert at.query_params["epoch"] == str(last)
    slider = next(one for one in at.select_slider if one.label == "Epoch")
    assert slider.value == last
    slider.set_value(best).run()
    assert "epoch" not in at.query_params
    assert next(one for one in at.select_slider if one.label == "Epoch").value == best


def test_train_reports_it_and_names_the_last(run: Run) -> None:
    best, last = chosen_epoch(run), run.status.epoch
    at = opened(run, "train")
    lines = {line["epoch"]: line for line in runs.read_history(run.id) if line["kind"] == "epoch"}
    shown = str(at.metric[0].value)
    assert shown.startswith(f"{100 * lines[best]['ensemble_test_accuracy']:.1f}")
    share = f"{100 * lines[last]['ensemble_test_accuracy']:.1f} %"
    assert f"After epoch {best}, {selection_basis.CHOSEN_ON_VALIDATION}" in words(at)
    assert f"after epoch {last}, the last: {share}." in words(at).replace("\N{NO-BREAK SPACE}", " ")


def test_commands_and_files_hold_it(run: Run, tmp_path: Path) -> None:
    best = chosen_epoch(run)
    kept = runs.read_run_predictions(run.id, best)
    assert measure_run(run).epoch == best
    assert invoke("inspect", run.id, "answer", "--json")["epoch"] == best
    np.testing.assert_array_equal(ensemble.open_run(run.id).predictions().probabilities, kept)
    exported = tmp_path / "out.npz"
    assert invoke("export", run.id, str(exported))["epochs"] == [best]
    np.testing.assert_array_equal(np.load(exported)["probabilities"], kept)
    picture = tmp_path / "digit.png"
    Image.fromarray(datasets.load_dataset("digits").test_images[0, :, :, 0]).resize((64, 64)).save(picture)
    assert invoke("predict", run.id, str(picture), "--json")["epoch"] == best


@pytest.mark.long
def test_a_report_carries_it_and_opens_at_it(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    best, last = chosen_epoch(run), run.status.epoch
    file = tmp_path / "report.html"
    ensemble.open_run(run.id).save_report(file)
    assert f"After epoch {best} it gets" in file.read_text()
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "elsewhere"))
    copy = runs.find_run(invoke("import", str(file))["run_id"])
    assert runs.list_prediction_epochs(copy.id) == [best, last]
    assert select_default_epoch(copy, [best, last]) == best


def test_what_is_measured_under_shift_is_of_it(run: Run) -> None:
    done = CliRunner().invoke(main, ["stress", run.id])
    assert done.exit_code == 0, done.output
    stress = shift.read_stress(run.id)
    assert stress.results is not None
    assert stress.results.epoch == chosen_epoch(run)
    assert not stress.is_outdated
    assert "Measured" in words(opened(run, "inspect", view="shift"))


def test_without_validation_images_the_last_counts_and_never_the_best_of_the_test_images() -> None:
    run = trained(best_epoch=1)
    assert select_default_epoch(run, [1, 2]) == 2
    assert not is_chosen_on_validation(run, 1)
    chosen = trained(validation=0.1, best_epoch=1)
    assert select_default_epoch(chosen, [1, 2]) == 1
    assert select_default_epoch(chosen, [2]) == 2  # as in reports of earlier versions
