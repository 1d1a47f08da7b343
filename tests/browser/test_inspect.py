"""Inspect as a person meets it: the answer, views, epochs, cells that open their images."""

import re

import numpy as np
from playwright.sync_api import Locator, Page, expect

from ensemble import datasets
from ensemble.analysis.predictions import evaluate_predictions
from tests.browser.conftest import App
from tests.pages.ensembles import probabilities, trained

# How many members are enough, once all committees have been counted.
ENOUGH = re.compile("members are enough|member is enough|Keep (all|both)")


def tiles(page: Page) -> Locator:
    return page.locator(".digits button")


def pictures(page: Page) -> Locator:
    return page.locator(".js-plotly-plot .main-svg").first


def press(page: Page, point: Locator) -> None:
    """Presses a point of a chart where it is drawn: over it lies what catches the pointer."""
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def test_the_answer_stands_and_views_and_epochs_are_chosen(app: App) -> None:
    app.open("inspect", run=trained(epochs=3, sure=2.0).id)
    answer = app.page.get_by_role("heading", name=re.compile("members do on average|average member"))
    enough = app.page.get_by_test_id("stMarkdown").get_by_text(ENOUGH)
    expect(enough.first).to_be_visible()
    expect(pictures(app.page)).to_be_visible()
    third = answer.inner_text()
    app.page.get_by_role("slider", name="Epoch").press("ArrowLeft")
    app.page.wait_for_url("**epoch=2**")
    app.settle()
    expect(enough.first).to_be_visible()
    assert answer.inner_text() != third
    app.page.get_by_role("radio", name="Uncertainty").click()
    app.page.wait_for_url("**view=uncertainty**")
    expect(app.page.get_by_text("aleatoric (nats)")).to_be_visible()
    assert "epoch=2" in app.page.url
    app.page.reload()
    expect(app.page.get_by_text("aleatoric (nats)")).to_be_visible()


def test_a_cell_of_the_confusion_matrix_opens_its_digits(app: App) -> None:
    made = evaluate_predictions(probabilities("digits", 3, 2, 1.0), datasets.load_dataset("digits").test_labels)
    wrong = np.bincount(10 * made.labels + made.said, minlength=100) * (np.arange(100) % 11 > 0)
    cell = int(wrong.argmax())
    is_, said = divmod(cell, 10)
    app.open("inspect", run=trained(sure=1.0).id, view="uncertainty", picture="confusion")
    press(app.page, app.page.locator(".js-plotly-plot .points path.point").nth(cell))
    app.page.wait_for_url(f"**cell={is_}-{said}**")
    app.settle()
    expect(tiles(app.page)).to_have_count(int(wrong.max()))
    expect(tiles(app.page).first).to_contain_text(f"✗ {said}, is {is_}")
    tiles(app.page).first.click()
    expect(app.page.get_by_test_id("stDialog")).to_contain_text("The ensemble says")


def test_a_point_of_the_scatter_shows_its_digit(app: App) -> None:
    made = evaluate_predictions(probabilities("digits", 3, 2, 2.0), datasets.load_dataset("digits").test_labels)
    app.open("inspect", run=trained(sure=2.0).id, view="uncertainty")
    expect(pictures(app.page)).to_be_visible()
    app.settle()
    wrong = app.page.locator(".js-plotly-plot .scatterlayer .trace").nth(1)
    press(app.page, wrong.locator("path.point").nth(int((~made.right).sum()) - 1))
    expect(app.page.get_by_text("1 digit chosen")).to_be_visible()
    expect(tiles(app.page)).to_have_count(1)


def top(page: Page, place: str) -> float:
    """How far a part of the page begins below the window's upper edge, in pixels."""
    return float(page.locator(place).first.evaluate("e => e.getBoundingClientRect().top"))


def test_the_view_begins_within_300_px_and_the_run_stays_in_sight(app: App) -> None:
    app.open("inspect", run=trained(members=4, epochs=3, sure=2.0).id, view="uncertainty")
    expect(pictures(app.page)).to_be_visible()
    app.settle()
    assert top(app.page, ".st-key-view") <= 300
    lines = {round(top(app.page, f".st-key-address_view_{place}")) for place in range(3)}
    assert len(lines) == 1, "all views in one row"
    app.page.mouse.move(600, 600)
    app.page.mouse.wheel(0, 400)
    expect(
        app.page.get_by_role("heading", name=re.compile("members do on average|average member"))
    ).not_to_be_in_viewport()
    assert 55 <= top(app.page, ".st-key-run_line") <= 75, "below the menu"


def test_a_figures_menu_saves_its_picture_and_its_figures(app: App) -> None:
    run = trained(members=4, sure=2.0).id
    app.open("inspect", run=run, view="agreement")
    expect(pictures(app.page)).to_be_visible()
    app.settle()
    assert not app.page.locator('.modebar-btn[data-title^="Download"]:visible').count()
    drawings = app.traffic.drawings
    heads = {"Save as PNG": b"\x89PNG", "Save as SVG": b"<svg ", "Figures as CSV": b"member,"}
    for label, head in heads.items():
        button = app.page.get_by_role("button", name=label)
        if not button.is_visible():
            app.page.locator(".st-key-inspect_pairs_menu button:visible").click()
        with app.page.expect_download() as saved:
            button.click()
        assert saved.value.suggested_filename.startswith(f"{run}-epoch-2-disagreement.")
        assert saved.value.path().read_bytes().startswith(head)
        app.page.keyboard.press("Escape")
        expect(button).not_to_be_visible()
    assert app.traffic.drawings == drawings, "nothing is drawn again"


def test_nothing_runs_off_the_side_of_a_phone(app: App) -> None:
    app.page.set_viewport_size({"width": 400, "height": 800})
    run = trained(members=5, epochs=2, sure=2.0).id
    for view in ("agreement", "uncertainty"):
        app.open("inspect", run=run, view=view)
        expect(pictures(app.page)).to_be_visible()
        assert app.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        right = app.page.locator(".js-plotly-plot").first.evaluate("e => e.getBoundingClientRect().right")
        assert right <= 400
