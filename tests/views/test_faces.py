"""A view says the same on every face: page, report, notebook and command line."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

import ensemble
from ensemble.cli.program import main
from ensemble.report import render_report
from ensemble.runs import Run
from ensemble.ui.inspect import views as screen
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.registry import NUMERIC_VIEWS, VIEWS, RegisteredView
from ensemble.views.summary import summarize_view
from ensemble.wording.escaping import strip_markdown
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened
from tests.pages.stressed import measured
from tests.report.pages import Page

REPO = Path(__file__).resolve().parents[2]


def locate_screen(name: str) -> dict[str, str] | None:
    """Where Inspect shows a view: its words in the address; None if another screen or test has it."""
    if name == "answer":
        return {"view": screen.DEFAULT_VIEW}
    if VIEWS[name].within:
        return {"view": VIEWS[name].within, "picture": name}
    # A view of a run with a teacher: tests/pages/test_distillation.py; others without a control are on Train.
    return {"view": name} if VIEWS[name].question and name != "distillation" else None


SCREENS = {name: locate_screen(name) for name in VIEWS}


@pytest.fixture(scope="module")
def run_of_this_file(tmp_path_factory: pytest.TempPathFactory) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("runs")))
        run = trained(members=3, validation=0.1, seconds=80.0)
        measured(run)
        return run


@pytest.fixture
def run(run_of_this_file: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run that tests read."""
    monkeypatch.setenv("ENSEMBLE_RUNS", str(run_of_this_file.path.parent))
    return run_of_this_file


def texts(at: AppTest) -> str:
    """All that stands on the screen, as it is read."""
    elements = (*at.markdown, *at.caption, *at.info)
    return normalize("\n".join(str(element.value) for element in elements))


def normalize(text: str) -> str:
    return " ".join(strip_markdown(text).split())


def cells(frame: pd.DataFrame) -> list[list[str]]:
    """A table's header and rows; a sign in front is defused on pages, for files of tables."""
    rows = frame.astype(str).to_numpy().tolist()
    return [list(frame.columns), *([cell.removeprefix("'") for cell in row] for row in rows)]


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
def test_the_screen_shows_all_that_a_view_holds(run: Run, name: str) -> None:
    summary = summarize_view(VIEWS[name], evaluate_epoch(run))
    words = SCREENS[name] or {}
    at = opened(run, "inspect", **words)
    assert not at.error
    groups = [one for one in at.get("button_group") if one.key.startswith("address_view")]
    assert [one.value for one in groups if one.value] == [words["view"]]
    screen = texts(at)
    assert normalize(summary.answer) in screen
    for paragraph in summary.paragraphs:
        # Shift's job says itself what it measures.
        assert paragraph.role == "scope" or normalize(paragraph.text) in screen
    for figure in summary.figures:
        assert normalize(figure.explanation) in screen
    if name != "answer":  # Its table has columns that can be sorted; it stands above agreement's figures.
        assert len(at.get("plotly_chart")) == len(summary.figures)
        shown = [cells(element.value) for element in at.dataframe]
        for table in summary.tables:
            assert cells(table.frame) in shown
            assert table.caption in screen
            assert normalize(table.note) in screen
    assert sum("CSV" in one.label for one in at.get("download_button")) > len(summary.figures)


def test_views_that_have_no_control_of_their_own_are_within_another_or_on_train() -> None:
    alone = {name for name, view in VIEWS.items() if not view.question and not view.within}
    assert alone == {"answer", "loss_by_value", "disputed"}
    assert {view.within for view in VIEWS.values() if view.within} <= set(screen.VIEWS)
    assert set(screen.VIEWS) - set(VIEWS) == {"compare", "digit"} <= set(screen.PAGE_ONLY_VIEWS)


def tabulate_views(views: Mapping[str, RegisteredView]) -> str:
    """Return a Markdown table of views."""
    rows = [f"| `{name}` | {view.title} | {view.summary} |" for name, view in views.items()]
    return "\n".join(["| view | title | what it shows |", "| --- | --- | --- |", *rows]) + "\n"


def test_the_page_on_views_lists_the_registry(pytestconfig: pytest.Config) -> None:
    page = REPO / "docs" / "views.md"
    text = page.read_text()
    head, classes, numbers = re.split(r"(?<=\n\n)\|[^\n]*(?:\n\|[^\n]*)*\n", text)
    current = "".join([head, tabulate_views(VIEWS), classes, tabulate_views(NUMERIC_VIEWS), numbers])
    if pytestconfig.getoption("--update-snapshots"):
        page.write_text(current)
    assert current == page.read_text()


def test_the_help_lists_the_views_of_the_registry() -> None:
    shown = CliRunner().invoke(main, ["inspect", "--help"]).output
    _, of_classes, of_numbers = re.split(r"Views of a run[^:]*:", shown)
    for text, views in ((of_classes, VIEWS), (of_numbers, NUMERIC_VIEWS)):
        lines = text.split("Options:")[0].split("\n")
        assert [tuple(line.split(None, 1)) for line in lines if line.strip()] == [
            (v.name, v.summary) for v in views.values()
        ]
        assert max(len(view.summary) for view in views.values()) <= 80


def test_a_choice_is_answered_alike_by_a_control_a_command_and_a_notebook(run: Run) -> None:
    command = invoke(run.id, "selective", "--choose", "error=5", "--epoch", "1")
    assert command["epoch"] == 1
    assert command["choices"]["error"]["value"] == "5"
    notebook = ensemble.open_run(run.id).view("selective", epoch=1, error=5)
    assert notebook.to_dict() == {key: command[key] for key in notebook.to_dict()}
    screen = texts(opened(run, "inspect", view="selective", error="5", epoch="1"))
    assert normalize(command["answer"]) in screen
    assert command["answer"] != invoke(run.id, "selective", "--epoch", "1")["answer"]


def test_an_epoch_that_was_picked_says_so(run: Run) -> None:
    assert "is your choice" in " ".join(invoke(run.id, "answer", "--epoch", "1")["evidence"])
    assert "is your choice" not in " ".join(invoke(run.id, "answer")["evidence"])
