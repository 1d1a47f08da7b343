"""What the report of a run that predicts numbers says of its settings."""

import numpy as np

from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.report.single_run import build_run_content
from ensemble.runs.numeric.imported_numeric_run import create_imported_numeric_run
from ensemble.runs.numeric.numeric_predictions import read_numeric_targets, write_numeric_arrays
from ensemble.views.parts import CopyableText, Listing, Paragraph
from ensemble.wording.provenance import build_rerun_command
from tests.runs.numeric.conftest import create_run

OFFSETS = np.array([[0.1], [-0.2], [0.3]])


def test_the_settings_of_an_imported_run_are_reported_as_unknown() -> None:
    targets = np.random.default_rng(1).normal(size=40)
    mixture = NormalMixture(targets + OFFSETS, np.ones((3, 40)))
    run = create_imported_numeric_run(mixture, targets, unit="m", target_name="height")
    parts = build_run_content(run).sections[-1].parts
    [paragraph] = [part for part in parts if isinstance(part, Paragraph)]
    assert "settings are not known" in paragraph.text
    facts, settings = (dict(part.rows) for part in parts if isinstance(part, Listing))
    assert facts == {"Predicts": "height", "Unit": "m", "Members": "member 1, member 2, member 3"}
    assert settings == {"Members": "3", "Epochs": "1"}


def test_the_settings_of_a_run_that_was_trained_here_are_listed() -> None:
    run = create_run(epochs=7)
    targets = read_numeric_targets(run).values
    write_numeric_arrays(run.path, 1, {"mean": targets + OFFSETS, "variance": np.ones((3, len(targets)))})
    parts = build_run_content(run).sections[-1].parts
    settings = next(part for part in parts if isinstance(part, Listing) and part.fold.startswith("Settings"))
    assert settings.rows.index(("Epochs", "7")) < settings.rows.index(("Depth", "2")), "what differs comes first"
    assert ("Depth", "2") in settings.rows
    command = next(part.text for part in parts if isinstance(part, CopyableText))
    assert command == build_rerun_command(run)
    assert "--epochs 7" in command
