"""Of members that differ in a setting a report shows which value was best, as Train does."""

from dataclasses import replace

import numpy as np
import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.folders import SCHEMA
from ensemble.report import render_report
from ensemble.storage.atomic_files import write_json
from ensemble.storage.records.json_lines import append_line
from ensemble.views.loss_by_value import read_member_losses
from tests.pages.ensembles import trained
from tests.report.pages import Page

RATES = "learning_rate=0.01,0.1,1"


def varied(vary: str) -> runs.Run:
    """Three members, each with values of its own, whose first epoch has ended."""
    made = trained(epochs=1)
    config = replace(EnsembleConfig(members=3, epochs=1), vary=vary)
    write_json(made.path / "config.json", {"schema": SCHEMA, "packages": {}, "settings": config.as_dict()})
    append_line(
        made.path / "history.jsonl",
        {
            "kind": "epoch",
            "epoch": 1,
            "step": 1,
            "progress": 1.0,
            "train_loss": [0.3, 0.2, 0.4],
            "test_loss": [0.3, 0.2, 0.4],
            "test_accuracy": [0.9, 0.9, 0.9],
            "ensemble_test_accuracy": 0.95,
        },
    )
    return runs.find_run(made.id)


@pytest.mark.long
def test_the_loss_of_each_member_stands_over_its_value() -> None:
    run = varied(f"{RATES} momentum=0.5,0.8,0.9")
    page = Page(render_report([run]))
    titles = [one.text for one in page.all("h2")]
    assert titles.index("Loss by value") == titles.index("Learning curves") + 1
    shown = [one["figure"] for one in page.figures if one["figure"]["layout"]["title"]["text"].startswith("Loss by")]
    assert len(shown) == 2, "one a setting that differs"
    made, labels = runs.read_run_predictions(run.id, 1), runs.load_test_set(run).labels
    wanted = [-np.log(one[np.arange(len(labels)), labels]).mean() for one in made]
    for chart, each in zip(shown, ([0.01, 0.1, 1], [0.5, 0.8, 0.9]), strict=True):
        (dots,) = [one for one in chart["data"] if one["name"] == "a member each"]
        assert dots["x"] == each
        assert dots["y"] == pytest.approx(wanted, rel=1e-5)


def test_members_that_are_alike_have_no_such_section() -> None:
    assert read_member_losses(varied("")) is None
