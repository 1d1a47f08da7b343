"""The app opens, and keeps to this machine."""

from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from tests.browser.conftest import App


def test_opens_with_a_heading_and_no_exception(app: App) -> None:
    app.open()
    expect(app.page.get_by_test_id("stHeading").first).to_be_visible()


def test_loads_nothing_from_another_machine(app: App, page: Page) -> None:
    hosts: set[str | None] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).hostname))
    app.open()
    assert hosts - {None} == {"localhost"}
