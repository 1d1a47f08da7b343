"""What the report of a run that predicts numbers says of its settings."""

import numpy as np

from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.report.numeric_run import build_numeric_content
from ensemble.runs.numeric.imported_numeric_run import create_imported_numeric_run
from ensemble.runs.numeric.numeric_predictions import read_numeric_targets, write_numeric_arrays
from ensemble.views.parts import Listing, Paragraph
from tests.runs.numeric.conftest import create_run

OFFSETS = np.array([[0.1], [-0.2], [0.3]])


def test_the_settings_of_an_imported_run_are_reported_as_unknown() -> None:
    targets = np.random.default_rng(1).normal(size=40)
    mixture = NormalMixture(targets + OFFSETS, np.ones((3, 40)))
    run = create_imported_numeric_run(mixture, targets, unit="m", target_name="height")
    paragraph, listing = build_numeric_content(run).sections[-1].parts
    assert isinstance(paragraph, Paragraph)
    assert "settings are not known" in paragraph.text
    assert isinstance(listing, Listing)
    assert {("Predicts", "height"), ("Unit", "m"), ("Examples", "40")} <= set(listing.rows)
    assert "epochs" not in dict(listing.rows)


def test_the_settings_of_a_run_that_was_trained_here_are_listed() -> None:
    run = create_run(epochs=7)
    targets = read_numeric_targets(run).values
    write_numeric_arrays(run.path, 1, {"mean": targets + OFFSETS, "variance": np.ones((3, len(targets)))})
    [listing] = build_numeric_content(run).sections[-1].parts
    assert isinstance(listing, Listing)
    assert ("epochs", "7") in listing.rows
