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
from ensemble.ui.inspect import views as screen
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.registry import NUMERIC_VIEWS, TEACHER_VIEW, VIEWS
from ensemble.views.summary import summarize_view
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened
from tests.pages.stressed import measured
from tests.report.pages import Page

REPO = Path(__file__).resolve().parents[2]


def locate_screen(name: str) -> dict[str, str] | None:
    """Where Inspect shows a view: its words in the address; None if another screen or test has it."""
    if name in screen.COMMAND_VIEWS:
        view, parameter, word = screen.COMMAND_VIEWS[name]
        return {"view": view} | (parameter.build_query(word) if parameter else {})
    # A view of a run with a teacher: tests/pages/test_distillation.py; others without a control are on Train.
    return {"view": name} if VIEWS[name].question and name != TEACHER_VIEW else None


SCREENS = {name: locate_screen(name) for name in VIEWS}
# Inspect chooses itself which of these it draws; all others it draws as it draws calibration.
DRAWN = (("answer", "agreement"), ("member_map",), ("uncertainty",), ("confusion",), ("conformal",), ("shift",))


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


def test_the_screen_says_what_the_command_says(run: Run) -> None:
    epoch = evaluate_epoch(run)
    for names in (*DRAWN, ("calibration",)):
        screen = texts(opened(run, "inspect", **(SCREENS[names[-1]] or {})))
        for name in names:
            summary = summarize_view(VIEWS[name], epoch)
            assert summary.answer in screen, name
            for table in summary.tables if name != "answer" else ():  # whose table can be sorted
                assert table.caption in screen
                assert table.note in screen


def read_words(text: str, start: str, end: str) -> list[str]:
    """The words in backticks between two places of a text."""
    return re.findall(r"`(\w+)`", text.split(start, 1)[1].split(end, 1)[0])


def test_views_that_have_no_control_of_their_own_are_within_another_or_on_train() -> None:
    assert {name for name, view in VIEWS.items() if not view.question} == {
        *screen.COMMAND_VIEWS,
        "loss_by_value",
        "disputed",
    }
    assert {view for view, _, _ in screen.COMMAND_VIEWS.values()} <= set(screen.VIEWS)
    assert set(screen.VIEWS) - set(VIEWS) == {"compare", "digit"} <= set(screen.PAGE_ONLY_VIEWS)


@pytest.mark.parametrize(
    ("page", "start", "end", "views"),
    [
        ("command-line.md", "one its answer, evidence and tables.", "A run that predicts", VIEWS),
        ("command-line.md", "\nA run that predicts [numbers](#numbers) has", "instead", NUMERIC_VIEWS),
        ("python.md", "\nThe views are", "`figures` are", VIEWS),
        ("python.md", "The views are those of the page Numbers:", "; a view", NUMERIC_VIEWS),
        ("screens/inspect.md", "| `view` |", "\n", screen.VIEWS),
    ],
)
def test_documents_list_the_views_of_the_registry(page: str, start: str, end: str, views: dict[str, Any]) -> None:
    words = read_words((REPO / "docs" / page).read_text(), start, end)
    assert [word for word in words if word in views] == list(views), page
    assert set(words) - set(views) <= {"pair"}, page


def test_the_page_on_reports_lists_every_view() -> None:
    other_words = {
        "answer": "the verdict with its evidence",
        "confusion": "confusion matrix",
        "selective": "selective answers",
        "conformal": "conformal sets",
    }
    page = (REPO / "docs" / "report.md").read_text().split("## What is in it")[1].split("\n## ")[0]
    text = " ".join(page.split()).lower()
    words = {name: other_words.get(name, view.title.lower()) for name, view in VIEWS.items()}
    assert {name: word for name, word in words.items() if word not in text} == {}


def test_the_help_lists_the_views_of_the_registry() -> None:
    shown = CliRunner().invoke(main, ["inspect", "--help"]).output
    _, of_classes, of_numbers = re.split(r"Views of a run[^:]*:", shown)
    for text, views in ((of_classes, VIEWS), (of_numbers, NUMERIC_VIEWS)):
        assert re.findall(r"\w+", text)[: len(views)] == list(views)


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
