"""Five steps as a person walks them: by the arrow keys, on a phone, before any run of their own."""

from playwright.sync_api import expect

from ensemble.ui.train.example import recording
from tests.browser.conftest import App

PHONE = {"width": 375, "height": 800}


def test_arrow_keys_walk_through_the_recorded_run_on_a_phone(app: App) -> None:
    app.page.set_viewport_size(PHONE)
    app.open("why", step=2)
    expect(app.page.get_by_text("Recorded example, not one of your runs")).to_be_visible()
    expect(app.page.locator(".st-key-why_bars").get_by_test_id("stPlotlyChart")).to_be_visible()
    app.page.keyboard.press("ArrowLeft")
    app.settle()
    expect(app.page.get_by_role("heading", name="What is this digit?")).to_be_visible()
    picture = app.page.locator(".st-key-why_step_1 img").first
    expect(picture).to_have_attribute("alt", f"Test digit {recording.find_recorded_disputed_images()[0]}")
    nine = app.page.get_by_role("radio", name="9", exact=True).bounding_box()
    assert nine
    assert nine["x"] + nine["width"] <= PHONE["width"], "whoever takes it for a 9 finds a 9"
    for step in (2, 3):
        app.page.keyboard.press("ArrowRight")
        app.settle()
        expect(app.page.locator(f".st-key-why_step_{step}")).to_be_visible()
    wide = app.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= PHONE["width"], "nothing has to be pushed aside to be read"
