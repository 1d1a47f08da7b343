"""Inspect, Labels in doubt, of a run with folds: test images or training images."""

import pytest

from ensemble.config import EnsembleConfig
from ensemble.report import render_report
from ensemble.runs import Run
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.registry import VIEWS
from ensemble.views.summary import summarize_view
from tests.pages.predictions_screen import opened, tiles
from tests.report.pages import Page
from tests.runs.groups.inline import trained


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("runs")))
        return trained(EnsembleConfig(network="logistic", members=4, folds=3, epochs=2, batch_size=256, validation=0.1))


@pytest.fixture
def run(there: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(there.path.parent))
    return there


def test_the_screen_says_what_the_command_says(run: Run) -> None:
    summary = summarize_view(VIEWS["labels"], evaluate_epoch(run), {"images": "training"})
    words = {"view": "uncertainty", "picture": "labels"}
    at = opened(run, "inspect", **words, images="training")
    screen = "\n".join(str(element.value) for element in (*at.markdown, *at.caption))
    assert summary.answer in screen
    assert summary.evidence[-1] in screen
    shown = summary.images[0].numbers[0]
    first, *_ = tiles(at)
    assert first["alt"].startswith(f"Training digit {shown}. ")
    assert first["votes"][-1][0] == f"number {shown:,}"
    test = opened(run, "inspect", **words)
    assert tiles(test)[0]["alt"].startswith("Test digit ")


@pytest.mark.long
def test_the_report_says_what_the_command_says(run: Run) -> None:
    report = Page(render_report([run])).said
    for choice in ("test", "training"):
        view = summarize_view(VIEWS["labels"], evaluate_epoch(run), {"images": choice})
        assert " ".join(view.answer.split()) in report
        assert all(" ".join(sentence.split()) in report for sentence in view.evidence)
