"""A view says the same on every face: page, report, notebook and command line."""

import json
from typing import Any

import pytest
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

import ensemble
from ensemble.cli.program import main
from ensemble.report import render_report
from ensemble.runs import Run
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.registry import VIEWS
from ensemble.views.summary import summarize_view
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened
from tests.pages.stressed import measured
from tests.report.pages import Page

# Where the screen has a view: its words in the address.
SCREENS: dict[str, dict[str, str]] = {
    "answer": {"view": "agreement"},
    "agreement": {"view": "agreement"},
    "member_map": {"view": "agreement", "picture": "map"},
    "committee": {"view": "committee"},
    "combining": {"view": "combining"},
    "uncertainty": {"view": "uncertainty"},
    "confusion": {"view": "uncertainty", "picture": "confusion"},
    "labels": {"view": "uncertainty", "picture": "labels"},
    "calibration": {"view": "calibration"},
    "selective": {"view": "selective"},
    "conformal": {"view": "selective", "mode": "sets"},
    "shift": {"view": "shift"},
}


@pytest.fixture
def run() -> Run:
    run = trained(members=3, validation=0.1, seconds=80.0)
    measured(run)
    return run


def texts(at: AppTest) -> str:
    """All that stands on the screen, as it is read."""
    elements = (*at.markdown, *at.caption, *at.info)
    text = "\n".join(str(element.value) for element in elements)
    return text.replace("**", "").replace("\\", "")


def invoke(*words: str) -> dict[str, Any]:
    """The object that a command prints."""
    done = CliRunner().invoke(main, ["inspect", *words, "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_answers_are_the_same_on_every_face(run: Run) -> None:
    epoch = evaluate_epoch(run)
    answers = {view["view"]: view for view in invoke(run.id)["views"]}
    report = Page(render_report([run])).said
    assert list(answers) == list(VIEWS)
    for name, view in VIEWS.items():
        summary = summarize_view(view, epoch)
        assert answers[name] == summary.to_answer()
        assert ensemble.open_run(run.id).view(name).answer == summary.answer
        if name in ("loss_by_value", "distillation"):  # All members are alike, and untaught.
            assert not summary.available
            continue
        assert " ".join(summary.answer.split()) in report
        for sentence in summary.evidence:
            assert " ".join(sentence.split()) in report


@pytest.mark.parametrize("name", SCREENS)
def test_the_screen_says_what_the_command_says(run: Run, name: str) -> None:
    summary = summarize_view(VIEWS[name], evaluate_epoch(run))
    screen = texts(opened(run, "inspect", **SCREENS[name]))
    assert summary.answer in screen
    for table in summary.tables:
        if name != "answer":  # whose table has columns that can be sorted
            assert table.caption in screen
            assert table.note in screen


def test_a_choice_is_answered_alike_by_a_control_a_command_and_a_notebook(run: Run) -> None:
    command = invoke(run.id, "selective", "--choose", "error=5", "--epoch", "1")
    assert command["epoch"] == 1
    assert command["choices"]["error"]["value"] == "5"
    notebook = ensemble.open_run(run.id).view("selective", epoch=1, error=5)
    assert notebook.to_dict() == {key: command[key] for key in notebook.to_dict()}
    screen = texts(opened(run, "inspect", view="selective", error="5", epoch="1"))
    assert command["answer"] in screen
    assert command["answer"] != invoke(run.id, "selective", "--epoch", "1")["answer"]


def test_an_epoch_that_was_picked_says_so(run: Run) -> None:
    assert "is your choice" in " ".join(invoke(run.id, "answer", "--epoch", "1")["evidence"])
    assert "is your choice" not in " ".join(invoke(run.id, "answer")["evidence"])
