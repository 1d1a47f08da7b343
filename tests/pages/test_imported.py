"""Every screen with a run that was trained elsewhere: right, or one line on what is missing."""

from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.figures.palette import LIGHT
from ensemble.ui.shared import loaders
from ensemble.views.registry import VIEWS
from tests.conftest import REPO
from tests.runs.test_imported_run import imported
from tests.views.summaries import summarize


def opened(page: str, run: runs.Run, **words: str) -> AppTest:
    at = AppTest.from_file(str(REPO / "app.py"), default_timeout=240)
    at.query_params["run"] = run.id
    for name, value in words.items():
        at.query_params[name] = value
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception, at.exception
    assert "fault of the program" not in said(at)
    return at


def said(at: AppTest) -> str:
    shown = (*at.markdown, *at.caption, *at.info, *at.warning, *at.error, *at.subheader)
    return " ".join(str(one.value) for one in shown)


def test_predictions_runs_and_train_show_it() -> None:
    run = imported()
    assert "of 40 insects right" in said(opened("predictions", run))
    assert "mine" in said(opened("runs", run))
    assert "cannot be resumed" not in said(opened("train", run))
    assert "of 40 insects right" in said(opened("predictions", imported(images=False)))


def test_every_view_has_an_answer_or_says_why_not() -> None:
    run = imported()
    for name in VIEWS:
        summary = summarize(run, name)
        assert summary.answer, name
        assert summary.available == (name not in ("loss_by_value", "shift", "distillation")), name
        assert all(figure.draw(LIGHT).data for figure in summary.figures), name


def test_views_that_ask_its_members_say_that_it_was_trained_elsewhere() -> None:
    at = opened("inspect", imported())
    assert "trained elsewhere" not in said(at)
    assert at.get("plotly_chart")
    for view in ("shift", "digit"):
        at.query_params["view"] = view
        at.run()
        assert not at.exception
        assert "trained elsewhere" in said(at)


def test_it_is_compared_with_another_of_the_same_labels() -> None:
    imported(images=False)
    assert "Compare" not in said(opened("inspect", imported(), view="compare")).split("other run")


def test_classify_reports_that_members_are_missing_and_links_to_the_imported_predictions() -> None:
    at = opened("classify", imported())
    assert "were not kept" in said(at)
    links = {one.label: one.page for one in at.get("page_link")}
    assert "predictions" in links["See its predictions"]


def test_another_in_its_place_is_read_anew() -> None:
    before = imported(size=30)
    assert "of 30 insects right" in said(opened("predictions", before))
    runs.delete_run(before.id)
    after = imported(size=40)
    if after.id != before.id:  # the second is over
        after.path.rename(before.path)
        loaders.forget_runs()
    assert "of 40 insects right" in said(opened("predictions", runs.find_run(before.id)))
