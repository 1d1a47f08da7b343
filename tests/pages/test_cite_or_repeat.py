"""Cite or repeat: on a run's screens, its command, a line to cite it by, and BibTeX."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.datasets import registry
from ensemble.ui.shared import loaders
from ensemble.wording.provenance import build_rerun_command, format_bibtex, format_citation
from tests.pages.ensembles import probabilities, trained

APP = Path(__file__).parents[2] / "app.py"


def said(screen: str, run: runs.Run) -> list[str]:
    loaders.forget_runs()
    at = AppTest.from_file(str(APP), default_timeout=240)
    at.query_params["run"] = run.id
    at.switch_page(f"pages/{screen}.py").run()
    assert not at.exception
    return [one.value for one in at.code]


@pytest.mark.parametrize("screen", ["runs", "train"])
def test_a_run_can_be_cited_and_made_again(screen: str) -> None:
    run = trained(seed=7, name="of {mine}")
    command, line, entry = said(screen, run)
    assert command == build_rerun_command(run)
    assert "--seed 7" in command
    assert (line, entry) == (format_citation(run), format_bibtex(run))


def test_a_run_that_came_from_elsewhere_can_be_cited() -> None:
    digits = registry.find_dataset_entry("digits")
    labels = runs.load_test_set(trained()).labels
    run = runs.create_imported_run([probabilities("digits", 2, 1, 2.0)], labels, digits)
    assert said("runs", run) == [format_citation(run), format_bibtex(run)]
