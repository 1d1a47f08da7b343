"""Every screen with a run that was trained elsewhere: right, or one line on what is missing."""

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.ui.inspect.views import VIEWS
from ensemble.ui.shared import loaders
from tests.conftest import REPO
from tests.runs.test_imported_run import imported


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


@pytest.mark.parametrize("images", [True, False])
def test_predictions_and_runs_show_it(images: bool) -> None:
    run = imported(images=images)
    assert "of 40 insects right" in said(opened("predictions", run))
    assert "mine" in said(opened("runs", run))
    assert "cannot be resumed" not in said(opened("train", run))


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_of_inspect_draws_it_or_says_why_not(view: str) -> None:
    text = said(opened("inspect", imported(), view=view))
    assert ("trained elsewhere" in text) == (view in ("shift", "digit"))


def test_it_is_compared_with_another_of_the_same_labels() -> None:
    imported(images=False)
    assert "Compare" not in said(opened("inspect", imported(), view="compare")).split("other run")


def test_classify_says_that_its_members_are_not_here() -> None:
    assert "were not kept" in said(opened("classify", imported()))


def test_another_in_its_place_is_read_anew() -> None:
    before = imported(size=30)
    assert "of 30 insects right" in said(opened("predictions", before))
    runs.delete_run(before.id)
    after = imported(size=40)
    if after.id != before.id:  # the second is over
        after.path.rename(before.path)
        loaders.forget_runs()
    assert "of 40 insects right" in said(opened("predictions", runs.find_run(before.id)))
