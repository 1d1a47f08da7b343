"""A hyper-deep ensemble of a real sweep: chosen, saved, opened and asked as any run."""

import json
from pathlib import Path

import numpy as np
import pytest

from ensemble import runs, sweeps
from ensemble.analysis.quality.proper_scores import label_probability
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError, RunError
from ensemble.sweeps.objectives import compute_validation_ece, load_validation_labels
from ensemble.sweeps.selected_members import list_member_sources
from ensemble.sweeps.selection import create_hyper_deep_ensemble, list_member_candidates, select_members_greedily
from ensemble.sweeps.settings import SweepConfig
from ensemble.sweeps.worker import work_on_sweep

BASE = EnsembleConfig(network="logistic", members=2, epochs=2, validation=0.1, devices=1)


@pytest.fixture
def light_runs() -> None:
    """Here runs really learn."""


@pytest.fixture
def sweep(light_runs: None) -> sweeps.Sweep:
    """Two trials of two members, one objective the calibration error."""
    config = SweepConfig(space="learning_rate=0.02,0.3", sampler="grid", objectives="nll,ece", base=BASE)
    return work_on_sweep(sweeps.create_sweep(config).id)


def test_members_of_several_trials_become_a_run_that_is_opened_and_asked_as_any(sweep: sweeps.Sweep) -> None:
    trials = [runs.find_run(one.run_id) for one in sweeps.read_trials(sweep)]
    for trial, run in zip(sweeps.read_trials(sweep), trials, strict=True):
        best = run.status.best_epoch or 0
        assert trial.values == (run.status.best_ensemble_validation_nll, compute_validation_ece(run, best))

    made = create_hyper_deep_ensemble(sweep.id, 3, "Three of four")
    assert (made.name, made.state, made.config.members) == ("Three of four", "finished", 3)
    came = list_member_sources(made)
    pool, known = list_member_candidates(sweep.id)
    assert [(one["run_id"], one["member"] - 1, one["epoch"]) for one in came] == [
        (pool[number].run.id, pool[number].member, pool[number].epoch) for number in select_members_greedily(known, 3)
    ]
    tests = runs.read_run_predictions(made.id, 1)
    for number, one in enumerate(came):
        there = runs.read_run_predictions(one["run_id"], one["epoch"])[one["member"] - 1]
        np.testing.assert_array_equal(tests[number], there)

    # What its parameters say is what its predictions are.
    test_set = runs.load_test_set(made)
    for epoch in (None, *runs.list_member_epochs(made.id)):
        asked = runs.open_members(made.id, epoch).predict_probabilities(test_set.images)
        np.testing.assert_allclose(asked, tests, atol=2e-5)
    labels = load_validation_labels(made)
    held = runs.read_validation_predictions(made.id, 1)
    expected = -np.log(label_probability(held.mean(axis=0), labels)).mean()
    line = runs.read_history(made.id)[-1]
    assert line["ensemble_validation_nll"] == pytest.approx(expected, abs=1e-6)
    assert made.status.best_ensemble_validation_nll == line["ensemble_validation_nll"]

    rates = runs.require_training_config(made).member_values["learning_rate"]
    assert rates == tuple(one["settings"]["learning_rate"] for one in came)
    assert set(rates) <= {0.02, 0.3}
    twice = create_hyper_deep_ensemble(sweep.id, 6, again=True)
    assert twice.config.members == 6
    # What a trial took counts once, of however many of its members it was.
    took = {one["run_id"]: runs.find_run(one["run_id"]).status.seconds for one in list_member_sources(twice)}
    assert len(took) < 6
    assert twice.status.seconds == pytest.approx(sum(took.values()))
    assert twice.name == f"Hyper-deep ensemble of {sweep.id}"
    with pytest.raises(ConfigError, match="choose from 1 to 4"):
        create_hyper_deep_ensemble(sweep.id, 5)
    with pytest.raises(RunError, match="it has finished"):
        runs.requeue_run(made.id)


def test_nothing_can_be_chosen_from_trials_that_hold_out_different_images(sweep: sweeps.Sweep) -> None:
    run = runs.find_run(sweeps.read_trials(sweep)[1].run_id)
    settings = json.loads((run.path / "config.json").read_text())
    settings["settings"]["seed"] = 7
    Path(run.path / "config.json").write_text(json.dumps(settings))
    with pytest.raises(RunError, match="have different seeds"):
        create_hyper_deep_ensemble(sweep.id, 2)
