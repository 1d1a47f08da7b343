"""What many tabs show of one run is read and made once, and never older than its files."""

import dataclasses
import json
from typing import Any

import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.status import write_status
from ensemble.storage.records.json_lines import append_line
from ensemble.ui.shared import loaders
from ensemble.ui.train import curve_panels, learning_curves
from tests.ui.train.test_history import ROWS, steps
from tests.workers import at_work_here


def test_a_run_that_is_watched_is_read_once_for_all_and_anew_where_a_file_changes() -> None:
    run = runs.create_run(EnsembleConfig(members=2))
    status = dataclasses.replace(run.status, state="training", **at_work_here(run.path))
    write_status(run.path, status)
    first = loaders.find_watched_run(run.id)
    assert first.state == "training"
    assert loaders.find_watched_run(run.id) is first
    write_status(run.path, dataclasses.replace(status, step=7))
    assert loaders.find_watched_run(run.id).status.step == 7
    runs.rename_run(run.id, "another")
    assert loaders.find_watched_run(run.id).name == "another"


def test_pictures_are_made_once_for_a_history_and_are_those_of_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    run, made = runs.create_run(EnsembleConfig(members=2)), []

    def build(rows: list[dict[str, Any]], **how: Any) -> Any:
        made.append(len(rows))
        return curve_panels.build_metric_panel(rows, "loss", 500, False, 0.0)["lines"]

    monkeypatch.setattr(learning_curves.curve_panels, "build_curve_panels", build)
    for row in ROWS:
        append_line(run.path / "history.jsonl", row)

    def share(log: bool = False) -> learning_curves.SharedPanels:
        rows = loaders.load_run_history(run)
        how = (2, 500, log, 0.0)
        return learning_curves._build_shared_panels(run.id, id(rows), len(rows), *how, rows)

    assert share() is share()
    assert len(made) == 1
    share(log=True)
    assert len(made) == 2
    append_line(run.path / "history.jsonl", steps(1.5, 0.1, 0.2, whole=0.1))
    assert share().rows[-1]["progress"] == 1.5
    assert made[-1] == made[0] + 1


def test_a_chart_with_shared_pictures_is_the_same_json() -> None:
    places = [[{"name": "loss", "lines": [1, None]}]]
    shared = learning_curves.SharedPanels([], places, json.dumps(places))
    chart = {"run": "a", "places": places, "note": "“x”"}
    assert json.loads(learning_curves.format_chart_json(chart, shared)) == chart
    coloured = {**chart, "places": [[{"name": "other"}]]}
    assert json.loads(learning_curves.format_chart_json(coloured, shared)) == coloured
