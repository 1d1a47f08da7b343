"""Inspect: with which other runs a run can be compared."""

from urllib.parse import parse_qs

import numpy as np
import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.runs.history import write_predictions
from ensemble.runs.store import RUN_STORE
from ensemble.ui.inspect import run_comparison
from ensemble.ui.shared import loaders
from tests.comparison.drawn import finished
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened


def test_only_runs_with_predictions_of_the_same_images_are_compared() -> None:
    run, alike = trained(created=1000.0), trained(created=2000.0)
    trained(done=0, state="failed")
    other = runs.create_run(EnsembleConfig(dataset="mnist"))
    write_predictions(other.path, 1, np.full((2, 10_000, 10), 0.1, np.float32))
    loaders.forget_runs()
    assert [one.id for one in run_comparison.find_comparable_runs(run)] == [alike.id]


def test_a_press_trains_more_seeds_of_two_settings_and_leads_to_their_comparison(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(RUN_STORE, "start_worker", lambda run: None)
    run, other = finished({"momentum": 0.5}, skill=4.0), finished({"momentum": 0.6}, draw=1)
    loaders.forget_runs()
    at = opened(run, page="inspect", view="compare", **{"with": other.id})
    said = " ".join(one.value for one in (*at.markdown, *at.caption))
    assert "##### Of these two, this run gets " in said
    assert "other seeds of the same settings may order them differently" in said
    assert "3 seeds of each would show it in perhaps over 95 %" in said
    [button] = [one for one in at.button if one.label == "Train 3 seeds of each"]
    at = button.click().run()
    assert not at.exception
    launched = [run for run in runs.list_runs() if run.active]
    assert sorted((run.config.momentum, run.config.seed) for run in launched) == [
        (0.5, 1),
        (0.5, 2),
        (0.6, 1),
        (0.6, 2),
    ]
    [link] = [one.proto for one in at.get("page_link") if "over seeds" in one.proto.label]
    assert link.label == "Compare over seeds (4 under way)"
    [ids] = parse_qs(link.query_string)["runs"]
    assert set(ids.split(",")) == {run.id for run in runs.list_runs()}
