"""Runs: the columns of the table, tags, the pinned baseline, and sweeps that are folded."""

import numpy as np
import pytest

from ensemble import datasets, runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.status import write_status
from ensemble.runs import Run
from ensemble.runs.annotations.baseline import read_baseline
from ensemble.runs.annotations.tags import write_tags
from ensemble.ui.runs import calibration_error
from ensemble.ui.shared import loaders
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened, value, widget
from tests.pages.test_runs import table
from tests.pages.test_runs_ticked import links, untrained

SWEEP = "sweep-1123-052200"


def ended(tags: tuple[str, ...] = (), nll: float | None = None, **settings: object) -> Run:
    """A run that has ended, with these settings."""
    run = runs.create_run(EnsembleConfig(**settings), tags=tags)  # type: ignore[arg-type]
    write_status(run.path, runs.Status(state="stopped", ensemble_test_nll=nll))
    return runs.find_run(run.id)


def test_settings_and_figures_are_columns_of_numbers_also_where_none_is_known() -> None:
    ended(learning_rate=0.05, momentum=0.8, batch_size=64, members=2)
    ended(vary="learning_rate=0.01,0.1", members=2, momentum=0.95)
    rows = table(opened(page="runs"))
    assert {
        name: str(rows[name].dtype)
        for name in ("nll", "gain", "accuracy", "time", "momentum", "learning_rate", "batch_size", "members")
    } == dict.fromkeys(
        ("nll", "gain", "accuracy", "time", "momentum", "learning_rate", "batch_size", "members"), "float64"
    )
    by_momentum = rows.sort_values("momentum")
    assert by_momentum["momentum"].tolist() == [0.8, 0.95]
    assert rows["nll"].tolist() == [np.inf, np.inf], "sorted, they come after every figure"
    assert by_momentum["batch_size"].tolist() == [64.0, 128.0]
    assert by_momentum["learning_rate"].tolist()[0] == 0.05
    assert np.isnan(by_momentum["learning_rate"].tolist()[1]), "no rate is that of all members"
    assert rows["network"].tolist() == ["cnn", "cnn"]


def test_a_choice_of_columns_stands_in_the_address_and_stays_in_the_tab() -> None:
    ended(nll=0.25)
    at = opened(page="runs")
    assert "epochs" not in table(at)
    widget(at, "button_group", "runs_columns").set_value(["epochs", "nll"]).run()
    assert list(table(at)) == ["name", "nll", "epochs", "id"]
    assert value(at, "fields") == "name,nll,epochs"
    del at.query_params["fields"]  # as a link in the menu does
    at.run()
    assert list(table(at)) == ["name", "nll", "epochs", "id"]
    assert value(at, "fields") == "name,nll,epochs"
    widget(at, "button", "runs_columns_usual").click().run()
    assert value(at, "fields") is None
    assert "momentum" in table(at)


def test_the_calibration_error_is_that_of_the_last_epoch_counted_by_hand() -> None:
    run = trained(epochs=2)
    without = untrained()
    at = opened(page="runs", fields="ece")
    found = dict(zip(table(at)["id"], table(at)["ece"], strict=True))
    averaged = runs.read_run_predictions(run.id, 2).mean(axis=0)
    right = averaged.argmax(axis=1) == datasets.load_dataset("digits").test_labels
    sure, error = averaged.max(axis=1), 0.0
    for low in np.linspace(0, 1, 16)[:-1]:
        here = (sure > low) & (sure <= low + 1 / 15)
        if here.any():
            error += here.mean() * abs(right[here].mean() - sure[here].mean())
    assert found[run.id] == pytest.approx(error, abs=1e-6)
    assert found[without.id] == np.inf, "it comes last where less is better"


def test_many_runs_are_read_for_their_calibration_error_bit_by_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    several = [trained(seed=seed, epochs=1) for seed in range(3)]
    looked: list[str] = []
    real = calibration_error.load_run_ece

    def of(run: Run, at: tuple[str, calibration_error.FileVersion, str]) -> float | None:
        looked.append(run.id)
        return real(run, at)

    monkeypatch.setattr(calibration_error, "load_run_ece", of)
    for turn in range(1, 4):
        found, left = calibration_error.load_ece_of_runs(several, seconds=-1.0)
        assert (len(found), left, len(looked)) == (turn, 3 - turn, turn)
    assert calibration_error.load_ece_of_runs(several, seconds=-1.0)[1] == 0
    assert len(looked) == 3, "each once"
    (several[0].path / "predictions" / "epoch-0001.npz").touch()
    assert len(calibration_error.load_ece_of_runs(several)[0]) == 3
    assert looked[3:] == [several[0].id], "another version of the file"


def test_damaged_predictions_have_no_calibration_error() -> None:
    run = trained(epochs=1)
    (run.path / "predictions" / "epoch-0001.npz").write_bytes(b"nothing of the kind")
    assert calibration_error.load_ece_of_runs([run]) == ({}, 0)


def test_the_baseline_of_a_dataset_is_pinned_shown_and_unpinned() -> None:
    first, second = ended(), ended(seed=1)
    at = opened(first, "runs")
    assert "baseline" not in table(at)
    widget(at, "button", "run_pin").click().run()
    assert read_baseline("digits") == first.id
    rows = table(at)
    assert dict(zip(rows["id"], rows["baseline"], strict=True)) == {first.id: "pinned", second.id: ""}
    at = opened(second, "runs")
    assert links(at)["Compare with the baseline"] == {"runs": [f"{first.id},{second.id}"]}
    at = opened(first, "runs")
    widget(at, "button", "run_pin").click().run()
    assert read_baseline("digits") is None


def test_runs_are_found_by_tag_and_lead_to_all_with_it() -> None:
    tagged = [ended(("rates", "x & y"), seed=seed) for seed in range(2)]
    both = ended(("rates", "late"), network="mlp")
    for seed in range(4):
        ended(seed=seed)
    at = opened(page="runs")
    rows = table(at)
    assert rows["tags"].tolist().count("rates, x & y") == 2
    widget(at, "multiselect", "runs_tags").set_value(["rates"]).run()
    assert set(table(at)["id"]) == {both.id, *(run.id for run in tagged)}
    assert links(at)["Compare all 3 tagged rates"] == {"tag": ["rates"]}
    widget(at, "multiselect", "runs_tags").set_value(["rates", "late"]).run()
    assert table(at)["id"].tolist() == [both.id]
    widget(at, "multiselect", "runs_tags").set_value([]).run()
    widget(at, "multiselect", "runs_network").set_value(["mlp"]).run()
    assert table(at)["id"].tolist() == [both.id]
    widget(at, "multiselect", "runs_network").set_value([]).run()
    widget(at, "text_input", "runs_text").input("X & y").run()
    assert set(table(at)["id"]) == {run.id for run in tagged}
    widget(at, "text_input", "runs_text").input("").run()
    widget(at, "multiselect", "runs_tags").set_value(["late"]).run()
    write_tags(both.id, ["other"])
    loaders.forget_runs()
    at.run()
    assert not at.exception
    assert len(table(at)) == 7, "a filter for what is gone meanwhile is none"


def test_trials_of_sweeps_are_folded_until_they_are_asked_for() -> None:
    own = ended(("rates",))
    trials = [ended((SWEEP,), seed=seed) for seed in range(7)]
    at = opened(page="runs")
    assert table(at)["id"].tolist() == [own.id]
    switch = widget(at, "toggle", "runs_trials")
    assert switch.label == "Show 7 trials of 1 sweep"
    switch.set_value(True).run()
    assert (len(table(at)), value(at, "trials")) == (8, "shown")
    widget(at, "toggle", "runs_trials").set_value(False).run()
    assert (len(table(at)), value(at, "trials")) == (1, None)
    widget(at, "multiselect", "runs_tags").set_value([SWEEP]).run()
    assert len(table(at)) == 7
    assert links(at)["Compare all 7 of its sweep"] == {"sweep": [SWEEP]}
    at = opened(trials[3], "runs")
    assert set(table(at)["id"]) == {own.id, trials[3].id}, "what is ticked is seen"


def test_where_there_are_only_trials_they_are_not_folded() -> None:
    trials = [ended((SWEEP,), seed=seed) for seed in range(2)]
    at = opened(page="runs")
    assert set(table(at)["id"]) == {run.id for run in trials}
    assert not at.toggle
