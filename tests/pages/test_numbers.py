"""Numbers: a run that predicts numbers is handed in, opened, asked, named, deleted."""

import io

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.report import render_report
from ensemble.runs.numeric.imported_numeric_run import create_imported_numeric_run
from ensemble.runs.store import find_regression_run, list_runs
from ensemble.ui.numbers.answer import TITLES
from ensemble.views.numeric.evaluated_numbers import evaluate_numeric_run
from ensemble.views.numeric.regression_groups import build_regression_comparison
from ensemble.views.parts import Paragraph, Table
from ensemble.views.registry import NUMERIC_VIEWS
from ensemble.views.summary import summarize_view
from tests.pages.ensembles import trained
from tests.pages.hostile import NAME, WORDS, holes, literal
from tests.pages.predictions_screen import opened, value
from tests.pages.test_import_dialog import handed_in
from tests.report.pages import Page
from tests.runs.numeric.conftest import create_run
from tests.views.test_numeric_views import MEAN, NOISE, TARGETS, build_ensemble, keep_run


def said(at: AppTest) -> str:
    elements = (*at.markdown, *at.caption, *at.info, *at.warning, *at.subheader)
    return "\n".join(str(one.value) for one in elements).replace("\\", "").replace("**", "")


def test_before_any_run_it_says_what_will_be_here() -> None:
    at = opened(page="numbers")
    assert "How far off is it" in said(at)
    assert at.button(key="import_open")


@pytest.mark.long_cases
@pytest.mark.parametrize("view", [view for view in TITLES if view != "compare"])
def test_the_screen_says_what_the_command_says(view: str) -> None:
    run = keep_run(build_ensemble("normal"))
    at = opened(run.id, page="numbers", view=view)
    numbers = evaluate_numeric_run(run)
    for name in ("answer", view):
        summary = summarize_view(NUMERIC_VIEWS[name], numbers)
        assert summary.answer in said(at)
        assert all(sentence in said(at) for sentence in summary.evidence)
    figures = summarize_view(NUMERIC_VIEWS[view], numbers).figures
    assert len(at.get("plotly_chart")) == len(figures)
    assert "are for classes" in said(at)


@pytest.mark.long_cases
@pytest.mark.parametrize("page", ["predictions", "why", "labels", "classify", "train"])
def test_every_screen_of_classes_says_so_and_leads_here(page: str) -> None:
    run = keep_run(build_ensemble("points"))
    at = opened(run.id, page=page)
    assert "This page is for classes, and “5 members · numbers · imported” predicts" in said(at)
    assert any(link.page == "numbers" for link in at.get("page_link"))


def test_inspect_leads_here_and_compare_says_where_it_is() -> None:
    run = keep_run(build_ensemble("normal"))
    at = opened(run.id, page="inspect")
    assert "The ensemble’s RMSE is" in said(at)
    compared = opened(page="compare", runs=run.id)
    assert "predicts numbers" in said(compared)


def test_compare_shows_runs_that_predict_the_same_numbers() -> None:
    good, small = (keep_run(build_ensemble("normal", stretch=stretch)) for stretch in (1.0, 0.3))
    at = opened(page="compare", runs=f"{good.id},{small.id}")
    parts = list(build_regression_comparison([runs.find_run(run.id) for run in (good, small)]))
    [answer] = [part.text for part in parts if isinstance(part, Paragraph) and part.role == "answer"]
    assert answer in said(at)
    assert len(at.dataframe) == len([part for part in parts if isinstance(part, Table)]) == 2


def test_training_rows_of_a_run_with_folds_are_on_the_page_and_in_the_report() -> None:
    run = runs.execute_run(create_run(members=4, folds=2, epochs=2).id)
    at = opened(run.id, page="numbers", view="worst", examples="training")
    numbers = evaluate_numeric_run(run)
    summary = summarize_view(NUMERIC_VIEWS["worst"], numbers, {"examples": "training"})
    figures = next(text for text in summarize_view(NUMERIC_VIEWS["answer"], numbers).evidence if "Cross-val" in text)
    page = Page(render_report([run])).said
    for sentence in (summary.answer, *summary.evidence, figures):
        assert sentence in said(at).replace("  \n", " ")
        assert sentence in page


def test_a_damaged_run_is_reported_and_can_be_deleted_and_a_classification_run_links_to_inspect() -> None:
    run = keep_run(build_ensemble("points"))
    (run.path / "targets.npz").write_bytes(b"PK")
    at = opened(run.id, page="numbers")
    assert "cannot be read" in " ".join(str(one.value) for one in at.error)
    at.button(key="numeric_delete").click().run()
    at.button(key="numeric_delete_sure").click().run()
    assert list_runs() == []
    of_classes = trained(members=2)
    at = opened(of_classes, page="numbers")
    assert "This page is for numbers, and" in said(at)
    assert any(link.page == "inspect" for link in at.get("page_link"))
    assert value(at, "run") == of_classes.id


def test_another_run_is_compared_with_this_one() -> None:
    run = keep_run(build_ensemble("normal"))
    at = opened(run.id, page="numbers", view="compare")
    assert "Import another run of the same examples" in said(at)
    other = keep_run(build_ensemble("normal", stretch=0.3))
    at = opened(run.id, page="numbers", view="compare", with_=other.id)
    [answer] = [
        part.text
        for part in build_regression_comparison([run, other], other.id)
        if isinstance(part, Paragraph) and part.role == "answer"
    ]
    assert answer in said(at)
    assert "the other is significantly worse" in said(at)


def test_a_file_is_handed_in_named_and_deleted() -> None:
    held = io.BytesIO()
    np.savez(held, mean=MEAN, std=np.tile(NOISE, (len(MEAN), 1)), targets=TARGETS)
    at = handed_in(held.getvalue(), "numbers.npz")
    assert "5 members · 400 examples · means and spreads" in said(at)
    at.text_input(key="import_target").input("height")
    at.text_input(key="import_unit").input("m")
    at.button(key="import_keep").click().run()
    (run,) = list_runs()
    assert (run.target_name, run.unit) == ("height", "m")
    at = opened(page="runs")
    [row] = at.dataframe[0].value.to_dict("records")
    assert (row["task"], row["data"], row["id"]) == ("regression", "height in m", run.id)
    at = opened(run.id, page="numbers")
    at.text_input(key=f"name_of_{run.id}").input("mine").run()
    at.text_area(key=f"note_of_{run.id}").input("noted").run()
    found = find_regression_run(run.id)
    assert (found.name, found.note) == ("mine", "noted")
    at.button(key="numeric_delete").click().run()
    at.button(key="numeric_delete_sure").click().run()
    assert not at.exception
    assert list_runs() == []


def test_the_report_says_what_the_screen_says() -> None:
    run = keep_run(build_ensemble("normal"))
    numbers = evaluate_numeric_run(run)
    written = render_report([run])
    page = Page(written).said
    for view in NUMERIC_VIEWS.values():
        summary = summarize_view(view, numbers)
        assert " ".join(summary.answer.split()) in page
        for sentence in summary.evidence:
            assert " ".join(sentence.split()) in page
    assert "not the predictions themselves" in written
    assert "makes a run of them again" not in written


@pytest.mark.long_cases
@pytest.mark.parametrize("view", ["worst", "members", "predicted", "compare"])
def test_names_from_outside_stay_text(view: str) -> None:
    predicted = build_ensemble("normal").select_members([0, 1])
    for _ in range(2):
        run = create_imported_numeric_run(
            predicted,
            TARGETS,
            name=NAME,
            note=WORDS,
            target_name=NAME,
            unit="$zz$ <b>zz</b>",
            member_names=[NAME, "b"],
            example_names=[f"{NAME} {number}" for number in range(len(TARGETS))],
        )
    at = opened(run.id, page="numbers", view=view)
    assert sorted(holes(at)) == []
    assert NAME in literal(at)
    assert sorted(holes(opened(page="runs"))) == []
    assert sorted(holes(opened(run.id, page="predictions"))) == []
    assert sorted(holes(opened(page="compare", runs=run.id))) == []


def test_runs_lists_both_tasks_and_compare_takes_one() -> None:
    regressions = [keep_run(build_ensemble("normal", stretch=stretch)) for stretch in (1.0, 0.3)]
    classes = runs.find_run(trained(members=2).id)
    at = opened(page="runs")
    rows = at.dataframe[0].value.set_index("id")
    assert set(rows.index) == {run.id for run in (*regressions, classes)}
    assert rows["rmse"].notna().all(), "in the table those without a figure come after the others"
    assert rows["rmse"][classes.id] == np.inf
    assert rows["rmse"][regressions[0].id] == regressions[0].status.ensemble_test_rmse
    assert rows["accuracy"].notna().to_dict() == {
        run.id: run.task == "classification" for run in (*regressions, classes)
    }
    every = [*regressions, classes]
    ids = ",".join(run.id for run in every)
    at = opened(page="runs", runs=ids)
    assert "tick runs of one task" in said(at)
    assert all(link.disabled for link in at.get("page_link") if link.label == "Compare 3 runs")
    at = opened(regressions[0].id, page="runs")
    at.text_input(key=f"name_of_{regressions[0].id}").input("mine").run()
    assert find_regression_run(regressions[0].id).name == "mine"
    at = opened(page="compare", runs=ids)
    assert "2 runs of these predict numbers and are left out" in said(at)
    at.button(key="compare_regressions").click().run()
    assert not at.exception
    assert value(at, "runs") == ",".join(run.id for run in regressions)
    assert "left out" not in said(at)
