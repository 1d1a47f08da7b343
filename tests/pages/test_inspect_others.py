"""Inspect: with which other runs a run can be compared."""

from urllib.parse import parse_qs

import numpy as np

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.runs.history import write_predictions
from ensemble.ui.inspect import run_comparison
from ensemble.ui.shared import loaders
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened


def test_only_runs_with_predictions_of_the_same_images_are_compared() -> None:
    run, alike = trained(created=1000.0), trained(created=2000.0)
    trained(done=0, state="failed")
    other = runs.create_run(EnsembleConfig(dataset="mnist"))
    write_predictions(other.path, 1, np.full((2, 10_000, 10), 0.1, np.float32))
    loaders.forget_runs()
    assert [one.id for one in run_comparison.find_comparable_runs(run)] == [alike.id]


def test_from_a_comparison_of_two_runs_a_link_leads_to_one_of_more() -> None:
    run, other = trained(created=1000.0), trained(created=2000.0)
    at = opened(run, page="inspect", view="compare")
    [link] = [one.proto for one in at.get("page_link") if one.proto.page == "compare"]
    assert parse_qs(link.query_string) == {"runs": [f"{run.id},{other.id}"]}
