"""Which run a screen is about when its address does not say: the one shown last in this tab."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.ui.shared import loaders
from tests.pages.ensembles import trained

APP = Path(__file__).parents[2] / "app.py"
Open = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def no_list_of_an_earlier_test() -> None:
    loaders.forget_runs()


@pytest.fixture
def tab() -> Open:
    """Opens a tab with a run in its address."""

    def opened(run: str = "", screen: str = "train") -> AppTest:
        at = AppTest.from_file(str(APP), default_timeout=240)
        if run:
            at.query_params["run"] = run
        at.switch_page(f"pages/{screen}.py").run()
        assert not at.exception
        return at

    return opened


def go_to(at: AppTest, screen: str) -> AppTest:
    """What the menu does: another screen, whose address says nothing."""
    at.query_params.clear()
    at.switch_page(f"pages/{screen}.py").run()
    assert not at.exception
    return at


def address(at: AppTest) -> str:
    found = at.query_params["run"]
    return found if isinstance(found, str) else found[0]


def two() -> tuple[runs.Run, runs.Run]:
    return trained(name="older", created=1000.0), trained(name="newer", created=2000.0)


def test_a_screen_without_a_run_in_its_address_shows_the_run_shown_last(tab: Open) -> None:
    older, newer = two()
    at = tab(older.id)
    for screen in ("train", "predictions", "inspect"):
        go_to(at, screen)
        assert at.subheader[0].value == "older"
        assert address(at) == older.id, "a refresh and a link show the same"
    at.query_params["run"] = newer.id
    assert at.run().subheader[0].value == "newer"
    assert address(go_to(at, "predictions")) == newer.id, "and is remembered from then on"
    runs.delete_run(newer.id)
    loaders.forget_runs()
    go_to(at, "predictions")
    assert not at.warning
    assert address(at) == older.id, "the newest, where the run shown last was deleted"


def test_a_run_picked_from_the_box_is_the_one_shown_last_in_this_tab_alone(tab: Open) -> None:
    older, newer = two()
    at = tab()
    assert address(at) == newer.id
    at.selectbox(f"run_picker_{newer.id}").select(older.id).run()
    assert address(go_to(at, "inspect")) == older.id
    assert address(tab()) == newer.id, "another tab remembers nothing of this one"


def test_a_run_that_is_still_listed_though_deleted_elsewhere_is_not_the_newest(tab: Open) -> None:
    older, newer = two()
    assert [run.id for run in loaders.list_cached_runs()] == [newer.id, older.id]
    runs.delete_run(newer.id)
    at = tab()
    assert not at.warning
    assert address(at) == older.id


def test_the_way_on_from_a_bad_link_leads_to_the_newest_not_to_the_one_before(tab: Open) -> None:
    older, newer = two()
    at = tab(older.id)
    at.query_params["run"] = "nonsense"
    at.run()
    (way_on,) = (one for one in at.button if one.label == "Show the newest run, newer")
    way_on.click().run()
    assert address(at) == newer.id
