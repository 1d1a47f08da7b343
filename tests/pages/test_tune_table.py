"""Tune: settings are searched on a table, and the best trial is judged on its validation rows."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs, sweeps
from ensemble.config import REGRESSION, RegressionConfig
from ensemble.runs.store import RUN_STORE
from ensemble.sweeps import Sweep
from ensemble.sweeps.store import SWEEP_STORE
from ensemble.sweeps.worker import work_on_sweep
from ensemble.tables.prepared_table import read_table_description
from ensemble.ui.shared.settings import TABLE_FORM, format_setting_key
from ensemble.ui.tune.actions import SEED_COUNT
from tests.pages.predictions_screen import value
from tests.pages.sweeps_screen import figures, labels, said, tuned

TABLE = "size,owner,price\n" + "\n".join(
    f"{n % 17}.5,o{n % 40},{3 * (n % 17) + n % 5 + n % 40 / 10}" for n in range(160)
)


@pytest.fixture(autouse=True)
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is launched stays queued, until the test itself does the work."""
    monkeypatch.setattr(SWEEP_STORE, "start_worker", lambda sweep: None)
    monkeypatch.setattr(RUN_STORE, "start_worker", lambda run: None)


def open_table_sweep(table: str = TABLE) -> AppTest:
    at = tuned()
    at.segmented_control(key="tune_task").set_value(REGRESSION).run()
    at.file_uploader(key="numbers_file").set_value(("houses.csv", table.encode(), "text/csv")).run()
    assert not at.exception
    return at


def set_small_runs(at: AppTest) -> None:
    for name, small in {"members": 2, "epochs": 2, "batch_size": 32, "width": 5, "devices": 1}.items():
        at.session_state[format_setting_key(name, TABLE_FORM)] = small


def test_a_sweep_of_a_table_is_launched_judged_on_its_rows_and_used() -> None:
    at = open_table_sweep()
    set_small_runs(at)
    at.selectbox(key=next(box.key for box in at.selectbox if box.label == "Group")).set_value("owner")
    at.session_state["tune_more"] = True
    at.run()
    assert at.multiselect(key="tune_table_objectives").options == [
        "NLL of the ensemble",
        "RMSE of the ensemble",
        "CRPS of the ensemble",
        "Seconds of training",
    ]
    at.multiselect(key="tune_table_objectives").set_value(["rmse"])
    at.select_slider(key="tune_validation").set_value(0.3)
    at.selectbox(key="tune_table_another").set_value("depth").run()
    at.number_input(key="tune_table_from_learning_rate").set_value(0.001)
    at.number_input(key="tune_trials").set_value(2).run()
    assert "Chosen on 36 validation rows, never on test rows." in said(at)
    assert at.button(key="tune_launch").label == "Launch 2 trials"
    at.button(key="tune_launch").click().run()
    assert not at.exception
    [sweep] = sweeps.list_sweeps()
    assert value(at, "sweep") == sweep.id
    assert sweep.config.space == "learning_rate=0.001..0.03:log depth=1..4"
    assert (sweep.state, sweep.config.objectives) == ("queued", "rmse")
    shared = RegressionConfig(members=2, epochs=2, batch_size=32, width=5, devices=1, validation=0.3)
    assert sweep.config.base == shared
    assert read_table_description(sweep.path).target == "price"
    assert work_on_sweep(sweep.id).state == "finished"
    check_answer(at.run(), sweep)
    check_use(at, sweep)


def check_answer(at: AppTest, sweep: Sweep) -> None:
    best = sweeps.find_best_trial(sweep)
    assert best
    shown = said(at).replace("\\", "")
    assert "One run per setting does not show which settings are better." in shown
    assert f"(trial {best.number + 1}) has the lowest validation RMSE" in shown
    assert "Measured on 36 validation rows, on which the best was chosen." in shown
    assert "The 36 rows form 9 groups, each of which counts as one." in shown
    assert "The best of 2 figures on 36 validation rows looks better than it is; the test rows chose nothing." in shown
    metrics = figures(at)
    assert {"Validation RMSE, best of 2", "Its ensemble on 32 test rows, RMSE"} <= set(metrics)
    assert "95 %: " in metrics["Its ensemble on 32 test rows, NLL in nats"]


def check_use(at: AppTest, sweep: Sweep) -> None:
    """More seeds of the best, and its settings on Numbers."""
    best = sweeps.find_best_trial(sweep)
    assert best
    assert "Train it with 5 more seeds" in labels(at)
    at.button(key="tune_seeds").click().run()
    assert not at.exception
    queued = [run for run in runs.list_runs(REGRESSION) if run.state == "queued"]
    assert len(queued) == SEED_COUNT
    assert {run.settings.learning_rate for run in queued if run.settings} == {best.params["learning_rate"]}
    link: Any = next(one.proto for one in at.get("page_link") if one.proto.label == "Compare its seeds")
    assert "tag=" in link.page or "tag=" in link.query_string
    at.number_input(key="tune_members").set_value(2).run()  # the depths differ, so one trial has members to give
    at.button(key="tune_build").click().run()
    assert not at.exception
    built: Any = next(one.proto for one in at.get("page_link") if one.proto.label.startswith("Hyper-deep"))
    assert built.page == "numbers"
    assert "test rows, RMSE: " in said(at)
    assert "; chosen on 36 validation rows" in said(at)
    at.button(key="tune_use_best").click().run()
    assert not at.exception
    assert at.session_state[format_setting_key("learning_rate", TABLE_FORM)] == best.params["learning_rate"]
    assert at.session_state[format_setting_key("depth", TABLE_FORM)] == best.params["depth"]


def test_what_a_table_lacks_is_said_beside_the_button() -> None:
    at = tuned()
    at.segmented_control(key="tune_task").set_value(REGRESSION).run()
    assert at.button(key="tune_launch").disabled
    assert "Upload a table first, and choose what to predict." in said(at)
    at.file_uploader(key="numbers_file").set_value(("few.csv", TABLE[:130].encode(), "text/csv")).run()
    assert at.button(key="tune_launch").disabled
    assert "holds out too few rows of “few.csv” to choose settings by" in said(at)


def test_a_table_with_two_readings_asks_for_the_decimal_sign() -> None:
    rows = "\n".join(f"{n % 9 + 1},{100 + n};{n % 9 + 1},{100 + n}" for n in range(80))
    at = open_table_sweep(f"size;price\n{rows}")
    assert at.button(key="tune_launch").disabled
    assert "Choose the decimal sign of the table." in said(at)
    assert "Upload a table first" not in said(at)
    next(one for one in at.segmented_control if one.label == "Decimal sign").set_value("comma").run()
    assert not at.button(key="tune_launch").disabled
    assert "Numbers are read with a decimal comma." in said(at)


def test_an_unknown_sweep_is_called_a_sweep() -> None:
    at = tuned(sweep="sweep-0101-000000")
    assert "There is no sweep “sweep-0101-000000”" in said(at).replace("\\", "")
