"""The table of runs as a person meets it: a row pressed, a name typed, a run deleted."""

import re
import time
from contextlib import suppress

from playwright.sync_api import Error, Locator, Page, expect

from ensemble import runs
from ensemble.wording.run_names import format_run_name
from tests.browser.conftest import App
from tests.pages.ensembles import trained

HEADER, ROW = 36, 35


def table(page: Page) -> Locator:
    """The table; what it says stands in it as text. While it is drawn anew there are two."""
    return page.get_by_test_id("stDataFrame").last


def open_runs(app: App, name: str) -> None:
    """Opens the screen; draws it again while what it knows was read before there was this run."""
    deadline = time.monotonic() + 240
    app.open("runs")
    while name not in (table(app.page).text_content() or ""):
        assert time.monotonic() < deadline, "the run is not in the table"
        app.page.keyboard.press("r")
        app.settle()


def press_row(page: Page, row: int) -> None:
    """Presses the box in front of a row; in the drawing there is nothing to press by name."""
    box = table(page).bounding_box()
    assert box
    page.mouse.click(box["x"] + 16, box["y"] + HEADER + ROW * row + ROW / 2)


def choose_row(page: Page, row: int, run_id: str) -> None:
    """Presses a row until it is chosen: a table that is just being drawn may miss a press."""
    deadline = time.monotonic() + 240
    while f"run={run_id}" not in page.url:
        assert time.monotonic() < deadline, "no press chooses the row"
        press_row(page, row)
        with suppress(Error):
            page.wait_for_url(f"**run={run_id}**", timeout=4000)


def test_a_row_stays_chosen_and_what_is_typed_stays_while_the_table_refreshes(app: App) -> None:
    going = trained(done=1, state="training", working=True, created=time.time() + 60)
    one = trained(members=5, created=time.time() + 50)
    open_runs(app, format_run_name(one))
    choose_row(app.page, 1, one.id)
    name = app.page.get_by_label("Name", exact=True)
    name.click()
    app.page.keyboard.type("half a na")
    runs.rename_run(going.id, "renamed elsewhere")
    expect(table(app.page)).to_contain_text("renamed elsewhere")
    expect(name).to_have_value("half a na")
    app.page.keyboard.type("me")
    app.page.keyboard.press("Enter")
    expect(app.page.get_by_text("Name saved.")).to_be_visible()
    assert runs.find_run(one.id).name == "half a name"
    assert f"run={one.id}" in app.page.url
    app.page.get_by_role("link", name="Open its predictions").click()
    app.page.wait_for_url(f"**/predictions?run={one.id}**")
    runs.delete_run(one.id)


def test_a_run_is_deleted_when_asked_twice(app: App) -> None:
    one = trained(name="to be deleted", created=time.time() + 100)
    app.open("runs", run=one.id)
    app.page.get_by_role("button", name="Delete…").click()
    app.page.get_by_role("button", name="Delete to be deleted for good").click()
    deadline = time.monotonic() + 240
    while one.path.exists():
        assert time.monotonic() < deadline, "the run is still there"
        app.page.wait_for_timeout(50)
    expect(app.page.get_by_text(re.compile("^Deleted")).first).to_be_visible()
    app.settle()
    assert "run=" not in app.page.url


def test_rows_that_are_ticked_one_after_the_other_are_compared(app: App) -> None:
    several = [trained(members=2, done=1, created=time.time() + 200 + at) for at in range(3)]
    open_runs(app, format_run_name(several[0]))
    choose_row(app.page, 0, several[2].id)
    for row in (1, 2):  # without waiting until the first is drawn
        press_row(app.page, row)
    expect(app.page.get_by_text("3 runs ticked")).to_be_visible()
    app.page.get_by_role("link", name="Compare 3 runs").click()
    app.page.wait_for_url("**/compare?**")
    assert all(run.id in app.page.url for run in several)
    for run in several:
        runs.delete_run(run.id)


def test_a_column_is_added_to_those_that_are_shown_though_the_page_was_drawn_again(app: App) -> None:
    one = trained(members=2, done=1, created=time.time() + 300)
    open_runs(app, format_run_name(one))
    choose_row(app.page, 0, one.id)  # draws again, while the choice of columns is closed
    app.settle()
    app.page.get_by_test_id("stPopoverButton").get_by_text("Columns").click()
    expect(app.page.get_by_role("button", name="State", exact=True)).to_have_attribute("aria-pressed", "true")
    app.page.get_by_role("button", name="ECE", exact=True).click()
    app.page.wait_for_url("**fields=**")
    assert {"name", "state", "ece", "note"} <= set(re.split("=|%2C", app.page.url))
    runs.delete_run(one.id)
