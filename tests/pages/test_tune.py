"""Tune: what was found, how it is said, what can be done with it."""

import json
import math
from typing import Any

import pytest
import streamlit as st

from ensemble import runs, sweeps
from ensemble.jobs.job import is_stop_requested
from ensemble.runs.store import RUN_STORE
from ensemble.sweeps import training
from ensemble.sweeps.settings import STORAGE_VARIABLE
from ensemble.sweeps.store import SWEEP_STORE
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared.settings import format_setting_key
from ensemble.ui.tune.actions import SEED_COUNT
from tests.pages.predictions_screen import value, widget
from tests.pages.sweeps_screen import charts, figures, labels, said, searched, tuned
from tests.sweeps import light
from tests.sweeps.light import light_config, nll, train_lightly


@pytest.fixture(autouse=True)
def light_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only training itself is replaced, by a function of the settings; no worker is started."""
    monkeypatch.setenv(STORAGE_VARIABLE, "journal")
    monkeypatch.setattr(runs, "execute_run", train_lightly)
    monkeypatch.setattr(training, "count_packed_lanes", lambda config: config.members)
    monkeypatch.setattr(SWEEP_STORE, "start_worker", lambda job: None)
    monkeypatch.setattr(RUN_STORE, "start_worker", lambda run: None)


def states(sweep: sweeps.Sweep, **status: object) -> None:
    """Has the sweep's status say something else."""
    path = sweep.path / "status.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **status}))


def test_the_first_visit_says_what_will_be_here_and_the_next_step_also_from_a_bad_link() -> None:
    at = tuned(sweep="../../etc")
    assert len(at.warning) == 1
    assert "Set up a first sweep" in labels(at)
    at = tuned()
    assert "Which settings are best?" in said(at)
    assert "Chosen on 130 validation digits" in said(at)
    at.button(key="tune_quick").click().run()
    [sweep] = sweeps.list_sweeps()
    assert value(at, "sweep") == sweep.id
    assert sweep.config.base.network == "logistic"


def test_the_best_trial_is_first_with_its_test_result_a_caution_and_all_curves() -> None:
    sweep = searched(trials=5)
    every = sweeps.read_trials(sweep)
    truth = [nll(sweep.config.build_trial_config(one.params), 3) for one in every]
    best = truth.index(min(truth))
    at = tuned(sweep=sweep.id)
    heading = next(one.value for one in at.markdown if one.value.startswith("#### "))
    assert heading.startswith("#### Lowest validation NLL: "), "without predictions no trial is compared"
    assert f"(trial {best + 1})" in heading
    assert f"rate {every[best].params['learning_rate']:.4g}" in heading
    shown = figures(at)
    assert shown["Validation NLL, best of 5"] == f"{min(truth):.3g}"
    assert shown["Its ensemble on 500 test digits"] == "50.0 % ± 4.4"
    assert "All 5 trials are complete." in said(at)
    assert "The best of 5 figures on 130 validation digits looks better than it is" in said(at)
    history, epochs = charts(at)
    assert history["run"] == f"{sweep.id}-history-nll", "the zoom is kept under this name"
    points = next(one for one in history["places"][0][0]["lines"] if one["who"] == "trials")
    assert points["y"][::2] == [one.values[0] for one in every]
    assert set(points["y"][1::2]) == {None}, "no line joins what is not joined"
    assert [one["x"] for one in epochs["places"][0][0]["lines"]] == [[1, 2, 3]] * 5


def test_figures_of_trials_that_were_trained_several_times_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    real = light.epoch_line
    monkeypatch.setattr(
        light,
        "epoch_line",
        lambda config, epoch: real(config, epoch) | {"ensemble_test_accuracy": 0.9 + 0.02 * config.seed},
    )
    sweep = searched(trials=2, repeats=3)
    best = sweeps.find_best_trial(sweep)
    assert best
    at = tuned(sweep=sweep.id)
    shown = figures(at)
    assert shown["Validation NLL, best of 2, mean of 3 seeds"] == f"{best.values[0]:.3g}"
    accuracy = shown["Its ensembles on 500 test digits, mean of 3 seeds"]
    assert accuracy == "92.0 % (90.0 to 94.0 over 3 seeds)"
    assert "All 2 trials are complete." in said(at)
    assert "The best of 2 means on 130 validation digits of each seed" in said(at)


def test_a_sweep_that_goes_on_names_what_runs_and_how_trials_ended() -> None:
    sweep = searched(space="learning_rate=0.01,0.1,0.5 momentum=0.8,0.9", sampler="grid", pruner="median")
    ended = [one.state for one in sweeps.read_trials(sweep)]
    assert {"complete", "failed"} <= set(ended), "a rate of 0.5 diverges"
    at = tuned(sweep=sweep.id)
    for state in {"complete", "failed"}:
        assert f"{ended.count(state)} {state}" in said(at)
    assert "tune_more_box" not in [one.key for one in at.get("popover")], "a grid has all"
    at = tuned(sweep=sweep.id, view="trials")
    table = at.dataframe[0].value
    assert len(table) == 6
    diverged = table[table["learning_rate"] == 0.5]
    assert set(diverged["why"]) == {"Member 1's loss is no longer a number."}


def test_stop_is_asked_and_resume_goes_on_and_both_are_the_sweeps_own() -> None:
    sweep = sweeps.create_sweep(light_config())
    at = tuned(sweep=sweep.id)
    assert "No trial has finished yet" in said(at)
    at.button(key="tune_stop").click().run()
    assert not at.exception
    states(sweep, state="stopped", message="Stopped. Resume continues from here.")
    at = tuned(sweep=sweep.id)
    at.button(key="tune_resume").click().run()
    assert sweeps.find_sweep(sweep.id).state == "queued"
    assert not is_stop_requested(sweeps.find_sweep(sweep.id))


def test_the_best_is_tried_with_seeds_that_had_no_part_in_the_choice_and_its_settings_fill_train() -> None:
    sweep = searched(trials=4)
    best = sweeps.find_best_trial(sweep)
    assert best
    wanted = sweep.config.build_trial_config(best.params)
    at = tuned(sweep=sweep.id)
    at.button(key="tune_seeds").click().run()
    again = [run for run in runs.list_runs() if f"{sweep.id}-seeds-{best.number + 1}" in run.tags]
    configs = [runs.require_training_config(run) for run in again]
    assert len({one.seed for one in configs}) == SEED_COUNT
    assert wanted.seed not in {one.seed for one in configs}
    assert {one.learning_rate for one in configs} == {wanted.learning_rate}
    at = tuned(sweep=sweep.id)
    assert f"Train it with {SEED_COUNT} more seeds" not in labels(at)
    links = {one.label: one for one in at.get("page_link")}
    assert "Compare its seeds" in links
    assert links["Compare these trials"].proto.query_string == f"sweep={sweep.id}"
    at.button(key="tune_use_best").click().run()
    assert value(at, "run") == best.run_id
    for name, setting in wanted.as_dict().items():
        assert at.session_state[format_setting_key(name)] == setting
    assert "Same settings as the run shown." in said(at)


def test_a_brush_leaves_the_same_trials_in_the_table_and_a_link_shows_them() -> None:
    sweep = searched(trials=6)
    rates = [float(one.params["learning_rate"]) for one in sweeps.read_trials(sweep)]
    middle = sorted(rates)[2]
    at = tuned(sweep=sweep.id, view="trials", keep=f"learning_rate:..{middle}")
    assert "**3 of 6 trials**: brushed to learning rate up to" in said(at)
    kept = [number for number, rate in enumerate(rates, 1) if rate <= middle]
    assert at.dataframe[0].value["trial"].to_list() == kept
    [chart] = charts(at)
    assert len(chart["runs"]) == 6, "the browser dims those that are not left"
    at.button(key="tune_show_all").click().run()
    assert value(at, "keep") is None
    assert len(at.dataframe[0].value) == 6


def test_every_view_says_what_it_waits_for_or_shows_it() -> None:
    sweep = searched(trials=3, objectives="nll,seconds", space="learning_rate=0.01..0.3 members=1..4")
    front = sweeps.find_pareto_trials(sweep)
    at = tuned(sweep=sweep.id, view="front")
    assert f"{len(front)} trial{'s' * (len(front) > 1)}** of 3" in said(at)
    at = tuned(sweep=sweep.id, view="weights")
    assert "from 10 complete trials on; there are 3" in said(at)
    at = tuned(sweep=sweep.id, view="slices", measure="seconds")
    drawn = [json.loads(one.proto.spec)["data"][0] for one in at.get("plotly_chart")]
    assert [one["y"] for one in drawn] == [[one.values[1] for one in sweeps.read_trials(sweep)]] * 2


def test_a_damaged_file_of_trials_is_reported_and_the_sweep_can_be_deleted() -> None:
    sweep = searched(trials=1)
    (sweep.path / "journal.log").write_bytes(b"junk\n" * 9)
    at = tuned(sweep=sweep.id)
    assert "is damaged" in said(at)
    assert "Delete…" in labels(at)
    sweep = sweeps.create_sweep(light_config())
    config = sweep.path / "config.json"
    config.write_text(config.read_text().replace('"journal"', '"sqlite"'))
    (sweep.path / "study.db").write_bytes(b"this is no database" * 99)
    at = tuned(sweep=sweep.id)
    [error] = at.error
    assert "cannot be read" in error.value
    assert "fault of the program" not in error.value


def test_though_its_best_run_was_deleted_a_sweep_has_the_best_settings_and_takes_more_trials() -> None:
    sweep = searched(trials=2)
    best = sweeps.find_best_trial(sweep)
    assert best
    runs.delete_run(best.run_id)
    at = tuned(sweep=sweep.id)
    assert "Its ensemble on 500 test digits" not in figures(at)
    at.number_input(key="tune_more_trials").set_value(3).run()
    at.button(key="tune_enlarge").click().run()
    assert not at.error
    assert sweeps.find_sweep(sweep.id).config.trials == 5
    assert sweeps.find_sweep(sweep.id).state == "queued"
    assert "3 to come" in said(at)
    at.button(key="tune_use_best").click().run()
    assert at.session_state[format_setting_key("learning_rate")] == best.params["learning_rate"]
    assert not at.warning


def test_a_sweep_that_has_ended_is_looked_at_again_but_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    # It may be resumed or enlarged in another tab, or on the command line.
    pauses: list[float] = []
    real = st.fragment

    def noted(body: Any, run_every: float | None = None) -> Any:
        if body is job_panel.refresh_live_job:
            pauses.append(run_every or math.inf)
        return real(body, run_every=run_every)

    monkeypatch.setattr(st, "fragment", noted)
    sweep = searched(trials=1)
    tuned(sweep=sweep.id)
    sweeps.enlarge_sweep(sweep.id, 1)
    tuned(sweep=sweep.id)
    assert pauses[-1] < pauses[0] <= 5


def test_one_button_is_the_main_one_where_a_sweep_was_stopped_which_is_deleted_when_asked_twice() -> None:
    sweep = searched(trials=1)
    states(sweep, state="stopped")
    at = tuned(sweep=sweep.id)
    kinds = {one.key: one.proto.type for one in at.main.button}
    assert kinds["tune_resume"] == "primary"
    assert kinds["tune_use_best"] == "secondary"
    at.button(key="tune_delete").click().run()
    assert "The runs of its trials stay." in said(at)
    at.button(key="tune_delete_sure").click().run()
    assert sweeps.list_sweeps() == []
    assert len(runs.list_runs()) == 1
    assert widget(at, "button", "tune_quick")
