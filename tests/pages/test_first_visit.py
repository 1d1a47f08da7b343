"""Before any launch Predictions, Inspect and Why show a recorded run, which is nobody's own."""

from typing import Any

import pytest
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.cli.program import main
from ensemble.figures.palette import LIGHT
from ensemble.ui.train.example import recorded_epoch, recording
from ensemble.views.registry import VIEWS
from ensemble.views.summary import summarize_view
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened, tiles, value

BAND = "Recorded example, not one of your runs"


def said(at: AppTest) -> str:
    words: Any = (*at.markdown, *at.caption, *at.info, *at.subheader)
    return " ".join(str(one.value) for one in words)


@pytest.mark.parametrize("page", ["predictions", "inspect", "why", "labels"])
def test_it_is_marked_and_leads_to_a_first_launch(page: str) -> None:
    at = opened(page=page)
    assert BAND in said(at)
    assert any(link.page == "train" for link in at.get("page_link"))
    assert value(at, "run") is None, "no link can name it"
    assert not [one for one in at.selectbox if (one.key or "").startswith("run_picker")]
    if page == "inspect":
        assert "what an ensemble knows" in at.subheader[0].value
        assert at.get("plotly_chart")


def test_it_is_gone_where_there_is_a_run_of_ones_own() -> None:
    assert BAND not in said(opened(trained(members=2)))


def test_predictions_show_its_images_at_every_epoch() -> None:
    at = opened(page="predictions", epoch=2, show="wrong")
    made = recording.load_recorded_predictions(2)
    assert {one["number"] for one in tiles(at)} <= set((~made.right).nonzero()[0].tolist())
    assert f"gets {int(made.right.sum())} of 500 digits right" in said(at)


def test_every_view_that_needs_no_member_has_an_answer_and_figures() -> None:
    epoch = recorded_epoch.load_recorded_shared_epoch()
    for name, view in VIEWS.items():
        if name in ("loss_by_value", "shift", "distillation"):  # Members are alike, gone and untaught.
            continue
        summary = summarize_view(view, epoch)
        assert summary.available, name
        assert summary.answer, name
        assert all(figure.draw(LIGHT).data for figure in summary.figures), name


def test_views_that_need_members_say_what_they_need() -> None:
    at = opened(page="inspect", view="compare")
    assert "Compare runs needs runs of your own" in said(at)
    for view, sentence in (
        ("shift", "Shift needs runs of your own"),
        ("digit", "One image needs runs of your own"),
        ("distillation", "teacher"),
    ):
        at.query_params["view"] = view
        at.run()
        assert not at.exception
        assert not at.error
        assert sentence in said(at)


def test_no_list_no_command_and_no_address_finds_it() -> None:
    assert runs.list_runs() == []
    listed = CliRunner().invoke(main, ["runs", "list", "--json"])
    assert recording.RECORDED_ID not in listed.output
    assert listed.exit_code == 0
    for page in ("runs", "compare"):
        assert "ecorded" not in said(opened(page=page))
    at = opened(page="inspect", run=recording.RECORDED_ID)
    assert BAND not in said(at)
    assert at.warning
