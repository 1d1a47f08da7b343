"""Test images as a person meets them: pressed, paged, opened from the keyboard, on a phone."""

import re

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from ensemble import datasets
from ensemble.analysis.predictions import evaluate_predictions
from tests.browser.conftest import AT_REST, App, drawn
from tests.pages.ensembles import probabilities, trained


def tiles(page: Page) -> Locator:
    return page.locator(".digits button")


def opened(page: Page) -> Locator:
    return page.get_by_test_id("stDialog")


def test_an_image_opens_at_a_press_and_its_neighbours_at_a_key(app: App) -> None:
    made = evaluate_predictions(probabilities("digits", 3, 2, 4.0), datasets.load_dataset("digits").test_labels)
    order = np.argsort(made.confidence, kind="stable")
    app.open("predictions", run=trained().id)
    expect(tiles(app.page).first).to_have_attribute("data-number", str(order[0]))
    tiles(app.page).nth(1).click()
    expect(opened(app.page)).to_contain_text(f"#{order[1]}")
    expect(opened(app.page).locator(".bars path").first).to_be_visible()
    expect(opened(app.page)).to_contain_text("The ensemble says")
    app.settle()
    app.page.keyboard.press("ArrowRight")
    expect(opened(app.page)).to_contain_text(f"#{order[2]}")
    app.page.reload()
    expect(opened(app.page)).to_contain_text(f"#{order[2]}")
    app.settle()
    app.page.keyboard.press("Escape")
    expect(opened(app.page)).to_have_count(0)
    app.settle()
    assert "digit=" not in app.page.url


def test_what_the_grid_asks_by_itself_takes_nobody_back_who_has_gone_elsewhere(app: App) -> None:
    """The server's words are held back while a link is pressed and the grid becomes narrower."""
    page, held = app.page.context.new_page(), list[bytes | str]()
    routes, holds = list[WebSocketRoute](), False

    def follow(browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()
        server.on_message(lambda words: held.append(words) if holds else browser.send(words))
        routes.append(browser)

    page.route_web_socket(re.compile("/_stcore/"), follow)
    page.goto(f"{app.server.url}/predictions?run={trained().id}")
    grid = page.locator(".digits")
    expect(grid).to_have_attribute("data-columns", re.compile(r"\d"))
    page.wait_for_selector(AT_REST)
    columns = grid.get_attribute("data-columns")
    holds = True
    page.get_by_role("link", name="Classify", exact=True).click()
    page.set_viewport_size({"width": 900, "height": 900})
    expect(grid).not_to_have_attribute("data-columns", str(columns))
    holds = False
    for words in held:
        routes[-1].send(words)
    page.wait_for_url(re.compile("/classify"))
    page.wait_for_selector(AT_REST)
    expect(page.locator(".st-key-page_title h2")).to_have_text("Classify")
    assert "/classify" in page.url


@pytest.mark.long
def test_the_keyboard_reaches_every_image(app: App) -> None:
    app.open("predictions", run=trained().id)
    expect(tiles(app.page).first).to_be_visible()
    columns = app.page.locator(".digits").evaluate(
        "grid => getComputedStyle(grid).gridTemplateColumns.split(' ').length"
    )
    tiles(app.page).first.focus()
    for key in ("ArrowRight", "ArrowDown"):
        app.page.keyboard.press(key)
    expect(tiles(app.page).nth(columns + 1)).to_be_focused()
    number = tiles(app.page).nth(columns + 1).get_attribute("data-number")
    app.page.keyboard.press("Enter")
    expect(opened(app.page)).to_contain_text(f"#{number}")


def test_a_filter_keeps_what_is_right_out_and_stays_after_a_refresh(app: App) -> None:
    app.open("predictions", run=trained(sure=2.0).id)
    app.page.get_by_role("radio", name="Wrong").click()
    app.page.wait_for_url("**show=wrong**")
    app.settle()
    expect(tiles(app.page).first).to_contain_text("✗")
    app.page.get_by_role("button", name="chevron_right").click()
    app.page.wait_for_url("**first=60**")
    app.settle()
    first = tiles(app.page).first.get_attribute("data-number")
    app.page.reload()
    expect(tiles(app.page).first).to_have_attribute("data-number", first or "")
    assert all("✗" in text for text in tiles(app.page).all_inner_texts())


@pytest.mark.long_cases
@pytest.mark.parametrize("width", [400, 1600])
def test_a_page_holds_whole_rows_and_nothing_runs_off_the_side(app: App, width: int) -> None:
    app.page.set_viewport_size({"width": width, "height": 800})
    app.open("predictions", run=trained(members=32, epochs=1, sure=1.0).id)
    expect(tiles(app.page).first).to_be_visible()
    # The browser says how many columns fit, and the page is made for so many.
    expect(app.page.locator(".digits")).to_have_attribute("data-columns", re.compile(r"\d"))
    app.settle()
    lefts = [box["x"] for tile in tiles(app.page).all() if (box := tile.bounding_box())]
    assert len(lefts) % len(set(lefts)) == 0
    assert 24 <= len(lefts) <= 60
    assert app.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert all(tile.evaluate("e => e.scrollWidth <= e.clientWidth") for tile in tiles(app.page).all()[:12])


def test_a_page_that_is_come_back_to_is_drawn_once(app: App) -> None:
    app.page.set_viewport_size({"width": 1240, "height": 800})  # not as wide as is assumed at first
    app.open("predictions", run=trained().id)
    menu, columns = app.page.get_by_test_id("stTopNavLink"), re.compile(r"\d")
    expect(app.page.locator(".digits")).to_have_attribute("data-columns", columns)
    app.settle()
    menu.filter(has_text="Runs").click()
    expect(app.page.get_by_test_id("stDataFrame")).to_be_visible()
    app.settle()
    before = app.traffic.drawings
    menu.filter(has_text="Predictions").click()
    expect(app.page.locator(".digits")).to_have_attribute("data-columns", columns)
    app.settle()
    assert app.traffic.drawings == before + 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_images_are_crisp_and_on_the_same_ground_in_both_themes(app: App, scheme: str) -> None:
    app.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    app.open("predictions", run=trained().id, order="number")
    image = app.page.locator(".digits .image").first
    expect(image).to_be_visible()
    truth = datasets.load_dataset("digits").test_images[0, ..., 0]
    thirds = slice(1, 84, 3)
    shot = drawn(image, (thirds, thirds), truth)[:84, :84]
    # The tile may stand between two pixels of the screen, so that its first row is the page's.
    assert set(np.unique(shot[1:])) == set(np.unique(truth)), "no grey that the image has not"
