"""A view says the same on every face: page, report, notebook and command line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

import ensemble
from ensemble.cli.program import main
from ensemble.report import render_report
from ensemble.runs import Run
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.registry import NUMERIC_VIEWS, VIEWS
from ensemble.views.summary import summarize_view
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened
from tests.pages.stressed import measured
from tests.report.pages import Page

REPO = Path(__file__).resolve().parents[2]
# Where Inspect shows a view: its words in the address; None if another screen or test has it.
SCREENS: dict[str, dict[str, str] | None] = {
    "answer": {"view": "agreement"},
    "loss_by_value": None,  # Train shows it
    "disputed": None,  # Train shows them
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
    "distillation": None,  # of a run with a teacher: tests/pages/test_distillation.py
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


@pytest.mark.parametrize("name", [name for name, words in SCREENS.items() if words])
def test_the_screen_says_what_the_command_says(run: Run, name: str) -> None:
    summary = summarize_view(VIEWS[name], evaluate_epoch(run))
    screen = texts(opened(run, "inspect", **(SCREENS[name] or {})))
    assert summary.answer in screen
    for table in summary.tables:
        if name != "answer":  # whose table has columns that can be sorted
            assert table.caption in screen
            assert table.note in screen


def test_every_list_of_views_is_that_of_the_registry() -> None:
    """Help, documents and the table above: a view that is added is missing nowhere."""
    assert list(SCREENS) == list(VIEWS)
    shown = CliRunner().invoke(main, ["inspect", "--help"]).output
    lists = {
        "inspect --help": (shown.split("run of classes:")[1].split("Views of")[0], VIEWS),
        "inspect --help, numbers": (shown.split("predicts numbers:")[1], NUMERIC_VIEWS),
    }
    for page, end in (("python.md", "`figures` are"), ("command-line.md", "A run that predicts")):
        text = (REPO / "docs" / page).read_text().split("The views are `answer`")[1]
        lists[page] = (f"`answer`{text.split(end)[0]}", VIEWS)
    numbers = (REPO / "docs" / "python.md").read_text().split("of the page Numbers:")[1]
    lists["python.md, numbers"] = (numbers.split("; a view")[0], NUMERIC_VIEWS)
    for where, (text, views) in lists.items():
        words = re.findall(r"\w+", text)
        assert [name for name in views if name not in words] == [], where


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
